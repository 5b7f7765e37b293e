package evaluate

import (
	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/detect"
)

// trace is what a detector made of a recording under one condition.
type trace struct {
	start   motion.Seconds // time of the first frame
	moments []moment
	config  detect.Config
	ticks   []detect.Tick
}

// follow runs a detector over frames of a loaded recording, in the order of time.
func follow(r *capture.Recording, frames []capture.Frame, config detect.Config) (*trace, error) {
	t := &trace{start: frames[0].Time, config: config}
	t.config.Anchored = true
	rules := rules{guard: r.Header.QuietGuard}
	if end, some := r.CalibrationEnd(); some {
		t.config.Calibration = end
		rules.calibrated, rules.calibration = true, end
	}
	t.moments = rules.moments(frames)
	err := detectMotion(r, frames, t.config, func(tick detect.Tick) { t.ticks = append(t.ticks, tick) })
	return t, err
}

// score compares the decisions with the labels.
func (t *trace) score() score { return compare(t.moments, t.decisions()) }

func (t *trace) decisions() []decision {
	ticks := make([]decision, 0, len(t.ticks))
	for _, tick := range t.ticks {
		ticks = append(ticks, decisionOf(tick))
	}
	return ticks
}

// again scores what the detector would have decided with another sensitivity and other
// constants, of which the lags must be the same.
func (t *trace) again(sensitivity float64, constants detect.Constants) score {
	config := t.config
	config.Sensitivity, config.Constants = sensitivity, constants
	ticks := make([]decision, 0, len(t.ticks))
	detect.Again(config, motion.Time(t.start), t.ticks, func(tick detect.Tick) {
		ticks = append(ticks, decisionOf(tick))
	})
	return compare(t.moments, ticks)
}

func decisionOf(tick detect.Tick) decision {
	return decision{motion.Seconds(tick.Time), tick.Normal.Motion}
}
