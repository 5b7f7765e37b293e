package channel

import (
	"sort"

	"sensegate/motion"
)

// Knot is a place at a time.
type Knot struct {
	Time motion.Time
	At   Point
}

// Track is the place of a body over time: a smooth way through knots, with rest at
// its ends and wherever two knots in a row are at the same place. It is immutable.
type Track struct {
	knots  []Knot
	walked []float64 // up to each knot, m
}

// NewTrack returns the way through one or more knots in ascending order of time. It
// keeps the slice.
func NewTrack(knots []Knot) *Track {
	t := &Track{knots: knots, walked: make([]float64, len(knots))}
	for i := 1; i < len(knots); i++ {
		t.walked[i] = t.walked[i-1] + knots[i].At.Distance(knots[i-1].At)
	}
	return t
}

// Stay returns the track of a body that stays at a place.
func Stay(at Point) *Track { return NewTrack([]Knot{{At: at}}) }

// state is a moment of a track.
type state struct {
	at     Point
	vx, vy float64 // m/s
	walked float64 // m, since the beginning of the track
}

// state returns the state at a time on a cubic Hermite curve between the knots
// around it, with the slopes of Catmull and Rom (1974).
func (t *Track) state(at motion.Time) state {
	next := sort.Search(len(t.knots), func(i int) bool { return t.knots[i].Time > at })
	switch next {
	case 0:
		return state{at: t.knots[0].At}
	case len(t.knots):
		return state{at: t.knots[next-1].At, walked: t.walked[next-1]}
	}
	p, q := t.knots[next-1], t.knots[next]
	span := q.Time.Since(p.Time)
	u := at.Since(p.Time) / span
	px, py := t.slope(next - 1)
	qx, qy := t.slope(next)
	s := state{at: p.At.toward(q.At, u), walked: t.walked[next-1] + u*(t.walked[next]-t.walked[next-1])}
	s.at.X, s.vx = hermite(p.At.X, q.At.X, px, qx, u, span)
	s.at.Y, s.vy = hermite(p.At.Y, q.At.Y, py, qy, u, span)
	return s
}

// slope returns the velocity at a knot.
func (t *Track) slope(i int) (vx, vy float64) {
	if i == 0 || i == len(t.knots)-1 {
		return 0, 0
	}
	before, here, after := t.knots[i-1], t.knots[i], t.knots[i+1]
	if before.At == here.At || here.At == after.At {
		return 0, 0
	}
	span := after.Time.Since(before.Time)
	return (after.At.X - before.At.X) / span, (after.At.Y - before.At.Y) / span
}

// hermite returns value and slope at the share u of a curve from p to q with the
// slopes vp and vq, which takes span seconds.
func hermite(p, q, vp, vq, u, span float64) (value, slope float64) {
	d := q - p
	a := span*(vp+vq) - 2*d
	b := 3*d - span*(2*vp+vq)
	value = p + u*(span*vp+u*(b+u*a))
	return value, (span*vp + u*(2*b+3*u*a)) / span
}

// At returns the place at a time.
func (t *Track) At(at motion.Time) Point { return t.state(at).at }
