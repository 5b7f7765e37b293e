// Package compare holds synthetic channel state against that of real radios: it
// makes a synthetic twin of every recording, with the same moments, labels,
// layout and kind of receiver, runs the product's detector over both and says by
// how much the distributions of the detector's features overlap. It knows
// captures, the channel model and the observations of evaluate; it must not know
// the device protocol or how motion is detected.
//
// Run may be called concurrently.
package compare
