package sensing

import (
	"encoding/json"

	"sensegate/motion"
	"sensegate/motion/engine/events"
	"sensegate/motion/fuse"
	"sensegate/motion/series"
	"sensegate/store"
)

// absorb takes in the samples that the last report has completed; n.Mu is held.
func (se *Sensing) absorb(n *network) {
	for _, r := range n.pipeline.ready {
		n.mergeThroughput(r)
		se.takeSample(n, r)
		n.pipeline.free = append(n.pipeline.free, r)
	}
	n.pipeline.ready = n.pipeline.ready[:0]
	for _, change := range n.pipeline.noisy {
		se.events.Queue(events.Entry{Event: n.noiseEvent(change)})
	}
	n.pipeline.noisy = n.pipeline.noisy[:0]
}

// takeSample stores one network sample, moves the event machine on, and shows the sample to live readers; n.Mu is held.
func (se *Sensing) takeSample(n *network, s *fuse.Sample) {
	if n.Record.Paused() || n.Deletions > 0 {
		return
	}
	if s.Valid {
		n.noteSample(s)
	}
	if s.Valid && n.Guardian.MotionHistory.Enabled != 0 {
		se.state.Series.Add(n.ID, s.Time.Add(-s.Interval), n.pipeline.row)
		n.levels.note(s)
	}
	if transition, ok := n.pipeline.machine.Add(s); ok {
		se.transition(n, transition)
	}
	se.watchThroughput(n, s)
	if s.Valid {
		se.publishLive(n, s)
		se.publishMoment(n, s)
	}
}

// noteSample notes the throughput of a sample's links, and its row of the history: the
// network's intensity, each link's, and the share of motion near each source: that of a
// zone lies near its strongest link. It notes too whether an authenticated link is in motion. One loop does it
// all, for naming a link allocates.
func (n *network) noteSample(s *fuse.Sample) {
	row := append(n.pipeline.row[:0], store.Value{ID: series.Network, Value: float64(s.Intensity)})
	for i := range s.Links {
		l := &s.Links[i]
		if !l.Intensity.Known() {
			continue
		}
		facts := n.FactsOf(l.Link)
		if facts.Link != nil {
			facts.Link.Throughput = l.Throughput
		}
		row = append(row, store.Value{ID: series.Link(facts.Name), Value: float64(l.Intensity)})
		row = raise(row, facts.Location, 0)
		if l.Intensity > 0 && !facts.Unauthenticated {
			n.trusted = max(n.trusted, s.Time)
		}
	}
	for i := range s.Zones {
		row = raise(row, n.Location(s.Zones[i].Link), s.Zones[i].Share)
	}
	n.pipeline.row = row
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

// transition records what the event machine has decided; n.Mu is held.
func (se *Sensing) transition(n *network, t fuse.Transition) {
	raw, err := json.Marshal(n.pipeline.machine.State())
	if err != nil {
		se.state.Log.Error("event state not stored", "network", n.ID, "err", err)
	}
	se.events.Queue(events.Entry{Event: n.motionEvent(t), State: raw})
}

// motionEvent makes the event record of a transition.
func (n *network) motionEvent(t fuse.Transition) motion.Event {
	d := t.Detection
	name, dst, src := n.LinkName(d.Link)
	armed := 0
	if d.Armed {
		armed = 1
	}
	event := motion.Event{
		Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent,
		NetworkID: n.ID, GuardianID: n.Record.GuardianID, TS: t.Time,
		IntensityWindow: rounded(d.Window.Floats(), 3),
		LinkID:          name, LinkDstName: dst, LinkSrcName: src,
		Armed: &armed,
	}
	if node, ok := n.EndOf(d.Link.Dst); ok {
		event.NodeID, event.NodeName = node.ID, node.Name
	}
	for _, place := range d.Places {
		event.Loc = append(event.Loc, n.eventLoc(place))
	}
	if len(event.Loc) > 0 {
		event.LocName = n.PlaceName(event.Loc[0].MAC)
	}
	if t.Kind == fuse.Detected {
		return event
	}
	event.Event, event.DetectedTS = motion.MotionStoppedEvent, d.Time
	event.Debug = &motion.EventDebug{
		LinkSens: map[string]float64{}, Links: []string{},
		MSAD: rounded(d.MSAD.Floats(), 2), MConf: rounded(d.MConf.Floats(), 2),
		Sens: n.Guardian.MotionEvents.Sens,
	}
	for _, key := range d.Links {
		event.Debug.Links = append(event.Debug.Links, n.NameOf(key))
	}
	if t.Reason != fuse.Quiet {
		event.Detail = motion.Document{"reason": string(t.Reason)}
	}
	return event
}

// eventLoc describes a place in motion.
func (n *network) eventLoc(place fuse.Place) motion.EventLoc {
	loc := motion.EventLoc{MAC: n.Served(place.Link).String(), Confidence: motion.Round(place.Confidence, 2)}
	if e, ok := n.EndOf(n.Served(place.Link)); ok {
		loc.Location, loc.FriendlyName = e.Location, e.Friendly
	}
	return loc
}

// noiseEvent tells that a link was marked noisy, or no longer is
// (lm1.md 4 no. 5).
func (n *network) noiseEvent(change fuse.NoiseChange) motion.Event {
	name, dst, src := n.LinkName(change.Link)
	return motion.Event{
		Event: motion.LinkNoisyEvent, NetworkID: n.ID, GuardianID: n.Record.GuardianID,
		TS: change.Time, LinkID: name, LinkDstName: dst, LinkSrcName: src,
		Detail: motion.Document{"noisy": change.Noisy, "location": n.PlaceName(n.Served(change.Link).String())},
	}
}

func rounded(values []float64, decimals int) []float64 {
	for i := range values {
		values[i] = motion.Round(values[i], decimals)
	}
	return values
}
