package channel

import (
	"math"

	"sensegate/firmware-sim/chance"
	"sensegate/motion"
)

// Area is a rectangle of the plan.
type Area struct{ Min, Max Point }

// Holds reports whether p lies in the area, seen from above.
func (a Area) Holds(p Point) bool {
	return p.X >= a.Min.X && p.X <= a.Max.X && p.Y >= a.Min.Y && p.Y <= a.Max.Y
}

// Center returns the middle of the area.
func (a Area) Center() Point { return Point{(a.Min.X + a.Max.X) / 2, (a.Min.Y + a.Max.Y) / 2, a.Min.Z} }

// Spot returns a place in the area that is the seed's own, at least half a metre
// from its edges where it is wide enough.
func (a Area) Spot(seed uint64, keys ...uint64) Point {
	edgeX, edgeY := math.Min(0.5, (a.Max.X-a.Min.X)/3), math.Min(0.5, (a.Max.Y-a.Min.Y)/3)
	return Point{
		chance.Between(a.Min.X+edgeX, a.Max.X-edgeX, chance.Mix(seed, keys...), 41), chance.Between(a.Min.Y+edgeY, a.Max.Y-edgeY, chance.Mix(seed, keys...), 42), a.Min.Z,
	}
}

// Wander appends to knots a walk in the area that begins at the place begin at
// from and ends at end at to, at about so many metres a second in between. The
// way depends on the seed.
func (a Area) Wander(knots []Knot, seed uint64, begin, end Point, from, to motion.Time, speed float64) []Knot {
	knots = append(knots, Knot{from, begin})
	here, t := begin, from
	for turn := uint64(0); ; turn++ {
		left := to.Since(t) - here.Distance(end)/speed
		if left < 2*shortest {
			return append(knots, Knot{to, end})
		}
		next := a.Spot(seed, turn)
		most := math.Min(1.2+1.2*chance.Unit(seed, turn, 43), speed*left/2)
		far := here.Distance(next)
		if far > most {
			next, far = here.toward(next, most/far), most
		}
		t = t.Add(math.Max(shortest, far/speed))
		knots = append(knots, Knot{t, next})
		here = next
	}
}

// shortest is how long a step of a walk takes at least, in seconds.
const shortest = 0.4
