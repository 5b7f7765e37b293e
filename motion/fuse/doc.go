// Package fuse combines the ticks of a network's links into one result: whether there is motion
// in the network, how much, near which zone, and when it becomes an event (lm1.md 4,
// device-protocol.md 3).
//
//	detect.Tick ─► Fuser ─► Step (0.25 s) ─► Sample (0.5 s) ─┐
//	motion-matrix, link-motion ───────────► FromLinks ───────┴─► Events ─► Transition
//
// Everything up to the Sample is decided at five sensitivities at once, as the bits of lanes: those in
// force, and each settings level for all links (Sample.Levels). The rules are written once.
//
// The package knows links, zones, samples and the event state machine. It must not know devices,
// messages, records, clocks or storage: time is the time of the data, and its state is saved and
// restored as plain values (Learned, State).
//
// A Fuser and an Events belong to one network; one goroutine at a time may use them. Ticks
// allocate nothing once every link is known. The order in which links are fed does not change a
// result, unless a link is a second behind the others; a link that starts or returns may lose
// its first tick to the order.
package fuse

import (
	"bytes"

	"sensegate/motion"
)

// Link is the key of a sounding link: from a source (leaf or node) to the
// destination (node) that receives and measures.
type Link struct {
	Src motion.MAC `json:"src"`
	Dst motion.MAC `json:"dst"`
}

// Compare orders links by destination, then by source: the order of every list
// of links in this package.
func (l Link) Compare(other Link) int {
	if c := bytes.Compare(l.Dst[:], other.Dst[:]); c != 0 {
		return c
	}
	return bytes.Compare(l.Src[:], other.Src[:])
}

// ownZone is the zone of a link whose leaf has no location: the leaf alone.
func (l Link) ownZone() string { return l.Src.String() }
