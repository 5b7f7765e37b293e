package detect

import "sensegate/motion"

// Constants are the numbers of the detector that recordings chose; docs/detection.md says which
// ones, and what else was tried. Start from those of Defaults. The strengths R and the powers are
// those of Features.
type Constants struct {
	// Lag is the time up to which frames are compared with each other.
	Lag motion.Seconds

	Whole  float64 // R that starts motion at a high rate
	Halves float64 // R of both halves of a window that starts motion at a high rate
	Stay   float64 // R that keeps motion at a high rate

	// The fewer frames, the more coherent is noise: at a high rate no R below one of these times
	// 1/√frames starts motion.
	Noise float64 // of both halves, or of the window with power above the quiet
	Alone float64 // of the window, without either

	// Motion starts early when coherence and power show it only together; see judge.prompt.
	Rise float64 // e-folds of power above the quiet link, at a high rate
	Half float64 // R of half a window at a low rate

	// Steady power is the new quiet after Settle ticks, at most 60, with a mean R below Incoherent.
	Settle     int
	Incoherent float64
}

// recipe returns the constants of lm1.md 2, of which neither the early start nor the care for few
// frames is part.
func recipe() Constants {
	return Constants{Lag: 0.05, Whole: 0.30, Halves: 0.15, Stay: 0.06, Settle: historyTicks, Incoherent: 0.10}
}

// product returns the constants of the product.
func product() Constants {
	c := recipe()
	c.Lag, c.Stay = 0.06, 0.08
	c.Noise, c.Alone, c.Rise, c.Half = 1.5, 2.5, 0.7, 0.4
	c.Settle, c.Incoherent = 48, 0.08
	return c
}
