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

// Calibration is how far a link knows the power of its quiet surroundings.
type Calibration struct {
	Running   bool           // ticks are being gathered; they begin with the first frame
	Left      motion.Seconds // until the one that is running ends, on the clock of the frames
	Done      bool           // one has ended, and counts, even while another is running
	At        motion.Time    // it ended, on the clock of the frames; zero = unknown
	Disturbed bool           // somebody seems to have moved during it: worth doing again
	Baseline  float64        // logarithm of the quiet power in force
}

// quiet is what a calibration has found.
type quiet struct {
	baseline  float64
	at        motion.Time
	disturbed bool
}

// calibrate gathers one tick, or ends the calibration.
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
	j.baseline = j.scale.quiet
	if n := len(j.gathered); n >= minCalibration {
		quietest := j.gathered[:max(minQuiet, int(float64(n)*quietestShare))]
		j.baseline = (quietest[(len(quietest)-1)/2] + quietest[len(quietest)/2]) / 2
	}
}

// finish ends a calibration. One that heard too little keeps what an earlier one
// had found.
func (j *judge) finish(now motion.Time) {
	if j.earlier != nil && len(j.gathered) < minCalibration {
		j.take(*j.earlier)
		return
	}
	disturbed := len(j.gathered) > 0 && j.coherence/float64(len(j.gathered)) > disturbedR
	j.take(quiet{j.baseline, now, disturbed})
}

// take puts what a calibration has found in force.
func (j *judge) take(q quiet) {
	j.baseline, j.quieted, j.disturbed, j.calibrated = q.baseline, q.at, q.disturbed, true
	j.gathered, j.coherence, j.earlier = nil, 0, nil
}

// recalibrate begins a calibration that lasts until a time.
func (j *judge) recalibrate(until motion.Time) {
	if j.calibrated {
		j.earlier = &quiet{j.baseline, j.quieted, j.disturbed}
	}
	j.calibrated, j.until = false, until
	j.gathered, j.coherence = nil, 0
}

// cancel ends a calibration under way and reports whether there was one; started
// tells that a frame has come.
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

// calibration returns how far the judge is at the newest frame; started tells that one
// has come.
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

// Calibrate begins a calibration of the configured length anew. Until it ends,
// and for good if it hears too little or is cancelled, what an earlier one has
// found is kept; a restart meanwhile counts as cancelled. The room need not be
// empty.
func (l *Link) Calibrate() { l.judge.recalibrate(l.grid.newest.Add(l.config.Calibration)) }

// CancelCalibration ends a calibration under way and reports whether there was
// one: what an earlier one has found is in force again; the first is cut short.
func (l *Link) CancelCalibration() bool { return l.judge.cancel(l.grid.newest, l.grid.started) }

// Calibration returns how far the link knows its quiet.
func (l *Link) Calibration() Calibration { return l.judge.calibration(l.grid.newest, l.grid.started) }

// SetCalibration changes how long a calibration lasts, also that of one under way.
func (l *Link) SetCalibration(length motion.Seconds) {
	l.judge.until = l.judge.until.Add(length - l.config.Calibration)
	l.config.Calibration = length
}

// Calibrate begins a calibration anew; see Link.Calibrate.
func (c *Coarse) Calibrate() { c.judge.recalibrate(c.grid.newest.Add(c.config.Calibration)) }

// CancelCalibration ends a calibration under way; see Link.CancelCalibration.
func (c *Coarse) CancelCalibration() bool { return c.judge.cancel(c.grid.newest, c.grid.started) }

// Calibration returns how far the link knows its quiet.
func (c *Coarse) Calibration() Calibration {
	return c.judge.calibration(c.grid.newest, c.grid.started)
}

// SetCalibration changes how long a calibration lasts; see Link.SetCalibration.
func (c *Coarse) SetCalibration(length motion.Seconds) {
	c.judge.until = c.judge.until.Add(length - c.config.Calibration)
	c.config.Calibration = length
}
