package detect

import (
	"math"

	"sensegate/motion"
)

// Source is the kind of values that a Coarse link takes.
type Source uint8

// The sources. They differ in their thresholds, not in their logic.
const (
	// Signal is the RSSI of frames in dBm, at least 4 per second: the detector uses its
	// variance over 3 s (lm1.md 2 no. 9).
	Signal Source = iota
	// Reported is an intensity that the device computes, at least one per 1.5 s: the detector
	// uses the newest value (lm1.md 2 no. 10).
	Reported
)

// scale returns the thresholds for a source. The recipe says "same logic", but the values have
// another scale than M, so the limits are our choice: for Signal from the RSSI of real links
// (quiet −3…−1, motion −1…2); for Reported such that the device's zero is quiet and no
// background hides a value above one half.
func (s Source) scale() scale {
	if s == Reported {
		return scale{rise: 1.6, low: -7.2, high: -0.7, fall: 0.7, quiet: defaultQuiet, Constants: recipe()}
	}
	return scale{rise: 1.6, low: -1.0, high: 2.5, fall: 0.7, quiet: -3, Constants: recipe()}
}

const (
	signalWindow   motion.Seconds = 3.0
	signalFresh    motion.Seconds = 1.0
	reportedFresh  motion.Seconds = 1.5
	signalFloor                   = 0.05 // dB², added to the variance
	maxCoarseInput                = 1024 // values held
)

// Coarse is the detector of a link that has no channel state. Its ticks have no
// features; Power is on the scale of its source.
type Coarse struct {
	config Config
	source Source
	grid   grid
	judge  judge
	uptime uptime
	times  []motion.Time // of the window, oldest first
	values []float64
}

// NewCoarse returns a coarse link without data.
func NewCoarse(config Config, source Source) *Coarse {
	return &Coarse{
		config: config, source: source,
		grid:  grid{anchored: config.Anchored},
		judge: newJudge(source.scale(), config.Sensitivity),
	}
}

// Push takes a value at time t, after it has emitted the ticks before t. It ignores values
// that are not numbers. It treats times as Link.Push does.
func (c *Coarse) Push(t motion.Time, value float64, emit func(Tick)) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	switch c.grid.arrive(t) {
	case tooLate:
		return
	case restarts:
		left := c.config.Calibration
		if c.grid.started {
			left = c.judge.until.Since(c.grid.newest)
			c.silence()
		}
		c.judge.until = t.Add(left)
		c.grid.start(t)
	case inOrder:
		c.tickUntil(t, false, emit)
		c.grid.newest = t
	}
	if len(c.times) == maxCoarseInput {
		c.drop(1)
	}
	c.times = append(c.times, t)
	c.values = append(c.values, value)
}

// Advance emits the ticks up to and including t; see Link.Advance.
func (c *Coarse) Advance(t motion.Time, emit func(Tick)) {
	if c.grid.started && t <= endOfTime {
		c.tickUntil(t, true, emit)
	}
}

// SetSensitivity changes s, 0..100, starting with the next tick.
func (c *Coarse) SetSensitivity(s float64) {
	c.config.Sensitivity = s
	c.judge.tune(s)
}

// Snapshot returns what the link has learned.
func (c *Coarse) Snapshot() Learned {
	var s Learned
	c.judge.snapshot(&s)
	return s
}

// Restore applies what a link of the same source had learned to a link without data. On an
// error it changes nothing.
func (c *Coarse) Restore(s Learned) error {
	if err := s.validate(); err != nil {
		return err
	}
	c.judge.restore(&s)
	return nil
}

func (c *Coarse) silence() {
	c.drop(len(c.times))
	c.judge.interrupt()
}

// drop removes the oldest n values.
func (c *Coarse) drop(n int) {
	c.times = c.times[:copy(c.times, c.times[n:])]
	c.values = c.values[:copy(c.values, c.values[n:])]
}

func (c *Coarse) tickUntil(t motion.Time, inclusive bool, emit func(Tick)) {
	for {
		at, due, leapt := c.grid.boundary(t, inclusive)
		if !due {
			return
		}
		if leapt {
			c.silence()
		}
		if c.grid.ticking() {
			emit(c.tick(at))
		}
	}
}

func (c *Coarse) tick(at motion.Time) Tick {
	old := 0
	for old < len(c.times) && c.times[old] <= at.Add(-signalWindow) {
		old++
	}
	c.drop(old)
	n := len(c.times)
	tick := Tick{Time: at, Frames: n, Features: unknown()}
	age := at.Since(c.grid.newest)
	var power float64
	if c.source == Signal {
		tick.Valid = n >= minWindow && age < signalFresh
	} else {
		tick.Valid = n > 0 && age < reportedFresh
	}
	q := &tick.Quality
	if n > 1 && c.times[n-1] > c.times[0] {
		q.Rate = float64(n-1) / c.times[n-1].Since(c.times[0])
	}
	if tick.Valid && c.source == Signal {
		var variance float64
		q.RSSI, variance = spread(c.values)
		power = math.Log(variance + signalFloor)
	} else if tick.Valid {
		power = logPower(c.values[n-1])
	}
	c.uptime.add(tick.Valid)
	if tick.Valid {
		c.judge.weigh(&tick, evidence{power: power, steady: power, r: math.NaN(), rb: math.NaN()})
	} else {
		c.judge.interrupt()
		tick.Power, tick.Baseline = math.NaN(), c.judge.baseline
	}
	q.Valid, q.Coarse, q.Weak = c.uptime.share(), true, q.Rate < MinRate
	return tick
}

// spread returns mean and variance.
func spread(v []float64) (mean, variance float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / float64(len(v))
}
