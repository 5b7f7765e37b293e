package engine

import (
	"encoding/json"
	"math"

	"sensegate/motion"
	"sensegate/motion/fuse"
	"sensegate/motion/series"
	"sensegate/store"
)

// absorb takes in the samples that the last report has completed; n.mu is held.
func (e *Engine) absorb(n *network) {
	for _, r := range n.sensing.ready {
		n.mergeThroughput(&r.sample)
		e.takeSample(n, &r.sample)
		n.sensing.free = append(n.sensing.free, r)
	}
	n.sensing.ready = n.sensing.ready[:0]
	for _, change := range n.sensing.noisy {
		e.recorder.append(entry{event: n.noiseEvent(change)})
	}
	n.sensing.noisy = n.sensing.noisy[:0]
}

// takeSample stores one network sample, moves the event machine on, and shows the sample to live readers; n.mu is held.
func (e *Engine) takeSample(n *network, s *fuse.Sample) {
	if n.record.Paused() || n.deletions > 0 {
		return
	}
	if s.Valid {
		n.live.values = appendValues(n.live.values[:0], n, s)
	}
	if s.Valid && n.guardian.MotionHistory.Enabled != 0 {
		e.samples.Add(n.id, s.Time.Add(-s.Interval), n.live.values)
	}
	if transition, ok := n.sensing.events.Add(s); ok {
		e.transition(n, transition)
	}
	e.watchThroughput(n, s)
	if s.Valid {
		n.live.last = s.Time
		e.publishLive(n, s)
	}
}

// appendValues lists what of a sample goes into the history: the network's
// intensity, each link's, and the share of motion near each source: that of a
// zone lies near its strongest link.
func appendValues(values []store.Value, n *network, s *fuse.Sample) []store.Value {
	values = append(values, store.Value{ID: series.Network, Value: float64(s.Intensity)})
	for i := range s.Links {
		l := &s.Links[i]
		if !l.Intensity.Known() {
			continue
		}
		name, _, _ := n.linkName(l.Link)
		if link := n.links[name]; link != nil {
			link.throughput = l.Throughput
		}
		values = append(values, store.Value{ID: series.Link(name), Value: float64(l.Intensity)})
		values = raise(values, series.Location(l.Link.Src), 0)
	}
	for i := range s.Zones {
		values = raise(values, series.Location(s.Zones[i].Link.Src), s.Zones[i].Share)
	}
	return values
}

// raise makes sure that values holds at least v for a series, once.
func raise(values []store.Value, id series.ID, v float64) []store.Value {
	for i := range values {
		if values[i].ID == id {
			values[i].Value = max(values[i].Value, v)
			return values
		}
	}
	return append(values, store.Value{ID: id, Value: v})
}

// transition records what the event machine has decided; n.mu is held.
func (e *Engine) transition(n *network, t fuse.Transition) {
	state, err := json.Marshal(n.sensing.events.State())
	if err != nil {
		e.log.Error("event state not stored", "network", n.id, "err", err)
	}
	e.recorder.append(entry{event: n.motionEvent(t), state: state})
}

// motionEvent makes the event record of a transition.
func (n *network) motionEvent(t fuse.Transition) motion.Event {
	d := t.Detection
	name, dst, src := n.linkName(d.Link)
	armed := 0
	if d.Armed {
		armed = 1
	}
	event := motion.Event{
		Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent,
		NetworkID: n.id, GuardianID: n.record.GuardianID, TS: t.Time,
		IntensityWindow: rounded(d.Window.Floats(), 3),
		LinkID:          name, LinkDstName: dst, LinkSrcName: src,
		Armed: &armed,
	}
	if node, ok := n.endOf(d.Link.Dst); ok {
		event.NodeID, event.NodeName = node.id, node.name
	}
	for _, place := range d.Places {
		event.Loc = append(event.Loc, n.eventLoc(place))
	}
	if len(event.Loc) > 0 {
		event.LocName = n.placeName(event.Loc[0].MAC)
	}
	if t.Kind == fuse.Detected {
		return event
	}
	event.Event, event.DetectedTS = motion.MotionStoppedEvent, d.Time
	event.Debug = &motion.EventDebug{
		LinkSens: map[string]float64{}, Links: []string{},
		MSAD: rounded(d.MSAD.Floats(), 2), MConf: rounded(d.MConf.Floats(), 2),
		Sens: n.guardian.MotionEvents.Sens,
	}
	for _, key := range d.Links {
		link, _, _ := n.linkName(key)
		event.Debug.Links = append(event.Debug.Links, link)
	}
	if t.Reason != fuse.Quiet {
		event.Detail = motion.Document{"reason": string(t.Reason)}
	}
	return event
}

// eventLoc describes a place in motion.
func (n *network) eventLoc(place fuse.Place) motion.EventLoc {
	loc := motion.EventLoc{MAC: place.Link.Src.String(), Confidence: round(place.Confidence, 2)}
	if e, ok := n.endOf(place.Link.Src); ok {
		loc.Location, loc.FriendlyName = e.location, e.friendly
	}
	return loc
}

// placeName returns how people call the place near an address: its location,
// else the friendly name, else the address.
func (n *network) placeName(mac string) string {
	parsed, err := motion.ParseMAC(mac)
	if err != nil {
		return mac
	}
	e, ok := n.endOf(parsed)
	switch {
	case ok && e.location != "":
		return e.location
	case ok && e.friendly != "":
		return e.friendly
	case ok && e.mesh:
		return e.name
	}
	return mac
}

// noiseEvent tells that a link was marked noisy, or no longer is
// (lm1.md 4 no. 5).
func (n *network) noiseEvent(change fuse.NoiseChange) motion.Event {
	name, dst, src := n.linkName(change.Link)
	return motion.Event{
		Event: motion.LinkNoisyEvent, NetworkID: n.id, GuardianID: n.record.GuardianID,
		TS: change.Time, LinkID: name, LinkDstName: dst, LinkSrcName: src,
		Detail: motion.Document{"noisy": change.Noisy, "location": n.placeName(change.Link.Src.String())},
	}
}

// round returns v with so many decimals.
func round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(v*scale) / scale
}

func rounded(values []float64, decimals int) []float64 {
	for i := range values {
		values[i] = round(values[i], decimals)
	}
	return values
}
