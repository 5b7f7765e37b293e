package channel

import (
	"math"

	"sensegate/motion"
)

// Plan is the structure of a home. Walls run from floor to ceiling.
type Plan struct {
	Walls      []Wall
	Doors      []Door
	Reflectors []Reflector
	Height     float64 // of the ceiling above the floor, m; 0 = 2.5
}

// Wall is a straight wall, seen from above.
type Wall struct {
	A, B       Point
	Loss       float64 // of a path through it, dB
	Reflection float64 // share of the amplitude that it reflects, 0..1
}

// Door is an opening with a panel hinged at A. It is closed except in the spans of
// a Scene; it takes DoorSwing to open and to close.
type Door struct {
	A, B     Point
	Loss     float64 // of a path through the closed door, dB
	Standing bool    // always open
}

// Scene is the bodies and the open doors of a home.
type Scene struct {
	Bodies []Body
	Open   [][]Span // by door: when it is open; doors beyond the end stay closed
}

// Span is the interval of time [From, To).
type Span struct{ From, To motion.Time }

// Holds reports whether t lies in the span.
func (s Span) Holds(t motion.Time) bool { return s.From <= t && t < s.To }

// Reflector is an object that stands still and scatters: a fridge, a radiator.
type Reflector struct {
	At   Point
	Size float64 // radar cross-section, m²
}

const (
	ceiling      = 2.5  // m
	slabReflects = 0.35 // of floor and ceiling
)

// DoorSwing is the time in which a door opens or closes, in seconds.
const DoorSwing motion.Seconds = 1.2

// opened returns how far a door that opens in the spans is open at t, 0..1.
func opened(spans []Span, t motion.Time) float64 {
	widest := 0.0
	for _, s := range spans {
		if t <= s.From || t >= s.To {
			continue
		}
		widest = math.Max(widest, math.Min(1, math.Min(t.Since(s.From), s.To.Since(t))/DoorSwing))
	}
	return smooth(widest)
}

// panel returns the middle of the door's panel when it is open by 0..1.
func (d *Door) panel(open float64) Point {
	turn := open * math.Pi / 2
	dx, dy := (d.B.X-d.A.X)/2, (d.B.Y-d.A.Y)/2
	return Point{d.A.X + dx*math.Cos(turn) - dy*math.Sin(turn), d.A.Y + dx*math.Sin(turn) + dy*math.Cos(turn), 1}
}

// smooth maps 0..1 to 0..1 with slope 0 at both ends (smoothstep).
func smooth(share float64) float64 { return share * share * (3 - 2*share) }

// fromDecibels converts a loss into a factor of the amplitude.
func fromDecibels(loss float64) float64 { return math.Pow(10, -loss/20) }

func (p *Plan) height() float64 {
	if p.Height > 0 {
		return p.Height
	}
	return ceiling
}

// obstacles are the walls and doors of a plan at one moment.
type obstacles struct {
	plan   *Plan
	opened []float64 // by door
	fixed  []float64 // by wall: factor of the amplitude behind it
}

func newObstacles(plan *Plan) *obstacles {
	o := &obstacles{plan: plan, opened: make([]float64, len(plan.Doors))}
	for i := range plan.Walls {
		o.fixed = append(o.fixed, fromDecibels(plan.Walls[i].Loss))
	}
	for i := range o.opened {
		o.opened[i] = -1
	}
	return o
}

// at sets the doors to their positions at t and reports whether one moved.
func (o *obstacles) at(t motion.Time, scene *Scene) bool {
	moved := false
	for i := range o.plan.Doors {
		open := 0.0
		switch {
		case o.plan.Doors[i].Standing:
			open = 1
		case i < len(scene.Open):
			open = opened(scene.Open[i], t)
		}
		if open != o.opened[i] {
			o.opened[i], moved = open, true
		}
	}
	return moved
}

// through returns the factor of the amplitude on the way from p to q, ignoring the
// wall of index except.
func (o *obstacles) through(p, q Point, except int) float64 {
	factor := 1.0
	for i := range o.plan.Walls {
		w := &o.plan.Walls[i]
		if i == except {
			continue
		}
		if _, crosses := (segment{w.A, w.B}).crossing(p, q); crosses {
			factor *= o.fixed[i]
		}
	}
	for i := range o.plan.Doors {
		d := &o.plan.Doors[i]
		if _, crosses := (segment{d.A, d.B}).crossing(p, q); crosses {
			factor *= fromDecibels(d.Loss * (1 - o.opened[i]))
		}
	}
	return factor
}
