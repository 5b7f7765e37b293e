package detect

import (
	"math"

	"sensegate/motion"
)

const (
	onPowerR = 0.05 // R that low-rate motion requires besides power

	hold motion.Seconds = 2.0 // how long motion lasts after the last stay

	powerFloor   = -9.0
	defaultQuiet = -8.0 // baseline if nothing was gathered

	adaptation   = TickInterval / 40 // per tick, τ = 40 s
	historyTicks = 60
	escapeSpread = 0.6

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

	prompt bool // power and coherence together start motion earlier; see judge.prompt
	Constants
}

// lm1Scale is the scale of M in the recipe (step 5b).
func lm1Scale() scale {
	return scale{rise: 1.6, low: -7.2, high: -5.0, fall: 0.7, quiet: defaultQuiet, Constants: recipe()}
}

// powerScale is the scale of M in the product; docs/detection.md lists the effect of its
// differences from lm1Scale.
func powerScale(c Constants) scale {
	s := lm1Scale()
	s.prompt, s.Constants = true, c
	return s
}

// judge turns features into verdicts (steps 5 and 6) and learns the baseline.
type judge struct {
	scale      scale
	course               // at the link's sensitivity
	levels     [4]course // at that of each settings level; see Levels
	calibrated bool
	quieted    motion.Time // end of calibration, zero = unknown
	disturbed  bool        // motion during calibration
	until      motion.Time // last time of the calibration, inclusive
	gathered   []float64   // powers of the calibration ticks
	coherence  float64     // sum of their R
	earlier    *quiet      // what a running calibration will replace, nil = nothing

	history [historyTicks]sample
	at      int
	settled settled
	spare   []float64
}

// course is what a link decides at one sensitivity, and the quiet that it learns by that.
type course struct {
	baseline       float64
	normal, strict state
	kept           int // ticks of the judge's history that count
}

// newCourse returns the course at sensitivity s.
func newCourse(baseline, s float64) course {
	return course{baseline: baseline, normal: state{limits: limitsAt(s)}, strict: state{limits: limitsAt(s + strictOffset)}}
}

// tune changes the sensitivity to s.
func (c *course) tune(s float64) {
	c.normal.limits, c.strict.limits = limitsAt(s), limitsAt(s+strictOffset)
}

// interrupt ends motion and discards the history.
func (c *course) interrupt() { c.normal.motion, c.strict.motion, c.kept = false, false, 0 }

// limits are what a sensitivity does to the thresholds.
type limits struct {
	k     float64 // factor of those on coherence
	shift float64 // addend of those on power
}

func limitsAt(s float64) limits { return limits{coherenceScale(s), powerShift(s)} }

type state struct {
	limits
	motion bool
	since  motion.Time // start of the motion
	last   motion.Time // of the last stay
}

type sample struct{ power, r float64 }

func newJudge(s scale, sensitivity float64) judge {
	j := judge{scale: s, course: newCourse(s.quiet, sensitivity), spare: make([]float64, 0, historyTicks)}
	for i := range j.levels {
		j.levels[i] = newCourse(s.quiet, SensitivityOf(i+1))
	}
	return j
}

// assume sets the baseline of all courses.
func (j *judge) assume(baseline float64) {
	j.baseline = baseline
	for i := range j.levels {
		j.levels[i].baseline = baseline
	}
}

// evidence is the input of the verdicts of one tick.
type evidence struct {
	power    float64 // lm
	steady   float64 // the power that both halves reach
	r        float64 // R; NaN = unknown
	halves   float64 // the lesser of Ra and Rb, R if one is unknown
	coherent bool    // HI mode

	chance float64 // 1/√frames of the window
	newest float64 // power of the newer half, NaN = unknown
	rb     float64 // R of the newer half, NaN = unknown
	faint  bool    // low amplitude: a rounded gain step looks coherent, so both halves must agree
}

// weigh sets the verdicts, baseline, threshold and intensity of a valid tick.
func (j *judge) weigh(tick *Tick, e evidence) {
	j.weighOwn(tick, &e)
	for i := range j.levels {
		c := &j.levels[i]
		normal, _ := j.decide(&c.normal, tick.Time, &e, c.baseline)
		strict, _ := j.decide(&c.strict, tick.Time, &e, c.baseline)
		tick.Levels.set(i+1, normal, strict)
		j.learn(c, tick.Time, normal, &e)
	}
}

// weighOwn is weigh at the link's own sensitivity alone.
func (j *judge) weighOwn(tick *Tick, e *evidence) {
	if !j.calibrated {
		j.calibrate(tick.Time, *e)
	}
	tick.Power, tick.Baseline = e.power, j.baseline
	tick.Normal, tick.On = j.decide(&j.normal, tick.Time, e, j.baseline)
	tick.Coherent, tick.Keep = e.coherent, j.keep(e, tick.On)
	tick.Reach = j.reach(e, tick.On)
	tick.Strict, _ = j.decide(&j.strict, tick.Time, e, j.baseline)
	if tick.Normal.Motion {
		tick.Intensity = math.Min(1, math.Max(0, (e.power-j.baseline)/intensitySpan))
	}
	j.remember(e)
	j.learn(&j.course, tick.Time, tick.Normal, e)
}

// whole returns the R that starts motion at a high rate without more power, at a sensitivity whose
// factor is k. What noise yields with so few frames is the same at each.
func (c *Constants) whole(e *evidence, k float64) float64 { return max(c.Whole*k, c.Alone*e.chance) }

// halves is whole for the R of both halves.
func (c *Constants) halves(e *evidence, k float64) float64 { return max(c.Halves*k, c.Noise*e.chance) }

// decide updates one state and returns the verdict and the threshold in force.
func (j *judge) decide(s *state, now motion.Time, e *evidence, baseline float64) (Verdict, float64) {
	var v Verdict
	var threshold float64
	if e.coherent {
		threshold = j.scale.whole(e, s.k)
		v.On = e.r > threshold && (!e.faint || e.halves > j.scale.Stay) || e.halves > j.scale.halves(e, s.k)
		v.Stay = e.r > j.keep(e, threshold)
	} else {
		threshold = min(max(baseline+j.scale.rise, j.scale.low), j.scale.high) + s.shift
		v.On = e.steady > threshold && (math.IsNaN(e.r) || e.r > onPowerR)
		v.Stay = e.power > j.keep(e, threshold)
	}
	v.On = v.On || j.prompt(e, s.limits, baseline)
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

// keep returns the R or the power that keeps motion which started at threshold.
func (j *judge) keep(e *evidence, threshold float64) float64 {
	if e.coherent {
		return j.scale.Stay
	}
	return threshold - j.scale.fall
}

// prompt reports motion that coherence and power show only together; most of the gain over the
// recipe comes from it. At a high rate it requires a coherence above what noise yields with so
// few frames (its spread goes with 1/√frames) and a power above the quiet. At a low rate it
// requires a clearly coherent newer half, as far above the quiet as the whole window would
// have to be.
func (j *judge) prompt(e *evidence, l limits, baseline float64) bool {
	if !j.scale.prompt || !j.calibrated || e.faint {
		return false
	}
	if e.coherent {
		return e.power > baseline+j.scale.Rise+l.shift && e.r > j.scale.Noise*l.k*e.chance
	}
	return e.rb > j.scale.Half*l.k && e.newest > baseline+j.scale.rise+l.shift
}

// reach returns the conditions of decide as one number: above 1 just where they say On. Each is
// the share of its threshold that is there, powers as such and not as logarithms; of conditions
// that must hold together the least counts, of those of which one suffices the greatest.
func (j *judge) reach(e *evidence, threshold float64) float64 {
	k, shift := j.normal.k, j.normal.shift
	var best float64
	if e.coherent {
		best = e.r / threshold
		if e.faint {
			best = math.Min(best, e.halves/j.scale.Stay)
		}
		best = math.Max(best, e.halves/j.scale.halves(e, k))
	} else {
		best = math.Exp(e.steady - threshold)
		if !math.IsNaN(e.r) {
			best = math.Min(best, e.r/onPowerR)
		}
	}
	if j.scale.prompt && j.calibrated && !e.faint {
		early := math.Min(e.rb/(j.scale.Half*k), math.Exp(e.newest-j.baseline-j.scale.rise-shift))
		if e.coherent {
			early = math.Min(e.r/(j.scale.Noise*k*e.chance), math.Exp(e.power-j.baseline-j.scale.Rise-shift))
		}
		if early > best { // false for what is not known
			best = early
		}
	}
	return math.Max(best, 0)
}

// remember adds a tick to the history.
func (j *judge) remember(e *evidence) {
	r := e.r
	if math.IsNaN(r) {
		r = 0
	}
	j.history[j.at] = sample{e.power, r}
	j.at = (j.at + 1) % historyTicks
	j.settled = settled{}
}

// learn moves the baseline of a quiet link, and escapes from a baseline that no longer fits:
// scale.Settle ticks of steady, incoherent power are the new quiet. If coherence is unknown,
// steady power may also be a person who moves, so motion must last for two minutes first (our
// choice: on real RSSI fifteen seconds lose a third of the motion).
func (j *judge) learn(c *course, now motion.Time, v Verdict, e *evidence) {
	c.kept = min(c.kept+1, historyTicks)
	if !j.calibrated {
		return
	}
	if !v.Motion && !v.On {
		c.baseline += (e.power - c.baseline) * adaptation
		return
	}
	if c.kept < j.scale.Settle || math.IsNaN(e.r) && now.Since(c.normal.since) < patience {
		return
	}
	if !j.settled.known {
		j.settle(e.power)
	}
	if j.settled.steady {
		c.baseline, c.kept = j.settled.power, j.scale.Settle/2
	}
}

// settled says of the newest tick whether the last scale.Settle ticks were steady and
// incoherent, and at which power. It is the same in every course, and seldom asked for.
type settled struct {
	known, steady bool
	power         float64
}

// settle works out settled. near is any power close to theirs.
func (j *judge) settle(near float64) {
	n := j.scale.Settle
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
	j.settled = settled{known: true}
	if sumR/count < j.scale.Incoherent && math.Sqrt(math.Max(0, squares/count-mean*mean)) < escapeSpread {
		j.settled.steady, j.settled.power = true, median(j.spare)
	}
}

// interrupt handles a tick without data: it ends motion and discards the history.
func (j *judge) interrupt() {
	j.course.interrupt()
	for i := range j.levels {
		j.levels[i].interrupt()
	}
}

// logPower returns the logarithm of a power, at least powerFloor.
func logPower(m float64) float64 { return math.Max(powerFloor, math.Log(math.Max(m, 1e-9))) }
