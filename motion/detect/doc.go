// Package detect senses motion on one radio link with the LM1 detector of lm1.md 2. Human
// motion makes neighbouring subcarriers fluctuate together and smoothly in time; receiver
// noise does neither, and gain steps move all subcarriers at once. So the detector normalises
// frames by their own mean and uses the covariance between near subcarriers at non-zero lags.
//
// A Link takes CSI frames, a Coarse takes single values (RSSI, or an intensity computed by the
// device); both emit one Tick every TickInterval. Time comes only from the frames and from
// Advance. The package must not do I/O, read a clock, know devices or networks, or fuse links.
//
// Neither type starts goroutines. One goroutine at a time may use a value. After a link has
// warmed up, frames and ticks allocate nothing.
package detect
