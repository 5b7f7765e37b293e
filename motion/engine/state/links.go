package state

import (
	"cmp"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fuse"
	"sensegate/motion/setting"
)

// LinkOnline reports whether a link is there: it delivered data lately, or a
// guardian that is alive lists it.
func (n *Network) LinkOnline(link *Link, now motion.Time) bool {
	return link.Online && (now.Since(link.Heard) <= SilentAfter || now.Since(n.Reported) <= SilentAfter)
}

// Denied reports whether the settings keep a link from taking part; n.Mu is held.
func (n *Network) Denied(link *Link) bool {
	from, ok := n.endNamed(link.SrcName)
	return ok && !n.MayTakePart(fuse.Link{Src: from.mac})
}

// MayTakePart reports whether the settings let a link take part in motion: sounding
// is on, and its source is not denied; n.Mu is held.
func (n *Network) MayTakePart(key fuse.Link) bool {
	if n.Radar.Sounding.Enabled == 0 {
		return false
	}
	if id, isNode := n.ByMAC[key.Src]; isNode {
		return !slices.Contains(n.Radar.MeshSounding.Disabled, n.Nodes[id].DeviceID)
	}
	return cmp.Or(setting.Client(n.Radar, key.Src).Mode, n.Radar.Sounding.Mode) != setting.Deny
}

// OwnSens returns the sensitivity that a link's source has of its own, 1..4, 0: none; n.Mu is held.
func (n *Network) OwnSens(key fuse.Link) int {
	sources := []motion.MAC{key.Src}
	if id, isNode := n.ByMAC[key.Src]; isNode {
		sources = Addresses(n.Nodes[id], n.Radars[id].Interfaces)
	}
	return setting.Client(n.Radar, sources...).Sens
}

// Rated returns the best selection score that a guardian which is alive gives a
// leaf; n.Mu is held.
func (n *Network) Rated(mac motion.MAC, now motion.Time) (score float64, rated bool) {
	if n.Status == nil || now.Since(n.Reported) > SilentAfter {
		return 0, false
	}
	score = -1
	for _, s := range n.Status.Leafblower[mac.String()].AP {
		score, rated = max(score, min(s, 1)), true
	}
	return score, rated
}

// Listed returns what the guardian's last full report says of a node; n.Mu is held.
func (n *Network) Listed(name string) (motion.Radar, bool) {
	if n.Status == nil {
		return motion.Radar{}, false
	}
	radar, ok := n.Status.Radars[name]
	return radar, ok
}

// ScoreOf returns the share of the sounding of a link that succeeds, 0..1 with two
// decimals; 0 when it is not known.
func ScoreOf(link *Link) float64 {
	if !link.Throughput.Known() {
		return 0
	}
	return motion.Round(max(0, min(float64(link.Throughput), 1)), 2)
}

// SoundsNow reports whether a link takes part in sounding: it is there, its record says
// so, and neither the settings nor the leaf blower leave it out.
func (n *Network) SoundsNow(link *Link, now motion.Time) bool {
	return n.LinkOnline(link, now) && link.Sounding && !n.Denied(link) && link.LeftOut == ""
}

// The interface names of links that no status report has listed: a report that lists
// one gives it its own.
const (
	SensedInterface = "csi"      // of links that raw reports have made known
	MatrixInterface = "guardian" // of links that a guardian names in its figures alone
)

// SensedHere reports whether a link is known from what was measured alone, so that its
// silence is noticed here and not by a guardian.
func SensedHere(link motion.Link) bool {
	return link.IfName == SensedInterface || link.IfName == MatrixInterface
}

// Reasons why a device is not sounded (payloads.md 4.5).
const (
	ReasonNone      = "N/A"
	ReasonPaused    = "PAUSED"
	ReasonOffline   = "OFFLINE"
	ReasonDenied    = "DENIED"
	ReasonMobile    = "MOBILE"
	ReasonLowScore  = "LOW_SCORE"
	ReasonLinkLimit = "LINK_LIMIT"
)
