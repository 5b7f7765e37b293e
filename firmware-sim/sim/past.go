package sim

import (
	"math"

	"sensegate/motion"
)

// The shape of a motion-history message (device-protocol.md 2.3).
const (
	historyStep  motion.Seconds = 5
	historyCount                = 60
	historySpan                 = historyStep * historyCount // 300 s
)

// past collects samples into motion-history messages on a grid of 300 s.
type past struct {
	world   *world
	macs    []motion.MAC // of the leafs
	block   motion.History
	missed  bool      // a sample of the block was not sent live
	weights []float64 // by leaf, of the current 5 s step
	step    int       // current step of the block, -1 = none
}

func newPast(w *world) *past {
	p := &past{world: w, weights: make([]float64, len(w.home.Leafs)), step: -1}
	for _, leaf := range w.home.Leafs {
		p.macs = append(p.macs, leaf.MAC)
	}
	return p
}

// take adds a sample; live says whether it was sent live. If the sample starts a new
// block, take returns the one before it, unless all of that was sent live.
func (p *past) take(s *sample, live bool) *motion.History {
	begin := s.ts.Add(-sampleStep)
	start := motion.Time(math.Floor(float64(begin)/historySpan) * historySpan)
	step := min(historyCount-1, int(begin.Since(start)/historyStep))
	var done *motion.History
	if p.block.TS != start {
		done = p.finish()
		p.open(start)
	}
	if step != p.step {
		p.closeStep()
		p.step = step
	}
	p.missed = p.missed || !live
	if math.IsNaN(p.block.MKAI[step]) || s.peak > p.block.MKAI[step] {
		p.block.MKAI[step] = s.peak
	}
	for i := range s.mkai {
		if leaf := p.world.links[i].Leaf; leaf >= 0 {
			p.weights[leaf] += s.mkai[i]
		}
	}
	return done
}

// open begins the block that starts at ts, with all values unknown (NaN).
func (p *past) open(ts motion.Time) {
	p.block = motion.History{
		TS: ts, Interval: int(historyStep * 1000), Count: historyCount,
		MKAI: make([]float64, historyCount), MACs: p.macs, Density: make([][]float64, historyCount),
	}
	for i := range p.block.MKAI {
		p.block.MKAI[i] = math.NaN()
	}
	p.missed, p.step = false, -1
}

// closeStep writes the location shares of the current 5 s step.
func (p *past) closeStep() {
	total := 0.0
	for _, v := range p.weights {
		total += v
	}
	if p.step >= 0 && total > 0 {
		shares := make([]float64, len(p.weights))
		for i, v := range p.weights {
			shares[i] = math.Round(v/total*1000) / 1000
		}
		p.block.Density[p.step] = shares
	}
	clear(p.weights)
}

// finish returns the current block, nil if there is none or all of it was sent live.
func (p *past) finish() *motion.History {
	if p.block.TS == 0 || !p.missed {
		return nil
	}
	p.closeStep()
	p.step = -1
	done := p.block
	return &done
}

// Backfill returns the reports that a guardian of the home without a live viewer
// would have made between from and to: motion-history messages of 60 samples of 5 s
// on a grid of 300 s with the share of each leaf, and detected and stopped events of
// the same day plan (the last may be a detection that still goes on). Events carry
// an id but no network. The past depends only on the seed, and New with that seed
// continues it. Backfill may be called concurrently.
func Backfill(seed uint64, home Home, from, to motion.Time) ([]motion.History, []motion.Event) {
	w := newWorld(seed, home, Scene{})
	measure, gather := newMeasurer(w), newPast(w)
	state := alarm{home: home, links: w.links, seed: seed}
	radar, config := motion.DefaultRadarConfig(), motion.DefaultGuardianConfig().MotionEvents
	var blocks []motion.History
	var events []motion.Event
	first := math.Ceil(float64(from)/sampleStep) + 1
	for step := first; step*sampleStep <= float64(to); step++ {
		s := measure.measure(motion.Time(step*sampleStep), radar, config.Sens)
		if block := gather.take(s, false); block != nil {
			blocks = append(blocks, *block)
		}
		if e := state.take(s, config); e != nil {
			events = append(events, *e)
		}
	}
	if block := gather.finish(); block != nil {
		blocks = append(blocks, *block)
	}
	return blocks, events
}
