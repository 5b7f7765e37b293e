package compare

import (
	"math"

	"sensegate/firmware-sim/capture"
	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/motion"
)

// twinOf returns a synthetic recording with the times, labels, layout and kind of
// receiver of a loaded real one. In a room of its own, a person walks about while the
// label is motion and rests while it is still; the room is empty while it is quiet.
func twinOf(r *capture.Recording, variant uint64) *capture.Recording {
	room := newRoom(chance.Text(r.Group+"/"+r.Name) + variant)
	device := channel.DeviceOf(r.Header.Chip)
	device.Ripple *= math.Exp(0.7 * (2*chance.Unit(room.seed, 5) - 1)) // no two receivers are alike
	if !r.Header.GainLocked && device.GainStep == 0 {
		device.Gain, device.GainStep = 0.1, 1
	}
	config := channel.Config{Seed: room.seed, Plan: room.plan, From: room.from, To: room.to, Layout: layoutOf(&r.Header), Device: device}
	link := channel.NewLink(config)
	if r.Header.Rate < lowRate {
		room.pace = calmPace
	}
	scene := channel.Scene{Bodies: append(room.bodies(r.Frames), room.neighbour(r.Frames))}
	twin := *r
	twin.Frames = make([]capture.Frame, len(r.Frames))
	for i, f := range r.Frames {
		data, rssi := link.Measure(nil, uint64(i), motion.Time(f.Time), &scene)
		twin.Frames[i] = capture.Frame{Time: f.Time, Label: f.Label, RSSI: rssi, Data: data}
	}
	return &twin
}

// layoutOf returns the layout of a capture.
func layoutOf(h *capture.Header) channel.Layout {
	if h.Kind == capture.AmplitudeBytes {
		return channel.LegacyHT()
	}
	return channel.LayoutOf(h.Chip)
}

// room is the room of a twin.
type room struct {
	seed     uint64
	plan     *channel.Plan
	area     channel.Area
	from, to channel.Point
	pace     float64 // of people who walk, m/s
}

// The paces of people in the recordings: those at a low rate show slower movement.
const (
	usualPace = 1
	calmPace  = 0.3
	lowRate   = 20 // Hz
)

// newRoom returns a furnished room of 10.5 to 27.5 m² with two antennas more than 2 m
// apart.
func newRoom(seed uint64) *room {
	draw := func(low, high float64, key uint64) float64 { return chance.Between(low, high, seed, key) }
	width, depth := draw(3.5, 5.5, 1), draw(3, 5, 2)
	corner := func(x, y float64) channel.Point { return channel.Point{X: x, Y: y} }
	r := &room{seed: seed, pace: usualPace, area: channel.Area{Max: corner(width, depth)}}
	corners := []channel.Point{corner(0, 0), corner(width, 0), corner(width, depth), corner(0, depth)}
	r.plan = &channel.Plan{}
	for i, a := range corners {
		r.plan.Walls = append(r.plan.Walls, channel.Wall{A: a, B: corners[(i+1)%4], Loss: 8, Reflection: draw(0.4, 0.7, 10+uint64(i))})
	}
	for i := range uint64(4) {
		at := r.area.Spot(seed, 20+i)
		at.Z = draw(0.2, 1.8, 30+i)
		r.plan.Reflectors = append(r.plan.Reflectors, channel.Reflector{At: at, Size: draw(0.2, 1.5, 40+i)})
	}
	for key := uint64(50); ; key += 2 {
		r.from, r.to = r.area.Spot(seed, key), r.area.Spot(seed, key+1)
		r.from.Z, r.to.Z = draw(0.6, 1.6, key), draw(0.6, 1.6, key+1)
		if r.from.Distance(r.to) > 2 {
			return r
		}
	}
}

// lead is the time by which walks exceed the labelled motion at both ends, in seconds,
// so that the motion neither begins nor ends at rest.
const lead = 2

// bodies returns a person who is present while the labels are motion or still, and
// walks about while they are motion; nil if there are no such labels.
func (r *room) bodies(frames []capture.Frame) []channel.Body {
	seat := r.area.Spot(r.seed, 3)
	var knots []channel.Knot
	var present []channel.Span
	for i := 0; i < len(frames); {
		end := i + 1
		for end < len(frames) && frames[end].Label == frames[i].Label {
			end++
		}
		from, to := motion.Time(frames[i].Time), motion.Time(frames[end-1].Time)
		if end < len(frames) {
			to = motion.Time(frames[end].Time)
		}
		switch label := frames[i].Label; label {
		case capture.Motion:
			speed := r.pace * (0.6 + 0.8*chance.Unit(r.seed, uint64(i), 4))
			begin := from.Add(-lead)
			if n := len(knots); n > 0 {
				begin = max(begin, knots[n-1].Time)
			}
			knots = r.area.Wander(knots, r.seed+uint64(i), seat, seat, begin, to.Add(lead), speed)
			present = append(present, channel.Span{From: from, To: to})
		case capture.Still:
			present = append(present, channel.Span{From: from, To: to})
		}
		i = end
	}
	if present == nil {
		return nil
	}
	if knots == nil {
		knots = []channel.Knot{{At: seat}}
	}
	return []channel.Body{{Kind: channel.Person, Seed: r.seed, Track: channel.NewTrack(knots), Present: present}}
}

// neighbour returns a person in the next room who walks two fifths of the time: no
// recording was made in a detached house.
func (r *room) neighbour(frames []capture.Frame) channel.Body {
	const (
		turn   = 20.0 // s
		active = 0.4
	)
	beyond := channel.Area{Min: channel.Point{X: r.area.Max.X + 0.2}, Max: channel.Point{X: r.area.Max.X + 3.5, Y: r.area.Max.Y}}
	seat := beyond.Center()
	var knots []channel.Knot
	for n, end := 0, int(frames[len(frames)-1].Time/turn); n <= end; n++ {
		if chance.Unit(r.seed, uint64(n), 6) < active {
			knots = beyond.Wander(knots, r.seed+uint64(n), seat, seat, motion.Time(turn*float64(n)), motion.Time(turn*float64(n+1)-1), r.pace)
		}
	}
	if knots == nil {
		knots = []channel.Knot{{At: seat}}
	}
	return channel.Body{Kind: channel.Person, Seed: r.seed + 1, Track: channel.NewTrack(knots)}
}
