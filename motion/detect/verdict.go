package detect

import (
	"math"

	"sensegate/motion"
)

const (
	onWhole  = 0.30 // R
	onHalves = 0.15 // the lesser of Ra and Rb
	stayR    = 0.06
	onPowerR = 0.05 // R that low-rate motion requires besides power

	hold motion.Seconds = 2.0 // how long motion lasts after the last stay

	powerFloor   = -9.0
	defaultQuiet = -8.0 // baseline if nothing was gathered

	adaptation   = TickInterval / 40 // per tick, τ = 40 s
	historyTicks = 60
	escapeR      = 0.10
	escapeSpread = 0.6

	promptNoise = 1.5 // times 1/√frames: R that receiver noise does not reach
	promptRise  = 0.7 // e-folds of power above the quiet link
	promptHalf  = 0.4 // R of half a low-rate window, about √2 times the requirement for a whole one at a high rate

	intensitySpan = 5.0
)

// patience is how long motion of unknown coherence must last before the baseline may escape.
const patience motion.Seconds = 120

// scale holds the thresholds for a kind of power, in its logarithm.
type scale struct {
	rise      float64 // on = baseline + rise …
	low, high float64 // … within these limits
	fall      float64 // stay = on − fall
	quiet     float64 // baseline if nothing was gathered

	settle     int     // ticks of steady power that are the new quiet, at most historyTicks …
	incoherent float64 // … if their mean R is below this
	prompt     bool    // power and coherence together start motion earlier; see judge.prompt
}

// lm1Scale is the scale of M in the recipe (step 5b).
func lm1Scale() scale {
	return scale{rise: 1.6, low: -7.2, high: -5.0, fall: 0.7, quiet: defaultQuiet, settle: historyTicks, incoherent: escapeR}
}

// powerScale is the scale of M in the product; docs/detection.md lists the effect of its
// differences from lm1Scale.
func powerScale() scale {
	s := lm1Scale()
	s.settle, s.incoherent, s.prompt = 48, 0.08, true
	return s
}

// judge turns features into verdicts (steps 5 and 6) and learns the baseline.
type judge struct {
	scale       scale
	sensitivity float64

	baseline   float64
	calibrated bool
	quieted    motion.Time // end of calibration, zero = unknown
	disturbed  bool        // motion during calibration
	until      motion.Time // last time of the calibration, inclusive
	gathered   []float64   // powers of the calibration ticks
	coherence  float64     // sum of their R
	earlier    *quiet      // what a running calibration will replace, nil = nothing

	normal, strict state
	history        [historyTicks]sample
	kept, at       int
	spare          []float64
}

type state struct {
	motion bool
	since  motion.Time // start of the motion
	last   motion.Time // of the last stay
}

type sample struct{ power, r float64 }

func newJudge(s scale, sensitivity float64) judge {
	return judge{scale: s, sensitivity: sensitivity, baseline: s.quiet, spare: make([]float64, 0, historyTicks)}
}

// evidence is the input of the verdicts of one tick.
type evidence struct {
	power    float64 // lm
	steady   float64 // the power that both halves reach
	r        float64 // R; NaN = unknown
	halves   float64 // the lesser of Ra and Rb, R if one is unknown
	coherent bool    // HI mode

	frames int     // in the window
	newest float64 // power of the newer half, NaN = unknown
	rb     float64 // R of the newer half, NaN = unknown
	faint  bool    // low amplitude: a rounded gain step looks coherent, so both halves must agree
}

// weigh sets the verdicts, baseline, threshold and intensity of a valid tick.
func (j *judge) weigh(tick *Tick, e evidence) {
	if !j.calibrated {
		j.calibrate(tick.Time, e)
	}
	tick.Power, tick.Baseline = e.power, j.baseline
	tick.Normal, tick.On = j.decide(&j.normal, tick.Time, e, j.sensitivity)
	tick.Reach = j.reach(e, tick.On, j.sensitivity)
	tick.Strict, _ = j.decide(&j.strict, tick.Time, e, j.sensitivity+strictOffset)
	if tick.Normal.Motion {
		tick.Intensity = math.Min(1, math.Max(0, (e.power-j.baseline)/intensitySpan))
	}
	j.learn(tick.Time, tick.Normal, e)
}

// decide updates one state and returns the verdict and the threshold in force.
func (j *judge) decide(s *state, now motion.Time, e evidence, sensitivity float64) (Verdict, float64) {
	var v Verdict
	var threshold float64
	if e.coherent {
		k := coherenceScale(sensitivity)
		threshold = onWhole * k
		v.On = e.r > threshold && (!e.faint || e.halves > stayR) || e.halves > onHalves*k
		v.Stay = e.r > stayR
	} else {
		threshold = min(max(j.baseline+j.scale.rise, j.scale.low), j.scale.high) + powerShift(sensitivity)
		v.On = e.steady > threshold && (math.IsNaN(e.r) || e.r > onPowerR)
		v.Stay = e.power > threshold-j.scale.fall
	}
	v.On = v.On || j.prompt(e, sensitivity)
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

// prompt reports motion that coherence and power show only together; most of the gain over the
// recipe comes from it. At a high rate it requires a coherence above what noise yields with so
// few frames (its spread goes with 1/√frames) and a power above the quiet. At a low rate it
// requires a clearly coherent newer half, as far above the quiet as the whole window would
// have to be.
func (j *judge) prompt(e evidence, sensitivity float64) bool {
	if !j.scale.prompt || !j.calibrated || e.faint {
		return false
	}
	k, shift := coherenceScale(sensitivity), powerShift(sensitivity)
	if e.coherent {
		return e.r > promptNoise*k/math.Sqrt(float64(e.frames)) && e.power > j.baseline+promptRise+shift
	}
	return e.rb > promptHalf*k && e.newest > j.baseline+j.scale.rise+shift
}

// reach returns the conditions of decide as one number: above 1 just where they say On. Each is
// the share of its threshold that is there, powers as such and not as logarithms; of conditions
// that must hold together the least counts, of those of which one suffices the greatest.
func (j *judge) reach(e evidence, threshold, sensitivity float64) float64 {
	k, shift := coherenceScale(sensitivity), powerShift(sensitivity)
	var best float64
	if e.coherent {
		best = e.r / threshold
		if e.faint {
			best = math.Min(best, e.halves/stayR)
		}
		best = math.Max(best, e.halves/(onHalves*k))
	} else {
		best = math.Exp(e.steady - threshold)
		if !math.IsNaN(e.r) {
			best = math.Min(best, e.r/onPowerR)
		}
	}
	if j.scale.prompt && j.calibrated && !e.faint {
		early := math.Min(e.rb/(promptHalf*k), math.Exp(e.newest-j.baseline-j.scale.rise-shift))
		if e.coherent {
			early = math.Min(e.r/(promptNoise*k/math.Sqrt(float64(e.frames))), math.Exp(e.power-j.baseline-promptRise-shift))
		}
		if early > best { // false for what is not known
			best = early
		}
	}
	return math.Max(best, 0)
}

// learn moves the baseline of a quiet link, and escapes from a baseline that no longer fits:
// scale.settle ticks of steady, incoherent power are the new quiet. If coherence is unknown,
// steady power may also be a person who moves, so motion must last for two minutes first (our
// choice: on real RSSI fifteen seconds lose a third of the motion).
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
	if j.kept < j.scale.settle || math.IsNaN(e.r) && now.Since(j.normal.since) < patience {
		return
	}
	j.escape(e.power)
}

// escape makes the last scale.settle ticks the new quiet if they were steady and incoherent.
// near is any power close to theirs.
func (j *judge) escape(near float64) {
	n := j.scale.settle
	var sumR, sum, squares float64
	j.spare = j.spare[:0]
	for age := range n {
		h := j.history[(j.at-1-age+2*historyTicks)%historyTicks]
		d := h.power - near
		sumR, sum, squares = sumR+h.r, sum+d, squares+d*d
		j.spare = append(j.spare, h.power)
	}
	count := float64(n)
	mean := sum / count
	if sumR/count < j.scale.incoherent && math.Sqrt(math.Max(0, squares/count-mean*mean)) < escapeSpread {
		j.baseline = median(j.spare)
		j.kept = n / 2
	}
}

// interrupt handles a tick without data: it ends motion and discards the history.
func (j *judge) interrupt() {
	j.normal.motion, j.strict.motion = false, false
	j.kept = 0
}

// logPower returns the logarithm of a power, at least powerFloor.
func logPower(m float64) float64 { return math.Max(powerFloor, math.Log(math.Max(m, 1e-9))) }
