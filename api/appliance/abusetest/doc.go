// Package abusetest is tests alone: it does to the real binary, at its real doors,
// what strangers, broken clients and hurried administrators do, while paired devices
// go on working.
//
//   - flood: connections that say nothing or too little, some that are opened without
//     end, and logins and requests that are refused. What an idle connection of a
//     stranger costs is measured.
//   - silence: more connections that say nothing than there is room for, at each of the
//     four listeners.
//   - large bodies of mistakes, posted by callers without credentials.
//   - guesses of passwords from many addresses, each of which costs memory.
//   - readers: MQTT and websocket clients that subscribe and then do not read.
//   - stop: SIGTERM in the midst of all of that.
//   - secrets: passwords, tokens, keys, links, addresses, planted wherever a caller
//     can put them, and looked for in the log, in answers and in the metrics.
//
// The devices publish events with QoS 1 all the while. Every one has to be
// acknowledged, and each acknowledged one has to be in the database once; that is
// wanted of every run. Times and sizes (how long an acknowledgement takes, how soon a
// reader is cut, what a connection costs) are printed as a table, and are wanted only
// of a run with -strict, on a machine that has nothing else to do:
//
//	go test ./api/appliance/abusetest -v -timeout 1h -strict -idle 2000 -rate 200 -for 60s -stops 100
//
// Without flags it takes some 30 seconds. All connections are of loopback, which the
// product exempts from its limits of connections per address, of MQTT and of HTTP: so
// the whole flood gets in, up to the limits in total, 4,096 at each door. That
// is more than strangers on a network can do, who get 64 and 128 from one address.
// Strangers come from 127.0.0.2 and up, so that limits of requests per address count.
//
// The package knows the interfaces from outside and the store for reading.
package abusetest
