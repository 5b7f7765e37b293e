// Package seriestest generates motion samples of simulated homes for the tests and
// benchmarks of whatever stores them: seeded and repeatable.
//
// It knows the two profiles that storage is measured with; it must not know how
// samples are stored.
package seriestest

import (
	"fmt"
	"math/rand/v2"

	"sensegate/motion/series"
)

// Profile says what a link reports while nobody moves.
type Profile uint8

// The profiles: real firmware may do either.
const (
	Sparse Profile = iota + 1 // exactly 0 outside motion
	Noisy3                    // an always-on noise floor
)

// String returns the name used in reports.
func (p Profile) String() string {
	if p == Sparse {
		return "sparse"
	}
	return "noisy3"
}

// Frames a second, mean lengths of motion and rest in seconds (6 % motion), and
// the intensity below which a link reports 0.
const (
	framesPerSecond = 2
	meanMotion      = 90
	meanRest        = 1400
	gate            = 0.05
)

// Home is one simulated network: its own series and those of its links.
type Home struct {
	profile Profile
	rng     *rand.Rand
	ids     []series.ID
	links   []link
	moving  bool
	left    int     // frames left of this motion or rest
	level   float64 // activity, a slow random walk around 0.5
}

// link is what one radio path sees of the home.
type link struct {
	gain         float64 // of the present motion; too small: sees nothing
	floor, noise float64 // mean and deviation of the noise floor
}

// New returns a home with the given number of links.
func New(p Profile, seed uint64, links int) *Home {
	rng := rand.New(rand.NewPCG(seed, uint64(p)))
	h := &Home{profile: p, rng: rng, ids: []series.ID{series.Network}}
	for range links {
		name := fmt.Sprintf("GWA1000133.%012x", rng.Uint64()&(1<<48-1))
		h.ids = append(h.ids, series.Link(name))
		floor := 0.02 + 0.04*rng.Float64()
		h.links = append(h.links, link{floor: floor, noise: floor / 3})
	}
	h.left = int(rng.ExpFloat64() * meanRest * framesPerSecond)
	return h
}

// IDs returns the series: the network, then the links.
func (h *Home) IDs() []series.ID { return h.ids }

// Next writes one frame of 500 ms: frame[i] is the intensity of IDs()[i].
func (h *Home) Next(frame []float64) {
	h.advance()
	frame[0] = 0
	for i := range h.links {
		frame[i+1] = h.sample(&h.links[i])
		frame[0] = max(frame[0], frame[i+1])
	}
}

// FillBlock adds the frames of a whole block of tier series.Second to b.
func (h *Home) FillBlock(b *series.Block) {
	frame := make([]float64, len(h.ids))
	index := make([]int, len(h.ids))
	for i, id := range h.ids {
		index[i], _ = b.Index(id)
	}
	for ts := b.Start(); ts < b.End(); ts++ {
		for range framesPerSecond {
			h.Next(frame)
			for i, v := range frame {
				b.Add(index[i], ts, v)
			}
		}
	}
}

// advance simulates one frame of movement in the home.
func (h *Home) advance() {
	if h.left--; h.left < 0 {
		h.moving = !h.moving
		mean := meanRest
		if h.moving {
			mean = meanMotion
		}
		h.left = int(h.rng.ExpFloat64() * float64(mean) * framesPerSecond)
		for i := range h.links {
			h.links[i].gain = h.rng.Float64()
		}
	}
	h.level += 0.05*(0.5-h.level) + 0.08*h.rng.NormFloat64()
}

func (h *Home) sample(l *link) float64 {
	v := 0.0
	if h.moving {
		v = h.level * l.gain * (1 + 0.3*h.rng.NormFloat64())
	}
	if v < gate {
		v = 0
	}
	if h.profile == Noisy3 {
		v = max(v, l.floor+l.noise*h.rng.NormFloat64())
	}
	return min(max(v, 0), 1)
}
