package detect

import (
	"math"
	"slices"

	"sensegate/motion"
)

// Link is the LM1 detector of one link with channel state.
type Link struct {
	config Config
	grid   grid
	format format
	learn  learner
	layout *layout // nil until the valid bins are known
	window *window // nil as long as layout is
	pace   pace
	judge  judge
	uptime uptime

	fainted motion.Time // when last below MinAmplitude
}

// NewLink returns a link that has seen nothing.
func NewLink(config Config) *Link {
	return &Link{
		config: config,
		grid:   grid{anchored: config.Anchored},
		judge:  newJudge(config.scale(), config.Sensitivity),
	}
}

// Push takes a frame at time t: the amplitude of each bin in counts, the ends of
// the segments (training fields or antennas; empty = one segment) and the RSSI
// in dBm (0 = unknown). The slices are not kept. First it emits the ticks that
// lie before t.
//
// A frame older than the newest is dropped; after 25 in a row the clock is
// taken to have been set back and the ticks go on from there. Frames of another
// length or segmentation than the link's are left out until they outnumber its
// own two to one, then the link starts anew. Ticks of a gap are invalid; of a
// gap of more than two minutes only the first minute has ticks.
func (l *Link) Push(t motion.Time, amp []float32, ends []int, rssi int8, emit func(Tick)) {
	if len(amp) == 0 {
		return
	}
	own, changed := l.format.admit(len(amp), ends)
	if !own {
		return
	}
	if changed {
		l.begin()
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

// Advance emits the ticks up to and including t, for which no frame will come
// any more. t must be on the clock of the frames, for example Newest plus the
// time that has passed since its arrival: frames more than half a second older
// than the last tick are late. It does nothing before the first frame.
func (l *Link) Advance(t motion.Time, emit func(Tick)) {
	if l.grid.started && t <= endOfTime {
		l.tickUntil(t, true, emit)
	}
}

// Newest returns the time of the newest frame taken, zero before the first.
func (l *Link) Newest() motion.Time { return l.grid.newest }

// SetSensitivity changes s, 0..100, from the next tick on.
func (l *Link) SetSensitivity(s float64) {
	l.config.Sensitivity, l.judge.sensitivity = s, s
}

// Retune forgets what depends on the channel: to be called when channel or
// bandwidth change. The next frame starts the link anew.
func (l *Link) Retune() { l.format = format{} }

// Snapshot returns what the link has learned.
func (l *Link) Snapshot() Learned {
	s := Learned{Rate: l.pace.rate}
	l.judge.snapshot(&s)
	if l.layout.usable() {
		s.Length, s.Ends, s.Bins = l.format.length, slices.Clone(l.format.ends), slices.Clone(l.layout.bins)
	}
	return s
}

// Restore gives a link that has seen nothing what an earlier one had learned.
// On an error nothing is restored.
func (l *Link) Restore(s Learned) error {
	if err := s.validate(); err != nil {
		return err
	}
	l.pace.rate = s.Rate
	l.judge.restore(&s)
	if len(s.Bins) > 0 {
		l.format.set(s.Length, s.Ends)
		l.learn.start(s.Length)
		restored := &layout{bins: slices.Clone(s.Bins)}
		restored.arrange(s.Ends)
		l.use(restored)
	}
	return nil
}

// begin starts with frames of a new form. What was learned on another form is
// void.
func (l *Link) begin() {
	if l.grid.started || l.layout != nil {
		fresh := NewLink(l.config)
		fresh.format, fresh.uptime = l.format, l.uptime
		*l = *fresh
	}
	l.learn.start(l.format.length)
}

// restart lays the grid anew from a frame at t: the first, or one after the
// clock was set back. What was learned stays.
func (l *Link) restart(t motion.Time) {
	left := l.config.Calibration
	if l.grid.started {
		left = l.judge.until.Since(l.grid.newest)
		l.silence()
		if !l.learn.done {
			l.learn.start(l.format.length)
		}
	}
	l.judge.until, l.fainted = t.Add(left), 0
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

// use makes a layout the link's, with an empty window.
func (l *Link) use(chosen *layout) {
	l.layout, l.window = chosen, nil
	if chosen.usable() {
		l.window = newWindow(chosen)
	}
}

// chooseBins selects the valid bins from the frames kept so far. If they
// differ from those in use, the window is filled again.
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

// tick decides on the blocks closed last.
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
		e.frames, e.faint = tick.Frames, !l.config.LM1 && l.faint(at, tick.Quality.Amplitude)
		l.judge.weigh(&tick, e)
	} else {
		l.judge.interrupt()
		tick.Power, tick.Baseline = math.NaN(), l.judge.baseline
	}
	q := &tick.Quality
	q.Rate, q.Valid = l.pace.rate, l.uptime.share()
	q.Weak = q.Rate < MinRate || tick.Valid && q.Amplitude < MinAmplitude
	return tick
}

// faint reports whether a link of this amplitude has so few counts, or had within
// the last faintHold, that what its gain does passes for coherence: gain steps of a
// weak link take it above the limit and back.
func (l *Link) faint(at motion.Time, amplitude float64) bool {
	if amplitude < MinAmplitude {
		l.fainted = at
	}
	return !l.fainted.IsZero() && at.Since(l.fainted) < faintHold
}

// features computes the statistics of a window of n frames in that many blocks.
// The whole comes last: its moments serve the amplitude.
func (l *Link) features(blocks, n int) Features {
	var f Features
	w, regress, lags := l.window, l.pace.coherent(), l.window.lags(n)
	f.Ra, f.Ma = w.coherence(blocks/2+1, blocks, regress, lags)
	f.Rb, f.Mb = w.coherence(1, blocks/2, regress, lags)
	f.R, f.M = w.coherence(1, blocks, regress, lags)
	return f
}

func unknown() Features {
	nan := math.NaN()
	return Features{R: nan, M: nan, Ra: nan, Ma: nan, Rb: nan, Mb: nan}
}

// evidence returns what the verdicts are about. The whole window stands in for
// halves of which one is unknown.
func (f *Features) evidence(coherent bool) evidence {
	e := evidence{power: logPower(f.M), r: f.R, halves: f.R, coherent: coherent, rb: f.Rb, newest: logPower(f.Mb)}
	e.steady = e.power
	if !math.IsNaN(f.Ra) && !math.IsNaN(f.Rb) {
		e.halves = math.Min(f.Ra, f.Rb)
		e.steady = logPower(math.Min(f.Ma, f.Mb))
	}
	return e
}
