package detect

import (
	"math"

	"sensegate/motion"
)

// Config configures a link. Start from Defaults.
type Config struct {
	// Sensitivity is s of lm1.md 2 no. 7: 0 (deaf) to 100 (jumpy).
	Sensitivity float64
	// Calibration is how long the link gathers the power of its surroundings after its first
	// frame. The room need not be empty. A link restored after its calibration skips it.
	Calibration motion.Seconds
	// Anchored starts the ticks one second after the first frame. Otherwise they fall on
	// multiples of TickInterval, the same for all links.
	Anchored bool
	// LM1 selects the unmodified detector of lm1.md 2, which the golden vectors hold, as the
	// reference for measurements.
	LM1 bool
	// Constants are the numbers of the detector that is not LM1.
	Constants Constants
}

// scale returns the thresholds for M.
func (c *Config) scale() scale {
	if c.LM1 {
		return lm1Scale()
	}
	return powerScale(c.Constants)
}

// DefaultSensitivity is the sensitivity of the published figures.
const DefaultSensitivity = 50

// Defaults returns the product's configuration: sensitivity 50, 30 s of calibration, shared
// tick times.
func Defaults() Config {
	return Config{Sensitivity: DefaultSensitivity, Calibration: 30, Constants: product()}
}

// levels is the number of settings levels.
const levels = 4

// SensitivityOf returns the sensitivity, 0..100, of a settings level: 1 High, 2 Medium, 3 Low,
// 4 Very Low (lm1.md 2 no. 7). A level below 1 counts as 1, one above 4 as 4.
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

// strictOffset is the sensitivity of the strict verdict minus the normal one (lm1.md 4 no. 2).
const strictOffset = -20

// coherenceScale returns the factor of the high-rate thresholds at sensitivity s.
func coherenceScale(s float64) float64 { return math.Exp2((50 - s) / 50) }

// powerShift returns the addend of the low-rate threshold at sensitivity s.
func powerShift(s float64) float64 { return (50 - s) / 50 * 0.8 }
