package channel

import (
	"math"

	"sensegate/firmware-sim/chance"
)

// The diffuse tail: multiple reflections come from virtual sources whose detours
// are exponentially distributed.
const (
	diffuseSources = 16
	diffuseDetour  = 15.0 // mean, m
	diffuseGain    = 0.45
	diffuseWalls   = 0.5 // loss of the tail in walls, as a share of the direct path's in dB
)

// source is an apparent end of a link: the antenna, its image in a wall, floor or
// ceiling, or a virtual source of the diffuse tail.
type source struct {
	at   Point
	gain float64 // of the reflection
	wall int     // index of the reflecting wall, or one of the kinds below
}

const (
	direct  = -1
	slab    = -2
	diffuse = -3
)

// sourcesOf returns the sources of an antenna at a for a link of length d, the
// antenna first.
func sourcesOf(plan *Plan, a Point, d float64, seed uint64) []source {
	all := []source{{a, 1, direct}}
	for i := range plan.Walls {
		w := &plan.Walls[i]
		if w.Reflection > 0 {
			all = append(all, source{segment{w.A, w.B}.mirror(a), w.Reflection, i})
		}
	}
	floor, top := a, a
	floor.Z, top.Z = -a.Z, 2*plan.height()-a.Z
	all = append(all, source{floor, slabReflects, slab}, source{top, slabReflects, slab})
	for i := range uint64(diffuseSources) {
		detour := -diffuseDetour * math.Log(1-chance.Unit(seed, i, 1))
		turn := 2 * math.Pi * chance.Unit(seed, i, 2)
		far := d + detour
		all = append(all, source{
			Point{a.X + far*math.Cos(turn), a.Y + far*math.Sin(turn), a.Z + chance.Between(-1, 1, seed, i, 3)*far/3},
			diffuseGain, diffuse,
		})
	}
	return all
}

// ray is a source seen from one place.
type ray struct {
	source *source
	factor float64 // of the amplitude, without the spreading over the distance
}

// rays appends the rays from the sources that reach p to dst, of those whose gain is above least(source).
func (o *obstacles) rays(dst []ray, sources []source, p Point, least func(*source) float64) []ray {
	antenna := sources[0].at
	straight := o.through(antenna, p, direct)
	tail := math.Pow(straight, diffuseWalls)
	for i := range sources {
		s := &sources[i]
		if i > 0 && s.gain <= least(s) {
			continue
		}
		switch s.wall {
		case direct:
			dst = append(dst, ray{s, straight})
		case slab:
			dst = append(dst, ray{s, s.gain * straight})
		case diffuse:
			dst = append(dst, ray{s, s.gain * tail})
		default:
			w := &o.plan.Walls[s.wall]
			share, hits := segment{w.A, w.B}.crossing(s.at, p)
			if !hits {
				continue
			}
			at := s.at.toward(p, share)
			dst = append(dst, ray{s, s.gain * o.through(antenna, at, s.wall) * o.through(at, p, s.wall)})
		}
	}
	return dst
}
