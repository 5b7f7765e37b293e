// Package sensor holds the third-party side of the product: battery sensors (doors,
// vibration, motion, temperature and humidity) behind hubs of somebody else's make,
// and the rules of what is kept of them (interfaces.md 4.2 no. 8,
// payloads.md 5.7).
//
// A thing is a hub or a sensor. Things belong to an account, which one household has
// at one [Provider]; the household's side of that is an [Integration]. What a thing
// tells is a [Reading]; what of it is kept is a [Detection].
//
// It decides from data alone. It must not do I/O, read the clock, or know HTTP, MQTT
// or any provider's own words.
package sensor
