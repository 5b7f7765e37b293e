package channel

import "math"

// Point is a place in metres: X and Y in the plan, Z above the floor.
type Point struct{ X, Y, Z float64 }

// Distance returns the distance to q in metres.
func (p Point) Distance(q Point) float64 {
	dx, dy, dz := p.X-q.X, p.Y-q.Y, p.Z-q.Z
	return math.Sqrt(dx*dx + dy*dy + dz*dz)
}

// toward returns the point that lies a share of the way from p to q.
func (p Point) toward(q Point, share float64) Point {
	return Point{p.X + share*(q.X-p.X), p.Y + share*(q.Y-p.Y), p.Z + share*(q.Z-p.Z)}
}

// segment is a piece of the plan's drawing: a wall or a door seen from above.
type segment struct{ a, b Point }

// crossing returns at which share of the way from p to q the way crosses the
// segment; false if it does not. The ends of the way do not count.
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

// mirror returns p mirrored at the line through the segment.
func (s segment) mirror(p Point) Point {
	sx, sy := s.b.X-s.a.X, s.b.Y-s.a.Y
	along := ((p.X-s.a.X)*sx + (p.Y-s.a.Y)*sy) / (sx*sx + sy*sy)
	return Point{2*(s.a.X+along*sx) - p.X, 2*(s.a.Y+along*sy) - p.Y, p.Z}
}

// gapTo returns how far q lies from the straight way between p and r.
func gapTo(q, p, r Point) float64 {
	dx, dy, dz := r.X-p.X, r.Y-p.Y, r.Z-p.Z
	length := dx*dx + dy*dy + dz*dz
	if length == 0 {
		return q.Distance(p)
	}
	along := ((q.X-p.X)*dx + (q.Y-p.Y)*dy + (q.Z-p.Z)*dz) / length
	return q.Distance(p.toward(r, math.Max(0, math.Min(1, along))))
}
