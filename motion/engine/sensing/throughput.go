package sensing

import (
	"math"

	"sensegate/motion"
	"sensegate/motion/engine/events"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
)

// Rules of LinkLowThroughputEvent (payloads.md 4.8, 4.11 link_events; what they
// leave open is decided here).
const (
	// throughputMargin is how far above the threshold sounding counts as good again.
	throughputMargin = 0.1
	// throughputGap is the longest time between two readings of a link that counts; in
	// a longer one nothing is known.
	throughputGap motion.Seconds = 5
	// throughputFresh is how long a figure that a node reported itself is the link's
	// throughput.
	throughputFresh motion.Seconds = 2
)

// throughputWatch finds the links of a network whose sounding fails. Only links
// that give cause for it are in it. Its network's mutex guards it.
type throughputWatch struct {
	links    map[fuse.Link]*starved
	reported map[fuse.Link]reportedThroughput
}

// reportedThroughput is what a node said of its link.
type reportedThroughput struct {
	at    motion.Time
	value float64
}

// starved balances how long a link's throughput was low against how long it was
// good. It becomes low when the balance reaches low_throughput_s, and is good again
// when the balance is back at 0; a few good samples in a bad minute change nothing,
// and between two events of a link lie low_throughput_s of good throughput at least.
type starved struct {
	low     bool
	balance motion.Seconds // 0..low_throughput_s
	last    motion.Time    // of the last reading
	// Of the readings since the balance last was 0.
	sum, readings float64
}

// add takes the reading x, 0..1, of a sample that ends at t. It reports whether the
// link has just become low.
func (s *starved) add(x float64, t motion.Time, interval motion.Seconds, c motion.LinkEvents) bool {
	step := interval
	if since := t.Since(s.last); !s.last.IsZero() && since > interval && since <= throughputGap {
		step = since
	}
	s.last = t
	limit := max(motion.Seconds(c.LowThroughputS), 1)
	s.sum, s.readings = s.sum+x, s.readings+1
	switch {
	case x < c.LowThroughput:
		s.balance += step
	case x >= min(1, c.LowThroughput+throughputMargin):
		s.balance -= step
	}
	s.balance = max(0, min(s.balance, limit))
	switch {
	case s.balance == 0:
		s.low, s.sum, s.readings = false, 0, 0
	case !s.low && s.balance == limit:
		s.low = true
		return true
	}
	return false
}

// mean returns the mean of the readings.
func (s *starved) mean() float64 { return s.sum / max(1, s.readings) }

// idle reports whether there is nothing to remember.
func (s *starved) idle() bool { return !s.low && s.balance == 0 }

// reportThroughput notes the throughput that a node found for a link itself; the
// own engine knows only how regularly its figures come. n.Mu is held.
func (n *network) reportThroughput(key fuse.Link, value float64, at motion.Time) {
	if math.IsNaN(value) {
		return
	}
	if n.throughput.reported == nil || len(n.throughput.reported) > state.MaxNames {
		n.throughput.reported = map[fuse.Link]reportedThroughput{}
	}
	n.throughput.reported[key] = reportedThroughput{at, max(0, min(value, 1))}
}

// mergeThroughput puts what nodes reported into a sample of the own engine; n.Mu is
// held.
func (n *network) mergeThroughput(s *fuse.Sample) {
	for i := range s.Links {
		l := &s.Links[i]
		if l.Throughput.Known() {
			l.Throughput = n.lesserThroughput(l.Link, l.Throughput, s.Time)
		}
	}
}

// lesserThroughput returns the lesser of what the detector found of a link at a time and what
// the node reported around then; n.Mu is held.
func (n *network) lesserThroughput(key fuse.Link, found fuse.Reading, at motion.Time) fuse.Reading {
	reported, ok := n.throughput.reported[key]
	if ok && math.Abs(at.Since(reported.at)) <= throughputFresh {
		return min(found, fuse.Reading(reported.value))
	}
	return found
}

// watchThroughput raises the events of the links of a sample whose throughput has
// become low. A guardian that raises events itself raises these too
// (payloads.md 6 no. 4). n.Mu is held.
func (se *Sensing) watchThroughput(n *network, s *fuse.Sample) {
	config := n.Guardian.LinkEvents
	if config.Enabled != 1 || n.Source.GuardianDecides() {
		n.throughput.links = nil
		return
	}
	if n.throughput.links == nil || len(n.throughput.links) > state.MaxNames {
		n.throughput.links = map[fuse.Link]*starved{}
	}
	for i := range s.Links {
		l := &s.Links[i]
		if !l.Throughput.Known() {
			continue
		}
		link := n.throughput.links[l.Link]
		if link == nil {
			link = &starved{}
			n.throughput.links[l.Link] = link
		}
		if link.add(float64(l.Throughput), s.Time, s.Interval, config) {
			se.events.Queue(events.Entry{Event: n.lowThroughputEvent(l.Link, link.mean(), s.Time)})
		}
		if link.idle() {
			delete(n.throughput.links, l.Link)
		}
	}
}

// lowThroughputEvent makes the event record of a link (payloads.md 4.8).
func (n *network) lowThroughputEvent(key fuse.Link, mean float64, at motion.Time) motion.Event {
	name, dst, src := n.LinkName(key)
	event := motion.Event{
		Event: motion.LinkLowThroughputEvent, NetworkID: n.ID, GuardianID: n.Record.GuardianID,
		TS: at, LinkID: name, LinkDstName: dst, LinkSrcName: src, NodeName: dst,
		Detail: motion.Document{"throughput": motion.Round(mean, 2), "threshold": n.Guardian.LinkEvents.LowThroughput},
	}
	if node, ok := n.EndOf(key.Dst); ok {
		event.NodeID = node.ID
	}
	return event
}
