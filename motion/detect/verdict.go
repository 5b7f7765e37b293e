package detect

import (
	"math"
	"slices"

	"sensegate/motion"
)

const (
	onWhole  = 0.30 // R
	onHalves = 0.15 // the lesser of Ra and Rb
	stayR    = 0.06
	onPowerR = 0.05 // R that low-rate motion needs besides power

	hold motion.Seconds = 2.0 // motion lasts this long after the last stay

	powerFloor   = -9.0
	defaultQuiet = -8.0 // baseline when nothing was gathered

	minCalibration = 8
	quietestShare  = 0.8
	minQuiet       = 4

	adaptation   = TickInterval / 40 // per tick, τ = 40 s
	historyTicks = 60
	escapeR      = 0.10
	escapeSpread = 0.6
	disturbedR   = 0.2

	intensitySpan = 5.0
)

// patience is how long motion of unknown coherence lasts before a baseline may
// escape to it.
const patience motion.Seconds = 120

// scale is where the thresholds of a kind of power lie, in its logarithm.
type scale struct {
	rise      float64 // on = baseline + rise …
	low, high float64 // … but within these
	fall      float64 // stay = on − fall
	quiet     float64 // baseline when nothing was gathered
}

// powerScale is the one of M (step 5b).
func powerScale() scale {
	return scale{rise: 1.6, low: -7.2, high: -5.0, fall: 0.7, quiet: defaultQuiet}
}

// judge turns features into verdicts (steps 5 and 6) and learns the baseline.
type judge struct {
	scale       scale
	sensitivity float64

	baseline   float64
	calibrated bool
	until      motion.Time // calibration lasts up to and including this time
	gathered   []float64   // powers of the calibration ticks
	coherence  float64     // sum of their R
	disturbed  bool        // somebody moved during calibration

	normal, strict state
	history        [historyTicks]sample
	kept, at       int
	spare          []float64
}

type state struct {
	motion bool
	since  motion.Time // motion began
	last   motion.Time // of the last stay
}

type sample struct{ power, r float64 }

func newJudge(s scale, sensitivity float64) judge {
	return judge{scale: s, sensitivity: sensitivity, baseline: s.quiet, spare: make([]float64, 0, historyTicks)}
}

// evidence is what one tick knows.
type evidence struct {
	power    float64 // lm
	steady   float64 // the power that both halves reach
	r        float64 // R; NaN = unknown
	halves   float64 // the lesser of Ra and Rb, R if one is unknown
	coherent bool    // HI mode
}

// weigh sets the verdicts, baseline, threshold and intensity of a valid tick.
func (j *judge) weigh(tick *Tick, e evidence) {
	if !j.calibrated {
		j.calibrate(tick.Time, e)
	}
	tick.Power, tick.Baseline = e.power, j.baseline
	tick.Normal, tick.On = j.decide(&j.normal, tick.Time, e, j.sensitivity)
	tick.Strict, _ = j.decide(&j.strict, tick.Time, e, j.sensitivity+strictOffset)
	if tick.Normal.Motion {
		tick.Intensity = math.Min(1, math.Max(0, (e.power-j.baseline)/intensitySpan))
	}
	j.learn(tick.Time, tick.Normal, e)
}

// calibrate gathers one tick, or ends the calibration.
func (j *judge) calibrate(now motion.Time, e evidence) {
	if now > j.until {
		j.calibrated = true
		j.disturbed = len(j.gathered) > 0 && j.coherence/float64(len(j.gathered)) > disturbedR
		j.gathered = nil
		return
	}
	at, _ := slices.BinarySearch(j.gathered, e.power)
	j.gathered = slices.Insert(j.gathered, at, e.power)
	if !math.IsNaN(e.r) {
		j.coherence += e.r
	}
	j.baseline = j.scale.quiet
	if n := len(j.gathered); n >= minCalibration {
		quietest := j.gathered[:max(minQuiet, int(float64(n)*quietestShare))]
		j.baseline = (quietest[(len(quietest)-1)/2] + quietest[len(quietest)/2]) / 2
	}
}

// decide moves one state on and returns the verdict and the threshold in force.
func (j *judge) decide(s *state, now motion.Time, e evidence, sensitivity float64) (Verdict, float64) {
	var v Verdict
	var threshold float64
	if e.coherent {
		k := coherenceScale(sensitivity)
		threshold = onWhole * k
		v.On = e.r > threshold || e.halves > onHalves*k
		v.Stay = e.r > stayR
	} else {
		threshold = min(max(j.baseline+j.scale.rise, j.scale.low), j.scale.high) + powerShift(sensitivity)
		v.On = e.steady > threshold && (math.IsNaN(e.r) || e.r > onPowerR)
		v.Stay = e.power > threshold-j.scale.fall
	}
	if s.motion {
		if v.Stay {
			s.last = now
		}
		s.motion = now.Since(s.last) < hold
	} else if v.On {
		s.motion, s.since, s.last = true, now, now
	}
	v.Motion = s.motion
	return v, threshold
}

// learn lets the baseline follow a quiet link, and escapes from a baseline that
// no longer fits: fifteen seconds of steady, incoherent power are the new quiet.
// Where coherence is unknown, steady power may as well be somebody moving, so
// that motion must have lasted for two minutes first (our choice: on real RSSI
// fifteen seconds lose a third of the motion).
func (j *judge) learn(now motion.Time, v Verdict, e evidence) {
	r := e.r
	if math.IsNaN(r) {
		r = 0
	}
	j.history[j.at] = sample{e.power, r}
	j.at = (j.at + 1) % historyTicks
	j.kept = min(j.kept+1, historyTicks)
	if !j.calibrated {
		return
	}
	if !v.Motion && !v.On {
		j.baseline += (e.power - j.baseline) * adaptation
		return
	}
	if j.kept < historyTicks || math.IsNaN(e.r) && now.Since(j.normal.since) < patience {
		return
	}
	var sumR, sum, squares float64
	for _, h := range j.history {
		d := h.power - e.power
		sumR, sum, squares = sumR+h.r, sum+d, squares+d*d
	}
	mean := sum / historyTicks
	if sumR/historyTicks < escapeR && math.Sqrt(math.Max(0, squares/historyTicks-mean*mean)) < escapeSpread {
		j.spare = j.spare[:0]
		for _, h := range j.history {
			j.spare = append(j.spare, h.power)
		}
		j.baseline = median(j.spare)
		j.kept = historyTicks / 2
	}
}

// interrupt is a tick without data: idle, and the history is void.
func (j *judge) interrupt() {
	j.normal.motion, j.strict.motion = false, false
	j.kept = 0
}

// logPower returns the logarithm of a power, at least powerFloor.
func logPower(m float64) float64 { return math.Max(powerFloor, math.Log(math.Max(m, 1e-9))) }
