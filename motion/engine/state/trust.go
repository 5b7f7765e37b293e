package state

import (
	"sensegate/motion"
	"sensegate/motion/fuse"
)

// Unauthenticated reports whether an end of a link is a node that shows no secret of its own, so that
// anybody on the Wi-Fi can imitate it; n.Mu is held.
func (n *Network) Unauthenticated(key fuse.Link) bool { return n.FactsOf(key).Unauthenticated }

// showsNoSecret reports whether an id is that of a node which shows no secret of its own.
func (n *Network) showsNoSecret(id motion.NodeID) bool {
	node, known := n.Nodes[id]
	return known && !motion.Authenticated(node.DeviceID)
}

// AuthenticatedLinks returns the names of the links that are not unauthenticated, and whether there are others;
// n.Mu is held.
func (n *Network) AuthenticatedLinks() (names []string, others bool) {
	for name, link := range n.Links {
		if !n.showsNoSecret(link.Dst) && !n.showsNoSecret(link.Src) {
			names = append(names, name)
		}
	}
	return names, len(names) < len(n.Links)
}

// LastAuthenticated returns when an authenticated link, or the guardian, last saw motion; n.Mu is held.
func (n *Network) LastAuthenticated() motion.Time {
	return max(n.Sense.AuthenticatedMotion(), n.Heartbeat.LastMotion)
}
