// Package admin administers the appliance from its own box: the commands for
// API keys, devices, MQTT users, the outbox, backups and the database, the unix
// socket over which they reach the running appliance, and the reading of its
// configuration file. When nothing runs, a command opens the database itself;
// never behind a running appliance's back, which holds the file's lock.
//
// It holds no rule that the engine should hold.
package admin
