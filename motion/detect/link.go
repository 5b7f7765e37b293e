package detect

import (
	"math"
	"slices"

	"sensegate/motion"
)

// Link is the LM1 detector of one link with channel state.
type Link struct {
	config    Config
	grid      grid
	reference             // of the format in force
	former    []reference // of other formats, the last used first
	number    uint32      // of the frames that come; see SetFormat
	rivalry   rivalry
	learn     learner
	window    *window // nil while layout is
	uptime    uptime
	weakness  weakness
}

// NewLink returns a link without data.
func NewLink(config Config) *Link {
	return &Link{
		config:    config,
		grid:      grid{anchored: config.Anchored},
		reference: newReference(&config),
	}
}

// Push takes a frame at time t: the amplitude of each bin in counts, the ends of the segments
// (training fields or antennas; empty = one segment) and the RSSI in dBm (0 = unknown). It
// first emits the ticks before t. It does not keep the slices.
//
// Push drops a frame older than the newest; 25 in a row mean that the clock was set back, and
// the ticks continue from there. It ignores frames of another format, which is the length, the
// segmentation and the number of SetFormat, until they outnumber the link's own two to one for a
// second; then the link changes over to their format. What it has learned is kept for each of the last four
// formats, and is in force again when the format comes back. Ticks in a gap are
// invalid; in a gap of more than two minutes only the first minute has ticks.
func (l *Link) Push(t motion.Time, amp []float32, ends []int, rssi int8, emit func(Tick)) {
	if len(amp) == 0 || !isTime(t) || !l.admit(t, len(amp), ends) {
		return
	}
	switch l.grid.arrive(t) {
	case tooLate:
		return
	case restarts:
		l.restart(t)
	case inOrder:
		l.tickUntil(t, false, emit)
		l.grid.newest = t
	}
	l.pace.arrive(t)
	last := l.learn.take(t, amp, rssi)
	if l.layout.usable() {
		l.window.push(t, amp, rssi)
	}
	if last {
		l.chooseBins()
		l.learn.finish()
		if !l.layout.usable() {
			l.learn.start(l.format.length)
		}
	}
}

// Advance emits the ticks up to and including t, for which no more frames will come. t must be
// on the clock of the frames, for example the newest frame's time plus what has passed since it arrived: frames more
// than half a second older than the last tick are late. Before the first frame Advance does
// nothing.
func (l *Link) Advance(t motion.Time, emit func(Tick)) {
	if l.grid.started && t <= endOfTime {
		l.tickUntil(t, true, emit)
	}
}

// SetSensitivity changes s, 0..100, starting with the next tick.
func (l *Link) SetSensitivity(s float64) {
	l.config.Sensitivity = s
	l.judge.tune(s)
}

// SetFormat says the number of the format of the frames that follow, 0 at first. Frames of different
// numbers are never compared with each other, whatever their length: give another number to another
// channel, training field or state of the receiver's gain.
func (l *Link) SetFormat(number uint32) { l.number = number }

// Snapshot returns what the link has learned.
func (l *Link) Snapshot() Learned {
	s := l.reference.snapshot()
	for i := range l.former {
		s.Former = append(s.Former, l.former[i].snapshot())
	}
	return s
}

// Restore applies what an earlier link had learned to a link without data. On an error it
// changes nothing.
func (l *Link) Restore(s Learned) error {
	if err := s.validate(); err != nil {
		return err
	}
	l.reference.restore(&s)
	if l.layout != nil {
		l.format.any = s.Format == 0
		l.learn.start(s.Length)
		l.use(l.layout)
	}
	for i := range s.Former {
		before := newReference(&l.config)
		before.restore(&s.Former[i])
		l.former = append(l.former, before)
	}
	return nil
}

// restart starts a new grid with a frame at t: the first, or one after the clock was set back.
// What was learned stays.
func (l *Link) restart(t motion.Time) {
	left := l.config.Calibration
	if l.grid.started {
		left = l.judge.until.Since(l.grid.newest)
		l.silence()
		if !l.learn.done {
			l.learn.start(l.format.length)
		}
	}
	l.judge.until, l.weakness = t.Add(left), weakness{}
	l.grid.start(t)
}

// silence empties the window.
func (l *Link) silence() {
	l.pace.clear()
	if l.window != nil {
		l.window.clear()
	}
	l.judge.interrupt()
}

// use sets the link's layout and empties the window.
func (l *Link) use(chosen *layout) {
	l.layout, l.window = chosen, nil
	if chosen.usable() {
		l.window = newWindow(chosen)
	}
}

// chooseBins selects the valid bins from the frames kept so far. If they change, it fills the
// window again.
func (l *Link) chooseBins() {
	chosen := selectBins(l.learn.means(), l.format.ends)
	if l.layout.usable() && slices.Equal(chosen.bins, l.layout.bins) {
		return
	}
	l.use(chosen)
	if l.window != nil {
		l.learn.replay(l.window, &l.grid)
	}
}

// tickUntil closes the blocks that end before t, or at t if inclusive, and
// emits their ticks.
func (l *Link) tickUntil(t motion.Time, inclusive bool, emit func(Tick)) {
	for {
		at, due, leapt := l.grid.boundary(t, inclusive)
		if !due {
			return
		}
		if leapt {
			l.silence()
		}
		if l.grid.ticking() {
			l.pace.settle()
		}
		l.pace.close()
		if l.window != nil {
			l.window.close()
		}
		if l.grid.ticking() {
			if l.layout == nil && len(l.learn.times) >= minWindow {
				l.chooseBins()
			}
			emit(l.tick(at))
		}
		if l.window != nil {
			l.window.release(l.pace.windowBlocks() - 1)
		}
	}
}

// tick decides on the newest closed blocks.
func (l *Link) tick(at motion.Time) Tick {
	tick := Tick{Time: at, Features: unknown()}
	blocks := l.pace.windowBlocks()
	if l.window != nil {
		tick.Frames = l.window.count(blocks)
	}
	fresh := l.grid.newest > at.Add(-freshness)
	if tick.Frames >= minWindow && fresh {
		tick.Features = l.features(blocks, tick.Frames)
		tick.Quality.Amplitude = l.window.amplitude()
		tick.Quality.RSSI = l.window.signal(tick.Frames)
	}
	f := &tick.Features
	tick.Valid = !math.IsNaN(f.M) && !math.IsInf(f.M, 0)
	l.uptime.add(tick.Valid)
	if tick.Valid {
		e := f.evidence(l.pace.coherent())
		e.chance, e.faint = 1/math.Sqrt(float64(tick.Frames)), !l.config.LM1 && l.weakness.faint(at, tick.Quality.Amplitude)
		l.judge.weigh(&tick, e)
		tick.Jump = (tick.Normal.Motion || tick.Levels.Motion != 0) && l.window.jumps(tick.Frames, f.M)
	} else {
		l.judge.interrupt()
		tick.Power, tick.Baseline = math.NaN(), l.judge.baseline
	}
	q := &tick.Quality
	q.Rate, q.Valid = l.pace.rate, l.uptime.share()
	q.Weak = q.Rate < MinRate || tick.Valid && q.Amplitude < MinAmplitude
	return tick
}

// features computes the statistics of a window of n frames in that many blocks. It computes
// the whole window last, because the amplitude uses its moments.
func (l *Link) features(blocks, n int) Features {
	var f Features
	w, regress, lags := l.window, l.pace.coherent(), l.pace.lags(l.judge.scale.Lag)
	if l.config.LM1 {
		lags = w.lags(n, l.judge.scale.Lag)
	}
	f.Ra, f.Ma = w.coherence(blocks/2+1, blocks, regress, lags)
	f.Rb, f.Mb = w.coherence(1, blocks/2, regress, lags)
	f.R, f.M = w.coherence(1, blocks, regress, lags)
	return f
}

func unknown() Features {
	nan := math.NaN()
	return Features{R: nan, M: nan, Ra: nan, Ma: nan, Rb: nan, Mb: nan}
}

// evidence returns the input of the verdicts. The whole window replaces the halves if one of
// them is unknown.
func (f *Features) evidence(coherent bool) evidence {
	e := evidence{power: logPower(f.M), r: f.R, halves: f.R, coherent: coherent, rb: f.Rb, newest: logPower(f.Mb)}
	e.steady = e.power
	if !math.IsNaN(f.Ra) && !math.IsNaN(f.Rb) {
		e.halves = math.Min(f.Ra, f.Rb)
		e.steady = logPower(math.Min(f.Ma, f.Mb))
	}
	return e
}
