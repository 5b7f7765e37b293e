// Package sensor defines third-party sensors: battery sensors (doors, vibration, motion,
// temperature and humidity) behind hubs of other makers, and the rules of which readings are
// stored (interfaces.md 4.2 no. 8, payloads.md 5.7).
//
// A thing is a hub or a sensor. Things belong to an account of one household at one
// [Provider]; the household's side of the account is an [Integration]. A thing reports a
// [Reading]; a stored reading is a [Detection].
//
// The package decides from data alone. It must not do I/O, read the clock, or know HTTP, MQTT
// or any provider's protocol.
package sensor
