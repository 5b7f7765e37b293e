// Package integration holds the rules of third-party sensors that take several steps:
// accounts at providers, pairing, following what things tell, what is kept of it, and
// the events of interfaces.md 6 no. 5.
//
// It knows the store, the engine and providers by what package sensor says of them. It
// must not know how a provider speaks, HTTP, or who may call: callers have made sure
// that the home is theirs.
//
// Concurrency. All exported methods may be called concurrently, Run once. No
// transaction and no lock is held while a provider is called; one batch of readings is
// taken at a time. What things tell is held in memory, and stored when it is a
// detection, else every five minutes: readings each second do not wear the flash.
package integration
