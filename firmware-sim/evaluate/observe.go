package evaluate

import (
	"math"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/detect"
)

// decision is the detector's result at one tick.
type decision struct {
	time   motion.Seconds
	motion bool
}

// Observation is a tick of the detector and the label of its moment.
type Observation struct {
	Tick  detect.Tick
	Label capture.Label
}

// Observe runs the product's detector with its defaults over a loaded recording and
// returns its valid ticks. Quiet soon after motion is labelled Ignored, as in Run;
// calibration keeps its labels.
func Observe(r *capture.Recording) ([]Observation, error) {
	return observe(r, r.Frames, detect.Defaults())
}

// ObserveThinned is Observe of a recording thinned to so many frames/s, which it must reach, by a
// detector that compares frames with each other up to lag.
func ObserveThinned(r *capture.Recording, rate float64, lag motion.Seconds) ([]Observation, error) {
	config := detect.Defaults()
	config.Constants.Lag = lag
	return observe(r, condition{rate: rate}.apply(r, 0), config)
}

// observe runs a detector over frames of a recording.
func observe(r *capture.Recording, frames []capture.Frame, config detect.Config) ([]Observation, error) {
	config.Anchored = true
	rules := rules{guard: r.Header.QuietGuard}
	if end, some := r.CalibrationEnd(); some {
		config.Calibration = end
	}
	moments := rules.moments(frames)
	start := frames[0].Time + firstScored
	var all []Observation
	err := detectMotion(r, frames, config, func(t detect.Tick) {
		k := int(math.Round((motion.Seconds(t.Time) - start) / detect.TickInterval))
		if t.Valid && k >= 0 && k < len(moments) {
			all = append(all, Observation{t, moments[k].label})
		}
	})
	return all, err
}

// detectMotion runs the detector over frames and passes its ticks to emit.
func detectMotion(r *capture.Recording, frames []capture.Frame, config detect.Config, emit func(detect.Tick)) error {
	flags, err := r.Header.Flags()
	if err != nil {
		return err
	}
	link := detect.NewLink(config)
	var amp, picked []float32
	var ends []int
	length := -1
	for _, f := range frames {
		amp = csi.Amplitudes(amp, f.Data, flags)
		if len(amp) != length {
			length = len(amp)
			ends = r.Header.Segments.Ends(length)
		}
		picked = r.Header.Segments.Pick(picked, amp)
		link.Push(motion.Time(f.Time), picked, ends, f.RSSI, emit)
	}
	link.Advance(motion.Time(frames[len(frames)-1].Time+1e-9), emit)
	return nil
}
