package sensing

import (
	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
)

// claim is Source.Claim for a network, with the event machine brought in line;
// n.Mu is held.
func (se *Sensing) claim(n *network, h state.Holder, now motion.Time) bool {
	before := n.Source
	if !n.Source.Claim(h, now) {
		return false
	}
	if before.Events && !n.Source.Events {
		se.configureEvents(n, now, byOtherSource)
	}
	return true
}

// guardianRaises notes that the guardian raises motion events itself. A detection
// of ours that is open ends: the guardian's own takes its place. n.Mu is held.
func (se *Sensing) guardianRaises(n *network, now motion.Time) {
	if n.Source.Events {
		return
	}
	n.Source.Events = true
	se.configureEvents(n, now, byOtherSource)
}

// byOtherSource is the reason of a detection that ended because somebody else
// decides from now on.
const byOtherSource fuse.Reason = "source"

// configureEvents puts what the event machine depends on in force; n.Mu is held.
// reason, unless empty, is why a detection that ends by it has ended.
func (se *Sensing) configureEvents(n *network, now motion.Time, reason fuse.Reason) {
	transition, ended := n.pipeline.machine.Configure(n.Reach.At(now), n.eventConfig())
	if !ended {
		return
	}
	if reason != "" {
		transition.Reason = reason
	}
	se.transition(n, transition)
}

// eventConfig returns how the event machine is to run: as the documents say, and
// not at all while the guardian raises events itself.
func (n *network) eventConfig() fuse.Config {
	config := fuse.ConfigOf(n.Guardian.MotionEvents, n.Record.Paused())
	config.Enabled = config.Enabled && !n.Source.Events
	return config
}
