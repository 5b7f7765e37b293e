package detect

import "sensegate/motion"

// TickInterval is the time between two decisions of a link (lm1.md 2 no. 3).
const TickInterval motion.Seconds = 0.25

// Tick is the decision of a link at one multiple of TickInterval.
type Tick struct {
	Time     motion.Time
	Valid    bool // enough frames, and a recent one; an invalid tick means "no data", never "no motion"
	Frames   int  // frames in the window
	Features Features
	Power    float64 // lm = max(−9, ln max(M, 1e-9)): coherent motion power; of a coarse link the logarithm of its value; NaN if not Valid
	Baseline float64 // b before this tick: the power of the quiet link, for the intensity scale and the low-rate decision
	Coherent bool    // R decides, as at a high rate, and not the power
	On       float64 // normal on-threshold in force, on the scale of R if Coherent, else of lm; 0 if not Valid
	Keep     float64 // what keeps motion, on the same scale; 0 if not Valid
	Reach    float64 // what there is of the on-threshold in force, all conditions together: above 1 a quiet link starts motion; 0 if not Valid
	Jump     bool    // in motion, though all that changes in the window is a single jump: the radio's path may have changed

	Normal Verdict // at the link's sensitivity
	Strict Verdict // twenty points less sensitive, for a link that decides alone
	Levels Levels  // what the verdicts would be at other sensitivities

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

// Quality describes how reliable a link is.
type Quality struct {
	Rate      float64 // nominal frames per second; 0 = not known yet
	Valid     float64 // share of the last minute's ticks that were valid, 0..1
	RSSI      float64 // dBm, mean of the window; 0 = unknown
	Amplitude float64 // median amplitude of the valid bins, counts; 0 = unknown
	Weak      bool    // amplitude below 6 counts, or rate below 5 Hz: may not decide alone
	Coarse    bool    // RSSI-only or intensity-only: may not decide alone
}
