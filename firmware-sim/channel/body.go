package channel

import (
	"math"
	"slices"

	"sensegate/firmware-sim/chance"
	"sensegate/motion"
)

// Kind is what a body is.
type Kind uint8

// The kinds of bodies.
const (
	Person Kind = iota
	Pet
	Fan
)

// Body is something that moves along its track and in its parts. A person
// breathes, sways, swings arms and legs while walking and sometimes moves a hand
// while sitting; a pet does the same on a smaller scale; the blades of a fan turn
// and its head swings.
type Body struct {
	Kind    Kind
	Seed    uint64
	Track   *Track
	Present []Span // when it is there, or the fan is on; nil = always
	Asleep  []Span // when it lies still and only breathes
}

// present reports whether the body is there at t.
func (b *Body) present(t motion.Time) bool {
	if b.Present == nil {
		return true
	}
	return holds(b.Present, t)
}

// holds reports whether t lies in one of the spans.
func holds(spans []Span, t motion.Time) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return s.Holds(t) })
}

// part is one scatterer of a body.
type part struct {
	at   Point
	root float64 // √σ, m
}

// lobe returns how many times more of the amplitude a body of the kind sends straight on than back. Of what is wider than
// a wavelength it is √(4π)·A/(λ√σ), where A is the area that it shows and σ its radar cross-section backwards
// (Glaser, 1985): some 12 for a torso of 0.2 m² at 2.4 GHz, 5 for a pet of 0.02 m². 8 fits recordings best.
func (k Kind) lobe() float64 {
	if k == Fan {
		return 0
	}
	return 8
}

// maxParts is the most scatterers that a body has.
const maxParts = 6

// build is the size of a body that walks.
type build struct {
	torso, limb     float64 // radar cross-section backwards, m²
	height          float64 // of the torso, m
	swing           float64 // of a limb, m
	stride          float64 // m per cycle of the legs
	breath, sway    float64 // m
	breathing       float64 // Hz
	fidget, restful float64 // movement of a hand, m; share of the time without it
}

// buildOf returns the build of a kind. A person's chest moves by 4–12 mm at
// 0.2–0.34 Hz, but it is a small part of what scatters. Breath and sway are those
// of the whole body, chosen so that the detector reports motion of people who sit
// still about as often as in real rooms.
func buildOf(kind Kind) build {
	if kind == Pet {
		return build{torso: 0.012, limb: 0.0025, height: 0.3, swing: 0.1, stride: 0.6, breath: 0.001, sway: 0.0005, breathing: 0.5, fidget: 0.03, restful: 0.9}
	}
	return build{torso: 0.2, limb: 0.04, height: 1.1, swing: 0.28, stride: 1.4, breath: 0.0025, sway: 0.0018, breathing: 0.26, fidget: 0.06, restful: 0.975}
}

// parts appends the scatterers of the body at t to dst.
func (b *Body) parts(dst []part, t motion.Time) []part {
	if b.Kind == Fan {
		return b.blades(dst, t)
	}
	k := buildOf(b.Kind)
	uneven := 1.0
	if holds(b.Asleep, t) {
		k.breath, k.sway, k.fidget, uneven = k.breath/2, 0, 0, 0.5
	}
	s := b.Track.state(t)
	speed := math.Hypot(s.vx, s.vy)
	fx, fy := b.facing(s, speed)
	seconds := float64(t)
	chest := k.breath * b.swings(1, k.breathing, uneven, seconds)
	lean := k.sway * b.swings(2, 0.31, uneven, seconds)
	center := Point{s.at.X + fx*chest + fy*lean, s.at.Y + fy*chest - fx*lean, s.at.Z + k.height}
	dst = append(dst, part{center, math.Sqrt(k.torso)})
	swing := k.swing * math.Min(1, speed/0.8)
	gait := 2*math.Pi*s.walked/k.stride + b.phase(3)
	for limb := range 4 {
		side := float64(1 - 2*(limb%2))
		height, along := 0.45, swing*math.Sin(gait+math.Pi*float64(limb%2))
		if limb < 2 {
			height, along = 0.95, -0.8*along+b.fidgeting(k, limb, seconds)
		}
		dst = append(dst, part{Point{
			center.X + fx*along + fy*side*0.2*k.height, center.Y + fy*along - fx*side*0.2*k.height, s.at.Z + height*k.height,
		}, math.Sqrt(k.limb)})
	}
	return dst
}

// swings returns the displacement at a moment of a part that swings about its place at a mean frequency, in amplitudes.
// People are no clocks: from breath to breath the frequency of one awake varies by 21 % and the depth by 33 %
// (standard deviations; Tobin et al., 1988), with a memory of some three breaths and slower drifts. uneven scales that.
func (b *Body) swings(of uint64, frequency, uneven, seconds float64) float64 {
	astray := 1.5*b.wander(of, 4, seconds) + 3.2*b.wander(of, 15, seconds) + 10*b.wander(of, 60, seconds) // rad
	depth := 1 + 0.65*uneven*b.wander(of+swingKeys, 4, seconds)
	return depth * math.Sin(2*math.Pi*frequency*seconds+uneven*astray+b.phase(of))
}

// swingKeys sets the draws of depths apart from those of frequencies.
const swingKeys = 100

// wander returns a smooth random function of time between -1 and 1, whose knots are every seconds apart.
func (b *Body) wander(of uint64, every, seconds float64) float64 {
	turn, u := math.Modf(seconds / every)
	from := 2*chance.Unit(b.Seed, of, uint64(every), uint64(turn)) - 1
	to := 2*chance.Unit(b.Seed, of, uint64(every), uint64(turn+1)) - 1
	return from + (to-from)*u*u*(3-2*u)
}

// facing returns the unit vector in which the body looks: its direction of travel,
// or at rest a fixed one drawn from the seed.
func (b *Body) facing(s state, speed float64) (x, y float64) {
	if speed > 0.05 {
		return s.vx / speed, s.vy / speed
	}
	sin, cos := math.Sincos(b.phase(4))
	return cos, sin
}

// fidgetS is the duration of one movement of a hand, in seconds.
const fidgetS = 4.0

// fidgeting returns the displacement of a hand, in metres.
func (b *Body) fidgeting(k build, hand int, seconds float64) float64 {
	turn, rest := math.Modf(seconds / fidgetS)
	if chance.Unit(b.Seed, uint64(turn), uint64(hand), 11) < k.restful {
		return 0
	}
	return k.fidget * math.Pow(math.Sin(math.Pi*rest), 2) * math.Sin(2*math.Pi*0.7*seconds)
}

// blades appends the scatterers of a fan.
func (b *Body) blades(dst []part, t motion.Time) []part {
	const (
		blades, radius = 3, 0.16
		turns          = 6.5  // a second
		swings         = 0.07 // of the head, a second
	)
	at, seconds := b.Track.At(t), float64(t)
	yaw := b.phase(5) + 0.7*math.Sin(2*math.Pi*swings*seconds)
	sin, cos := math.Sincos(yaw)
	for blade := range blades {
		angle := 2 * math.Pi * (math.Mod(turns*seconds, 1) + float64(blade)/blades)
		across := radius * math.Cos(angle)
		dst = append(dst, part{Point{at.X - sin*across, at.Y + cos*across, at.Z + radius*math.Sin(angle)}, math.Sqrt(0.015)})
	}
	return append(dst, part{Point{at.X + 0.1*cos, at.Y + 0.1*sin, at.Z}, math.Sqrt(0.02)})
}

// phase returns an angle drawn from the body's seed, in radians.
func (b *Body) phase(of uint64) float64 { return 2 * math.Pi * chance.Unit(b.Seed, of) }
