// Package modeltest holds what the product answers about motion against a reference that is
// written straight from the rules: random days of guardians, live, afterwards and both, with
// gaps and clocks that are wrong, go through the device protocol's decoder and the engine,
// and every history, event, alert and live frame is compared (payloads.md 4.6 to 4.12).
//
// It consists of tests alone. It must not share code with what it tests.
package modeltest
