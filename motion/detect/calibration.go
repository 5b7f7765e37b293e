package detect

import (
	"math"
	"slices"

	"sensegate/motion"
)

const (
	minCalibration = 8
	quietestShare  = 0.8
	minQuiet       = 4
	disturbedR     = 0.2
)

// Calibration is the state of a link's calibration to the power of its quiet surroundings.
type Calibration struct {
	Running   bool           // gathering ticks, which begin with the first frame
	Left      motion.Seconds // until the running one ends, on the clock of the frames
	Done      bool           // a calibration has ended, even if another one is running
	At        motion.Time    // end of that calibration, on the clock of the frames; zero = unknown
	Disturbed bool           // there was probably motion during it: repeat it
	Baseline  float64        // logarithm of the quiet power in force
}

// quiet is the result of a calibration.
type quiet struct {
	baseline  float64
	at        motion.Time
	disturbed bool
}

// calibrate adds one tick to the calibration or ends it.
func (j *judge) calibrate(now motion.Time, e evidence) {
	if now > j.until {
		j.finish(now)
		return
	}
	at, _ := slices.BinarySearch(j.gathered, e.power)
	j.gathered = slices.Insert(j.gathered, at, e.power)
	if !math.IsNaN(e.r) {
		j.coherence += e.r
	}
	baseline := j.scale.quiet
	if n := len(j.gathered); n >= minCalibration {
		quietest := j.gathered[:max(minQuiet, int(float64(n)*quietestShare))]
		baseline = (quietest[(len(quietest)-1)/2] + quietest[len(quietest)/2]) / 2
	}
	j.assume(baseline)
}

// finish ends a calibration. If it gathered too few ticks it restores the earlier result.
func (j *judge) finish(now motion.Time) {
	if j.earlier != nil && len(j.gathered) < minCalibration {
		j.take(*j.earlier)
		return
	}
	disturbed := len(j.gathered) > 0 && j.coherence/float64(len(j.gathered)) > disturbedR
	j.take(quiet{j.baseline, now, disturbed})
}

// take puts the result of a calibration in force.
func (j *judge) take(q quiet) {
	j.assume(q.baseline)
	j.quieted, j.disturbed, j.calibrated = q.at, q.disturbed, true
	j.gathered, j.coherence, j.earlier = nil, 0, nil
}

// recalibrate starts a calibration that ends at until.
func (j *judge) recalibrate(until motion.Time) {
	if j.calibrated {
		j.earlier = &quiet{j.baseline, j.quieted, j.disturbed}
	}
	j.calibrated, j.until = false, until
	j.gathered, j.coherence = nil, 0
}

// cancel ends a running calibration and reports whether there was one; started: a frame has
// arrived.
func (j *judge) cancel(now motion.Time, started bool) bool {
	switch {
	case j.calibrated, j.earlier == nil && !started:
		return false
	case j.earlier != nil:
		j.take(*j.earlier)
	default:
		j.finish(now)
	}
	return true
}

// calibration returns the state of the calibration at the newest frame; started: a frame has
// arrived.
func (j *judge) calibration(newest motion.Time, started bool) Calibration {
	c := Calibration{Running: !j.calibrated && started, Done: j.calibrated, At: j.quieted, Disturbed: j.disturbed, Baseline: j.baseline}
	if c.Running {
		c.Left = max(0, j.until.Since(newest))
	}
	if j.earlier != nil {
		c.Done, c.At, c.Disturbed = true, j.earlier.at, j.earlier.disturbed
	}
	return c
}

// Calibrate starts a calibration of the configured length. The result of an earlier one is kept
// until the new one ends, and restored if that is cancelled or gathers too few ticks;
// a restart counts as cancelling it. The room need not be empty.
func (l *Link) Calibrate() { l.judge.recalibrate(l.grid.newest.Add(l.config.Calibration)) }

// CancelCalibration ends a running calibration and reports whether there was one. The earlier
// result takes effect again; a first calibration ends with what it gathered.
func (l *Link) CancelCalibration() bool { return l.judge.cancel(l.grid.newest, l.grid.started) }

// Calibration returns the state of the link's calibration.
func (l *Link) Calibration() Calibration { return l.judge.calibration(l.grid.newest, l.grid.started) }

// SetCalibration changes the length of calibrations, also of a running one.
func (l *Link) SetCalibration(length motion.Seconds) {
	l.judge.until = l.judge.until.Add(length - l.config.Calibration)
	l.config.Calibration = length
}

// Calibrate starts a calibration; see Link.Calibrate.
func (c *Coarse) Calibrate() { c.judge.recalibrate(c.grid.newest.Add(c.config.Calibration)) }

// CancelCalibration ends a running calibration; see Link.CancelCalibration.
func (c *Coarse) CancelCalibration() bool { return c.judge.cancel(c.grid.newest, c.grid.started) }

// Calibration returns the state of the link's calibration.
func (c *Coarse) Calibration() Calibration {
	return c.judge.calibration(c.grid.newest, c.grid.started)
}

// SetCalibration changes the length of calibrations; see Link.SetCalibration.
func (c *Coarse) SetCalibration(length motion.Seconds) {
	c.judge.until = c.judge.until.Add(length - c.config.Calibration)
	c.config.Calibration = length
}
