package evaluate

import (
	"cmp"
	"math"
	"slices"

	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

// What happens to the radio of a quiet home. The rates are plain figures, chosen before anything was measured.
const (
	retryShare     = 0.03 // of frames that are sent twice
	busyShare      = 0.05 // of minutes in which a neighbour's network is busy …
	busyRetries    = 0.3  // … the share of frames that are sent twice then …
	busyLoss       = 0.3  // … and of those that are lost
	retryDelay     = 0.003
	changeSilence  = 6.0  // s, of a network that goes to another channel
	restartSilence = 12.0 // s, of a node that starts anew

	neighbourEvery = 3600.0 // s, how often somebody walks next door …
	neighbourStays = 300.0  // … and how long, s
	neighbourGap   = 1.5    // m, from the outer wall …
	neighbourDepth = 3.0    // … to where they walk at most
)

// carriers are the centres of the channels 1, 6 and 11, Hz.
func carriers() []float64 { return []float64{2.412e9, 2.437e9, 2.462e9} }

// stretch is how the radio of a link is from a time on.
type stretch struct {
	from   motion.Time // silent before it, since the end of the former one
	link   *channel.Link
	format uint32
}

// disturbed is a link whose radio is disturbed as in homes: frames are sent twice or lost, its network goes to
// another channel, and its node starts anew, now and then.
type disturbed struct {
	seed      uint64
	stretches []stretch // in order; the first begins at once
	silences  []channel.Span
	frames    []channel.Frame
	again     []byte
}

// disturb returns a link in [from, to): its network goes to another channel once, and its node starts
// anew once.
func disturb(config channel.Config, link scenario.Link, seed uint64, from, to motion.Time) *disturbed {
	d := &disturbed{seed: chance.Mix(seed, uint64(link.Leaf+1), uint64(link.Peer+1), 51)}
	first := chance.Mix(seed, 52) % 3
	mesh := link.Peer >= 0
	radio := func(at motion.Time, turn uint64) {
		format := uint32(36)
		if !mesh {
			config.Carrier = carriers()[(first+turn)%3]
			format = uint32(1 + 5*((first+turn)%3))
		}
		d.stretches = append(d.stretches, stretch{at, channel.NewLink(config), format})
	}
	radio(from, 0)
	moment := func(keys ...uint64) motion.Time {
		return from.Add(chance.Between(0.1, 0.9, seed, keys...) * to.Since(from))
	}
	changes, restarts := moment(53), moment(54, uint64(link.Node))
	turn := func() {
		d.silences = append(d.silences, channel.Span{From: changes, To: changes.Add(changeSilence)})
		radio(changes.Add(changeSilence), 1)
	}
	restart := func(after uint64) {
		d.silences = append(d.silences, channel.Span{From: restarts, To: restarts.Add(restartSilence)})
		config.Device.Offset = chance.Between(-0.015, 0.015, seed, uint64(link.Node), 55)
		config.Device.Counts *= chance.Between(0.8, 1.25, seed, uint64(link.Node), 56) // it sets its gain anew
		radio(restarts.Add(restartSilence), after)
	}
	switch {
	case mesh:
		restart(0)
	case changes < restarts:
		turn()
		restart(1)
	default:
		restart(0)
		turn()
	}
	return d
}

// sound returns the frames of [from, to) and their format. They are valid until the next call.
func (d *disturbed) sound(from, to motion.Time, scene *channel.Scene) ([]channel.Frame, uint32) {
	at := len(d.stretches) - 1
	for at > 0 && d.stretches[at].from > from {
		at--
	}
	now := &d.stretches[at]
	d.frames, d.again = now.link.Sound(d.frames[:0], from, to, scene), d.again[:0]
	busy := chance.Unit(d.seed, uint64(math.Floor(float64(from)/60)), 57) < busyShare
	retries, loss := retryShare, 0.0
	if busy {
		retries, loss = busyRetries, busyLoss
	}
	heard := d.frames[:0]
	var late []channel.Frame
	for _, f := range d.frames {
		switch {
		case slices.ContainsFunc(d.silences, func(s channel.Span) bool { return s.Holds(f.Time) }):
			continue
		case chance.Unit(d.seed, f.Number, 58) < retries:
			again := f
			again.Time, again.Stamp = f.Time.Add(retryDelay), f.Stamp.Add(retryDelay)
			begin := len(d.again)
			d.again, again.RSSI = now.link.Measure(d.again, f.Number|1<<60, again.Time, scene)
			again.Data = d.again[begin:len(d.again):len(d.again)]
			late = append(late, again)
		}
		if loss == 0 || chance.Unit(d.seed, f.Number, 59) >= loss {
			heard = append(heard, f)
		}
	}
	if len(late) > 0 {
		heard = append(heard, late...)
		slices.SortFunc(heard, func(a, b channel.Frame) int { return cmp.Compare(a.Time, b.Time) })
	}
	return heard, now.format
}

// neighbour returns somebody who walks about behind an outer wall of a home, for some minutes of each hour.
func neighbour(home *scenario.Scenario, seed uint64, from, to motion.Time) channel.Body {
	var whole channel.Area
	for i, r := range home.Rooms {
		a := r.Area()
		if i == 0 {
			whole = a
		}
		whole.Min.X, whole.Min.Y = min(whole.Min.X, a.Min.X), min(whole.Min.Y, a.Min.Y)
		whole.Max.X, whole.Max.Y = max(whole.Max.X, a.Max.X), max(whole.Max.Y, a.Max.Y)
	}
	beside := channel.Area{
		Min: channel.Point{X: whole.Max.X + neighbourGap, Y: whole.Min.Y},
		Max: channel.Point{X: whole.Max.X + neighbourGap + neighbourDepth, Y: whole.Max.Y},
	}
	at := beside.Center()
	body := channel.Body{Seed: chance.Mix(seed, 61)}
	var knots []channel.Knot
	for hour := from; hour < to; hour = hour.Add(neighbourEvery) {
		begin := hour.Add(chance.Between(0, neighbourEvery-neighbourStays, seed, uint64(hour), 62))
		end := begin.Add(neighbourStays)
		knots = beside.Wander(knots, chance.Mix(seed, uint64(hour), 63), at, at, begin, end, 0.7)
		body.Present = append(body.Present, channel.Span{From: begin, To: end})
	}
	body.Track = channel.NewTrack(knots)
	return body
}
