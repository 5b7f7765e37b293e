package detect

import (
	"math"

	"sensegate/motion"
)

// Config is how a link is to be run. Begin with Defaults.
type Config struct {
	// Sensitivity is s of lm1.md 2 no. 7: 0 (deaf) to 100 (jumpy).
	Sensitivity float64
	// Calibration is how long after its first frame the link gathers the power
	// of its surroundings, in seconds. The room need not be empty. It is skipped
	// after a Restore of a link that had finished it.
	Calibration motion.Seconds
	// Anchored starts the ticks one second after the first frame. Otherwise
	// they fall on the multiples of TickInterval, the same for all links.
	Anchored bool
	// LM1 runs the detector of lm1.md 2 to the letter: the
	// reference that the golden vectors hold, to measure the product's against.
	LM1 bool
}

// scale returns where the thresholds on M lie.
func (c *Config) scale() scale {
	if c.LM1 {
		return lm1Scale()
	}
	return powerScale()
}

// DefaultSensitivity is the point of the scale at which the published figures
// were measured.
const DefaultSensitivity = 50

// Defaults returns what the product uses: sensitivity 50, 30 s of calibration,
// shared tick times.
func Defaults() Config {
	return Config{Sensitivity: DefaultSensitivity, Calibration: 30}
}

// SensitivityOf returns the point of the 0..100 scale that a settings level
// stands for: 1 High, 2 Medium, 3 Low, 4 Very Low (lm1.md 2 no. 7).
// A level below 1 is High, one above 4 Very Low.
func SensitivityOf(level int) float64 {
	switch {
	case level <= 1:
		return DefaultSensitivity
	case level == 2:
		return 30
	case level == 3:
		return 15
	default:
		return 0
	}
}

// strictOffset is how much less sensitive the strict verdict is
// (lm1.md 4 no. 2).
const strictOffset = -20

// coherenceScale multiplies the high-rate thresholds at sensitivity s.
func coherenceScale(s float64) float64 { return math.Exp2((50 - s) / 50) }

// powerShift is added to the low-rate threshold at sensitivity s.
func powerShift(s float64) float64 { return (50 - s) / 50 * 0.8 }
