package evaluate

import (
	"math"
	"slices"
	"sync"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/detect"
)

// gallery keeps the charts of recordings. Its method may be called concurrently.
type gallery struct {
	mu     sync.Mutex
	charts map[*capture.Recording]*chart
}

// hang draws a run over a recording.
func (g *gallery) hang(r *capture.Recording, t *trace) {
	c := t.chart(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.charts[r] = c
}

// chart draws a run over a recording.
func (t *trace) chart(r *capture.Recording) *chart {
	var j judged
	labels, called := align(t.moments, t.decisions())
	tick := 0
	for i, m := range t.moments {
		for tick < len(t.ticks) && motion.Seconds(t.ticks[tick].Time) <= m.at {
			tick++
		}
		j.add(m.at, labels[i], called[i], tick > 0 && t.ticks[tick-1].Valid)
	}
	s := span{t.start, r.Frames[len(r.Frames)-1].Time + detect.TickInterval}
	c := j.chart(s)
	c.Group, c.Name = r.Group, r.Name
	c.Panels = s.panels(t.ticks)
	return c
}

// panels returns what a link's decisions are made of, the statistic that decides first.
func (s span) panels(ticks []detect.Tick) []panel {
	of := func(coherent bool, threshold func(*detect.Tick) float64) func(*detect.Tick) float64 {
		return func(t *detect.Tick) float64 {
			if t.Coherent != coherent {
				return math.NaN()
			}
			return threshold(t)
		}
	}
	on, keep := func(t *detect.Tick) float64 { return t.On }, func(t *detect.Tick) float64 { return t.Keep }
	all := []panel{
		s.plot("R, coherence", "Coherence of the window; it decides from 19 frames/s on.", axis{-0.2, 1, root, []float64{0, 0.3, 1}}, ticks,
			curve{"statistic", "statistic", func(t *detect.Tick) float64 { return t.Features.R }},
			curve{"starts motion", "on", of(true, on)}, curve{"keeps motion", "keep", of(true, keep)}),
		s.plot("ln M, power", "Logarithm of the power of coherent motion; it decides below 19 frames/s.", axis{-9.3, 0, even, []float64{-8, -6, -4, -2}}, ticks,
			curve{"statistic", "statistic", func(t *detect.Tick) float64 { return t.Power }},
			curve{"quiet link", "baseline", func(t *detect.Tick) float64 { return t.Baseline }},
			curve{"starts motion", "on", of(false, on)}, curve{"keeps motion", "keep", of(false, keep)}),
		s.plot("reach", "The share of what starts motion that is there, of all conditions together.", reachAxis(), ticks,
			curve{"statistic", "statistic", func(t *detect.Tick) float64 { return t.Reach }},
			curve{"starts motion", "on", func(*detect.Tick) float64 { return 1 }}),
	}
	if !slices.ContainsFunc(ticks, func(t detect.Tick) bool { return t.Coherent }) {
		all[0], all[1] = all[1], all[0]
	}
	return all
}

// reachAxis is the axis of detect.Tick's Reach, which is logarithmic.
func reachAxis() axis { return axis{0.03, 30, math.Log, []float64{0.1, 1, 10}} }
