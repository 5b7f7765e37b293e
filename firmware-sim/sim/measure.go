package sim

import (
	"math"

	"sensegate/firmware-sim/chance"
	"sensegate/motion"
)

// sampleStep is the time between two measurements of a guardian, in seconds
// (device-protocol.md 2.2).
const sampleStep motion.Seconds = 0.5

// sample is a guardian's measurement of its links at one step.
type sample struct {
	ts        motion.Time
	mconf     float64   // threshold, before sensitivity is applied
	up        []bool    // by link
	msad      []float64 // by link
	mkai      []float64 // by link, 0..1
	peak      float64   // highest mkai
	strongest int       // link of peak, -1 without motion
}

// moved reports whether any link saw motion.
func (s *sample) moved() bool { return s.peak > 0 }

// measurer computes a guardian's measurements from walks. It reuses its buffers and
// is not safe for concurrent use.
type measurer struct {
	world *world
	walks []Walk
	state up
	upAt  motion.Time
	out   sample
}

func newMeasurer(w *world) *measurer {
	n := len(w.links)
	return &measurer{world: w, out: sample{up: make([]bool, n), msad: make([]float64, n), mkai: make([]float64, n)}}
}

// measure returns the sample that ends at t: the summed absolute differences (msad)
// stay far below the threshold until a walk near the link lifts them above it. The
// sample is valid until the next call.
func (m *measurer) measure(t motion.Time, radar motion.RadarConfig, sens int) *sample {
	w, s := m.world, &m.out
	m.walks = w.walks(m.walks[:0], t.Add(-sampleStep), t)
	if m.upAt == 0 || math.Abs(t.Since(m.upAt)) >= 1 {
		m.state, m.upAt = w.up(t), t
	}
	s.ts, s.mconf, s.peak, s.strongest = t, radar.Measurement.BaseThreshold, 0, -1
	threshold := s.mconf * float64(max(1, sens))
	step := uint64(math.Round(float64(t) / sampleStep))
	for i := range w.links {
		link := &w.links[i]
		s.up[i] = m.state.sounds(link) && sounded(radar.Sounding, link.Src)
		s.msad[i] = s.mconf * chance.Between(0.01, 0.06, w.seed, step, uint64(i))
		if moving := w.level(i, m.walks, t.Add(-sampleStep/2)); moving > 0 {
			swing := chance.Between(0.4, 1, w.seed, step, uint64(i), 1) + chance.Between(0.4, 2.2, w.seed, step/4, uint64(i), 2)
			s.msad[i] = s.mconf * (0.3 + moving*(0.8+swing))
		}
		s.mkai[i] = 0
		if s.up[i] && s.msad[i] > threshold {
			s.mkai[i] = 1 - threshold/s.msad[i]
		}
		if s.mkai[i] > s.peak {
			s.peak, s.strongest = s.mkai[i], i
		}
	}
	return s
}

// sounded reports whether the radar configuration allows sounding of a source.
func sounded(c motion.Sounding, src motion.MAC) bool {
	mode := c.Mode
	if len(c.Clients) > 0 {
		if client := c.Clients[src.String()]; client.Mode != "" {
			mode = client.Mode
		}
	}
	return c.Enabled == 1 && mode != "deny"
}

// matrix returns the sample as a motion-matrix message.
func (s *sample) matrix(links []Link, last motion.Time, tripped int) *motion.Matrix {
	m := &motion.Matrix{
		TS: s.ts, Interval: int(sampleStep * 1000), Count: 1, MotionTripped: tripped, MotionEnabled: 1, LastMotion: last,
	}
	add := func(figure motion.Figure, value float64) {
		m.Values[figure] = append(m.Values[figure], []float64{value})
	}
	for i := range links {
		if !s.up[i] {
			continue
		}
		m.Links = append(m.Links, links[i].Name)
		add(motion.MKAI, s.mkai[i])
		add(motion.LRaw, math.Max(s.mkai[i], math.Min(1, 0.3*s.msad[i]/s.mconf)))
		add(motion.Throughput, 1-0.03*math.Mod(s.msad[i], 1))
		add(motion.MSAD, s.msad[i])
		add(motion.MConf, s.mconf)
	}
	if s.strongest >= 0 {
		m.Loc = []motion.MatrixLoc{{MAC: links[s.strongest].Src, Confidence: s.confidence()}}
	}
	return m
}

// confidence returns the strongest link's share of all motion, 0..1.
func (s *sample) confidence() float64 {
	total := 0.0
	for _, v := range s.mkai {
		total += v
	}
	if total == 0 {
		return 0
	}
	return s.peak / total
}
