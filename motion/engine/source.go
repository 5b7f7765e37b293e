package engine

import (
	"math"

	"sensegate/motion"
	"sensegate/motion/fuse"
)

// sourceHold is how long a silent source keeps a network to itself
// (payloads.md 6 no. 4).
const sourceHold motion.Seconds = 600

// holder is a kind of source that can decide about a network's motion.
type holder string

// The holders: (a) and (b) of payloads.md 6 no. 4 are one guardian that
// does or does not send events of its own; (c) is the appliance's own engine.
const (
	nobody        holder = ""
	guardianHolds holder = "guardian"
	ownHolds      holder = "own"
)

// source says who decides about a network's motion. It survives a restart, so
// that a guardian that sends events is not doubled by the appliance meanwhile.
type source struct {
	Holder holder      `json:"holder"`
	Events bool        `json:"events"` // the guardian raises events itself
	Heard  motion.Time `json:"heard"`  // receive time of the holder's last motion report
}

// claim reports whether a source of kind h may speak for the network at now. The
// first seen holds it until it has been silent for sourceHold.
func (s *source) claim(h holder, now motion.Time) bool {
	silent := math.Abs(now.Since(s.Heard)) > sourceHold // either way: our clock may have been set back
	if s.Holder != h && s.Holder != nobody && !silent {
		return false
	}
	if s.Holder != h {
		*s = source{Holder: h}
	}
	s.Heard = now
	return true
}

// claim is source.claim for a network, with the event machine brought in line;
// n.mu is held.
func (e *Engine) claim(n *network, h holder, now motion.Time) bool {
	before := n.source
	if !n.source.claim(h, now) {
		return false
	}
	if before.Events && !n.source.Events {
		e.configureEvents(n, now, byOtherSource)
	}
	return true
}

// guardianRaises notes that the guardian raises motion events itself. A detection
// of ours that is open ends: the guardian's own takes its place. n.mu is held.
func (e *Engine) guardianRaises(n *network, now motion.Time) {
	if n.source.Events {
		return
	}
	n.source.Events = true
	e.configureEvents(n, now, byOtherSource)
}

// byOtherSource is the reason of a detection that ended because somebody else
// decides from now on.
const byOtherSource fuse.Reason = "source"

// configureEvents puts what the event machine depends on in force; n.mu is held.
// reason, unless empty, is why a detection that ends by it has ended.
func (e *Engine) configureEvents(n *network, now motion.Time, reason fuse.Reason) {
	transition, ended := n.sensing.events.Configure(n.sensing.reach.at(now), n.eventConfig())
	if !ended {
		return
	}
	if reason != "" {
		transition.Reason = reason
	}
	e.transition(n, transition)
}

// eventConfig returns how the event machine is to run: as the documents say, and
// not at all while the guardian raises events itself.
func (n *network) eventConfig() fuse.Config {
	config := fuse.ConfigOf(n.guardian.MotionEvents, n.record.Paused())
	config.Enabled = config.Enabled && !n.source.Events
	return config
}
