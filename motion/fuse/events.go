package fuse

import (
	"math"
	"slices"

	"sensegate/motion"
)

// Limits of the event machine.
const (
	// noDataAfter is how long a detection without data stays open.
	noDataAfter motion.Seconds = 600
	// clockStep is how much older a sample must be for the clock to count as set back; a
	// closer one was delivered twice.
	clockStep motion.Seconds = 60
	// maxWindow is the largest density window, in samples.
	maxWindow = 600
)

// Config configures when motion becomes an event. Values outside a range count as the nearest
// bound; the settings reject them earlier.
type Config struct {
	Enabled          bool
	Armed            bool           // stored in the detection; arming ends an unarmed one
	Paused           bool           // motion_paused: no samples, no events
	Pets             bool           // pet_mode: motion begins a detection only if it is wide
	DensityWindow    int            // samples, 1..600
	DensityThreshold float64        // share of the window in motion, above 0 and up to 1
	Cooldown         motion.Seconds // time without motion until it has stopped, 0 or more
}

// ConfigOf returns the configuration in a network's documents.
func ConfigOf(m motion.MotionEvents, paused bool) Config {
	return Config{
		Enabled: m.Enabled != 0, Armed: m.Armed != 0, Paused: paused, Pets: m.PetMode != 0,
		DensityWindow: m.DensityWindow, DensityThreshold: m.DensityThreshold,
		Cooldown: motion.Seconds(m.Cooldown),
	}
}

// Events is the event machine of one network (device-protocol.md 3). It takes samples of any
// interval and returns the transitions between "no motion" and "motion detected".
//
//   - Detected: the newest sample is in motion, firmly unless the settings ask for less than 2 s of motion, and widely in pet mode, at least half of the last
//     DensityWindow samples had data, and of those the share in motion reaches DensityThreshold.
//   - Stopped: Cooldown seconds of data without motion. A sample without data counts neither as
//     motion nor as quiet: it occupies its place in the window and stops the cooldown clock.
//   - A detection also ends after 10 minutes without data (NoData), when events are paused or
//     disabled, and, if it was made unarmed, when the network is armed: continuing motion then
//     raises a new, armed one.
type Events struct {
	config    Config
	window    Readings // the newest DensityWindow intensities, oldest first
	extents   extents
	open      *Detection
	last      motion.Time    // of the newest sample
	lastValid motion.Time    // of the newest sample with data
	moved     motion.Time    // of the newest sample in motion
	quiet     motion.Seconds // of data without motion since then
}

// NewEvents returns a machine without samples.
func NewEvents(c Config) *Events {
	e := &Events{}
	e.adopt(c)
	return e
}

// Configure changes the configuration at time t. It resizes the window and keeps the newest
// samples. It returns true with the transition if the change ends a detection.
func (e *Events) Configure(t motion.Time, c Config) (Transition, bool) {
	armed := c.Armed && !e.config.Armed
	e.adopt(c)
	if armed && e.open != nil && !e.open.Armed {
		return e.stop(t, Rearmed), true
	}
	return e.Advance(t)
}

// Add takes the next sample and returns true with a transition if there is one. A sample that is
// not newer than the last one has no effect, unless it is older by a minute or more: then the
// clock was set back.
func (e *Events) Add(s *Sample) (Transition, bool) {
	if !e.config.runs() {
		return e.Advance(s.Time)
	}
	interval := s.Interval
	if !(interval > 0) {
		interval = sampleInterval
	}
	if s.Time <= e.last && e.last.Since(s.Time) < clockStep {
		return Transition{}, false
	}
	ended, over := e.Advance(s.Time)
	e.reach(s.Time, interval)
	value := Unknown()
	if s.Valid {
		value = s.Intensity
	}
	e.push(value)
	e.extents.add(s)
	e.time(s.Time, value, interval)
	switch {
	case over:
		return ended, true
	case e.open == nil && value > 0 && (s.Firm || e.config.quick()) && (!e.config.Pets || e.extents.wide()) && e.dense():
		e.open = e.detection(s)
		return Transition{Kind: Detected, Time: s.Time, Detection: e.open.clone()}, true
	case e.open != nil && e.quiet > e.config.Cooldown-interval/2 && e.quiet > 0:
		return e.stop(s.Time, Quiet), true
	}
	return Transition{}, false
}

// Advance sets the samples' clock to t while no samples arrive. It ends a detection that has had
// no data for too long.
func (e *Events) Advance(t motion.Time) (Transition, bool) {
	switch {
	case e.open == nil:
		return Transition{}, false
	case e.config.Paused:
		return e.stop(t, Paused), true
	case !e.config.Enabled:
		return e.stop(t, Disabled), true
	case t.Since(e.lastValid) >= noDataAfter:
		return e.stop(e.lastValid.Add(noDataAfter), NoData), true
	}
	return Transition{}, false
}

// Restamp replaces each time t of the samples so far by anew(t), after their clock proved wrong.
// An open detection stays open.
func (e *Events) Restamp(anew func(motion.Time) motion.Time) {
	e.last, e.lastValid, e.moved = anew(e.last), anew(e.lastValid), anew(e.moved)
	if e.open != nil {
		e.open.Time = anew(e.open.Time)
	}
}

// Open returns the detection that has not stopped yet.
func (e *Events) Open() (Detection, bool) {
	if e.open == nil {
		return Detection{}, false
	}
	return e.open.clone(), true
}

// LastMotion returns the time of the newest sample in motion, zero if there is none.
func (e *Events) LastMotion() motion.Time { return e.moved }

// Density returns the share in motion of the window's samples with data, 0..1; absent when the
// window has no data.
func (e *Events) Density() Reading {
	moving, valid := e.counts()
	if valid == 0 {
		return Unknown()
	}
	return Reading(moving) / Reading(valid)
}

// dense reports whether enough of the window is in motion.
func (e *Events) dense() bool {
	moving, valid := e.counts()
	const rounding = 1e-9
	return 2*valid >= len(e.window) && float64(moving) >= e.config.DensityThreshold*float64(valid)-rounding
}

// counts returns the number of samples of the window in motion and with data.
func (e *Events) counts() (moving, valid int) {
	for _, v := range e.window {
		moving += count(v > 0)
		valid += count(v.Known())
	}
	return moving, valid
}

// adopt applies a configuration, with its values limited to their ranges.
func (e *Events) adopt(c Config) {
	c.DensityWindow = max(1, min(c.DensityWindow, maxWindow))
	c.DensityThreshold = unit(c.DensityThreshold)
	c.Cooldown = max(0, c.Cooldown)
	e.config = c
	e.resize(e.window)
}

// runs reports whether samples are evaluated.
func (c Config) runs() bool { return c.Enabled && !c.Paused }

// quick reports whether fewer samples in motion suffice than firm motion takes.
func (c Config) quick() bool { return float64(c.DensityWindow)*c.DensityThreshold < proofNeeded }

// resize makes the window DensityWindow long and keeps the newest samples.
func (e *Events) resize(samples Readings) {
	n := e.config.DensityWindow
	if !e.config.runs() {
		samples = nil
	}
	if missing := n - len(samples); missing > 0 {
		e.window = append(unknowns(missing), samples...)
		return
	}
	e.window = slices.Clone(samples[len(samples)-n:])
}

// push moves the window by one sample.
func (e *Events) push(v Reading) {
	copy(e.window, e.window[1:])
	e.window[len(e.window)-1] = v
}

// reach advances to a sample that ends at t: missing samples since the last one count as "no
// data". If the clock was set back, the whole window becomes "no data".
func (e *Events) reach(t motion.Time, interval motion.Seconds) {
	missing := math.Round(t.Since(e.last)/interval) - 1
	if t < e.last {
		missing = maxWindow
		e.lastValid, e.moved = min(e.lastValid, t), min(e.moved, t)
	}
	if !e.last.IsZero() {
		for n := min(missing, float64(len(e.window))); n > 0; n-- {
			e.push(Unknown())
			e.extents.add(nil)
		}
	}
	e.last = t
}

// time updates the times that decide when a detection stops.
func (e *Events) time(t motion.Time, value Reading, interval motion.Seconds) {
	switch {
	case !value.Known():
		return
	case value > 0:
		e.moved, e.quiet = t, 0
	default:
		e.quiet += interval
	}
	e.lastValid = t
}

// stop ends the open detection.
func (e *Events) stop(t motion.Time, why Reason) Transition {
	d := *e.open
	e.open = nil
	if why != Quiet {
		e.window = unknowns(len(e.window))
	}
	return Transition{Kind: Stopped, Time: max(t, d.Time), Reason: why, Detection: d}
}
