// Package box runs the real binary for tests that look at it from outside, and has
// devices at its MQTT door. It builds the product, starts it on a state directory,
// follows its log and ends it in order or at once.
//
// The package knows the command line, the environment and the device protocol. It
// must not know what a test is about, nor anything of the product that is not seen
// from outside. Tests alone import it.
package box
