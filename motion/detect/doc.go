// Package detect knows how one radio link senses motion: the LM1 detector of
// lm1.md 2. Human motion makes neighbouring subcarriers fluctuate
// together and smoothly in time; receiver noise does neither, and gain steps
// move all subcarriers at once. So frames are normalised by their own mean, and
// what counts is the covariance between near subcarriers at non-zero lags.
//
// A Link takes CSI frames, a Coarse takes plain figures (RSSI, or an intensity
// computed by the device); both emit one Tick every TickInterval. Time comes
// only from the frames and from Advance. The package must not do I/O, read a
// clock, know devices or networks, or fuse links; neither type starts
// goroutines, and each value belongs to one goroutine at a time. After a link
// has warmed up, frames and ticks allocate nothing.
package detect
