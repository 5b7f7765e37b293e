package channel

import (
	"math"

	"sensegate/firmware-sim/chance"
	"sensegate/motion"
)

// Point is a place in metres: X and Y in the plan, Z above the floor.
type Point struct{ X, Y, Z float64 }

// Distance returns the distance to q in metres.
func (p Point) Distance(q Point) float64 {
	dx, dy, dz := p.X-q.X, p.Y-q.Y, p.Z-q.Z
	return math.Sqrt(dx*dx + dy*dy + dz*dz)
}

// toward returns the point at a share of the way from p to q.
func (p Point) toward(q Point, share float64) Point {
	return Point{p.X + share*(q.X-p.X), p.Y + share*(q.Y-p.Y), p.Z + share*(q.Z-p.Z)}
}

// segment is a wall or a door seen from above.
type segment struct{ a, b Point }

// crossing returns the share of the way from p to q at which it crosses the
// segment, and false if it does not. The ends of the way do not count.
func (s segment) crossing(p, q Point) (share float64, crosses bool) {
	const margin = 1e-6
	wx, wy := q.X-p.X, q.Y-p.Y
	sx, sy := s.b.X-s.a.X, s.b.Y-s.a.Y
	cross := wx*sy - wy*sx
	if cross == 0 {
		return 0, false
	}
	ax, ay := s.a.X-p.X, s.a.Y-p.Y
	share = (ax*sy - ay*sx) / cross
	along := (ax*wy - ay*wx) / cross
	return share, share > margin && share < 1-margin && along >= 0 && along <= 1
}

// mirror returns p mirrored in the line through the segment.
func (s segment) mirror(p Point) Point {
	sx, sy := s.b.X-s.a.X, s.b.Y-s.a.Y
	along := ((p.X-s.a.X)*sx + (p.Y-s.a.Y)*sy) / (sx*sx + sy*sy)
	return Point{2*(s.a.X+along*sx) - p.X, 2*(s.a.Y+along*sy) - p.Y, p.Z}
}

// gapTo returns the distance of q from the line segment between p and r, in metres.
func gapTo(q, p, r Point) float64 {
	dx, dy, dz := r.X-p.X, r.Y-p.Y, r.Z-p.Z
	length := dx*dx + dy*dy + dz*dz
	if length == 0 {
		return q.Distance(p)
	}
	along := ((q.X-p.X)*dx + (q.Y-p.Y)*dy + (q.Z-p.Z)*dz) / length
	return q.Distance(p.toward(r, math.Max(0, math.Min(1, along))))
}

// Area is a rectangle of the plan.
type Area struct{ Min, Max Point }

// Holds reports whether p lies in the area, seen from above.
func (a Area) Holds(p Point) bool {
	return p.X >= a.Min.X && p.X <= a.Max.X && p.Y >= a.Min.Y && p.Y <= a.Max.Y
}

// Center returns the middle of the area.
func (a Area) Center() Point { return Point{(a.Min.X + a.Max.X) / 2, (a.Min.Y + a.Max.Y) / 2, a.Min.Z} }

// Spot returns a place in the area drawn from the seed, at least half a metre from
// its edges if it is wide enough.
func (a Area) Spot(seed uint64, keys ...uint64) Point {
	edgeX, edgeY := math.Min(0.5, (a.Max.X-a.Min.X)/3), math.Min(0.5, (a.Max.Y-a.Min.Y)/3)
	return Point{
		chance.Between(a.Min.X+edgeX, a.Max.X-edgeX, chance.Mix(seed, keys...), 41), chance.Between(a.Min.Y+edgeY, a.Max.Y-edgeY, chance.Mix(seed, keys...), 42), a.Min.Z,
	}
}

// Wander appends a walk in the area to knots: from the place begin at the time from
// to the place end at the time to, at about speed m/s, on a way drawn from the seed.
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

// shortest is the least duration of a step of a walk, in seconds.
const shortest = 0.4
