package detect

import "sensegate/motion"

// TickInterval is the time between two decisions of a link, in seconds
// (lm1.md 2 no. 3).
const TickInterval motion.Seconds = 0.25

// Tick is what a link says at one multiple of TickInterval.
type Tick struct {
	Time     motion.Time
	Valid    bool // enough frames and a fresh one; an invalid tick means "no data", never "no motion"
	Frames   int  // frames in the window
	Features Features
	Power    float64 // lm = max(−9, ln max(M, 1e-9)): coherent motion power; of a coarse link the logarithm of its figure; NaN if not Valid
	Baseline float64 // b, as this tick found it: the power of the quiet link, for the intensity scale and the low-rate decision
	On       float64 // the decision's normal on-threshold in force, on the scale of R (high rate) or of lm (low rate); 0 if not Valid

	Normal Verdict // at the link's sensitivity
	Strict Verdict // twenty points less sensitive, for a link that decides alone

	Intensity float64 // 0..1 while Normal.Motion, otherwise 0
	Quality   Quality
}

// Features are the statistics of one window (step 4). A value that cannot be
// computed is NaN.
type Features struct {
	R, M   float64 // whole window: coherence −0.2..1, coherent motion power
	Ra, Ma float64 // older half
	Rb, Mb float64 // newer half
}

// Verdict is one decision on the features of a tick.
type Verdict struct {
	On     bool // starts motion
	Stay   bool // keeps motion
	Motion bool // the state after this tick
}

// Quality says how far a link can be trusted.
type Quality struct {
	Rate      float64 // nominal frames per second; 0 = not known yet
	Valid     float64 // share of the last minute's ticks that were valid, 0..1
	RSSI      float64 // dBm, mean of the window; 0 = unknown
	Amplitude float64 // median amplitude of the valid bins, counts; 0 = unknown
	Weak      bool    // amplitude below 6 counts, or rate below 5 Hz: may not decide alone
	Coarse    bool    // RSSI-only or intensity-only: may not decide alone
}
