package sensing

import (
	"cmp"
	"context"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/store"
)

// yields returns the link that gives way in a full network to a new one at a receiver, "" for
// none: one that is silent, else one of the receiver that has the most, while that has more
// than this one would have. Sources that nobody has named come first, then what was heard
// longest ago. Links between nodes stay. n.Mu is held.
func (n *network) yields(receiver motion.NodeID) (name string) {
	held := map[motion.NodeID]int{}
	for _, link := range n.Links {
		held[link.Dst]++
	}
	var first *state.Link
	for _, link := range n.Links {
		switch {
		case link.Mesh || !link.SensedHere():
		case link.Online && (n.namedLink(link) || held[link.Dst] <= held[receiver]+1):
		case first == nil || n.yieldsBefore(link, first, held):
			first = link
		}
	}
	if first == nil {
		return ""
	}
	return first.Name
}

// yieldsBefore reports whether a link gives way rather than another one.
func (n *network) yieldsBefore(a, b *state.Link, held map[motion.NodeID]int) bool {
	if a.Online != b.Online {
		return b.Online
	}
	if a.Online && held[a.Dst] != held[b.Dst] {
		return held[a.Dst] > held[b.Dst]
	}
	if ours, theirs := n.namedLink(a), n.namedLink(b); ours != theirs {
		return theirs
	}
	return cmp.Or(cmp.Compare(max(a.Heard, a.LastHeard), max(b.Heard, b.LastHeard)), cmp.Compare(a.Name, b.Name)) < 0
}

// namedLink reports whether the source of a link is a client that somebody has named or placed,
// or that a node has told the name of.
func (n *network) namedLink(link *state.Link) bool {
	mac, err := motion.ParseMAC(link.SrcName)
	leaf, known := n.Leafs[mac]
	return err == nil && known && inventory.NamedLeaf(leaf)
}

// replaceLink makes a link known in place of another one, whose source is forgotten with it
// when nothing else is known of that. TooLarge: none gives way, or the receiver has tried too
// often lately; so a full network costs little to who hears many strangers.
func (se *Sensing) replaceLink(ctx context.Context, n *network, record motion.Network, now motion.Time, l foundLink) error {
	var name string
	var keys []fuse.Link // of its sensors
	if se.newLinks.Take(l.dst, se.state.Wall()) == 0 {
		n.Mu.Lock()
		name = n.yields(l.dst)
		for key := range n.pipeline.sensors {
			if of, _, _ := n.LinkName(key); of == name {
				keys = append(keys, key)
			}
		}
		n.Mu.Unlock()
	}
	if name == "" {
		return fault.New(fault.TooLarge, "source %q: the network has %d links already", l.src.String(), inventory.MaxLinks)
	}
	err := se.inventory.Apply(ctx, n.Network, func(tx *store.Tx) (*inventory.Update, error) {
		v := inventory.NewUpdate(tx, record, now)
		if err := v.DropLink(name); err != nil {
			return nil, err
		}
		return v, se.addLink(v, n, l)
	})
	if err != nil {
		return err
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, key := range keys {
		delete(n.pipeline.sensors, key)
		n.pipeline.fuser.Remove(key)
	}
	return nil
}

// How many links in place of others a receiver makes known: at once, and then a second. Each
// is a commit.
const linkBurst, linkRate = 8, 1. / 60

// ensureLink makes sure that a sounding link has its records: the destination is
// part of the reporting node, the source is a known node or becomes a leaf, and
// the link is there and online.
func (se *Sensing) ensureLink(ctx context.Context, n *network, device motion.Device, key fuse.Link, channel int, now motion.Time) error {
	n.Mu.Lock()
	owner, known := n.ByMAC[key.Dst]
	_, knownSrc := n.EndOf(key.Src)
	name, _, _ := n.LinkName(key)
	link := n.Links[name]
	present := knownSrc && link != nil && link.Online
	full := link == nil && len(n.Links) >= inventory.MaxLinks
	record := n.Record
	n.Mu.Unlock()
	found := foundLink{src: key.Src, dst: device.NodeID, ifName: state.SensedInterface, channel: channel}
	switch {
	case !known || owner != device.NodeID:
		return fault.New(fault.Invalid, "destination %q is not an address of the reporting node: it must be listed in its gatekeeper record", key.Dst.String())
	case key.Src.IsZero():
		return fault.New(fault.Invalid, "source 00:00:00:00:00:00 is no address")
	case present:
		return nil
	case full:
		return se.replaceLink(ctx, n, record, now, found)
	}
	return se.inventory.Apply(ctx, n.Network, se.addLinks(n, record, now, found))
}

// foundLink is a link that is known from what was measured.
type foundLink struct {
	src     motion.MAC
	dst     motion.NodeID
	ifName  string
	channel int // 0: unknown
}

// addLinks makes links known, and the leafs at their sources.
func (se *Sensing) addLinks(n *network, record motion.Network, now motion.Time, links ...foundLink) inventory.UpdateFunc {
	return func(tx *store.Tx) (*inventory.Update, error) {
		v := inventory.NewUpdate(tx, record, now)
		for _, link := range links {
			if err := se.addLink(v, n, link); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
}

// addLink takes one link into an inventory.
func (se *Sensing) addLink(v *inventory.Update, n *network, l foundLink) error {
	node, err := v.Tx.Node(l.dst)
	if err != nil {
		return err
	}
	if other, ok := n.nodeAt(l.src); ok {
		return v.Link(motion.Link{
			NetworkID: n.ID, Dst: node.ID, DstName: node.Name, Src: other.ID, SrcName: other.Name,
			Mesh: true, Sounding: true, IfName: l.ifName, Channel: l.channel,
		})
	}
	on := motion.Radar{Interfaces: []motion.Interface{{Name: l.ifName, WifiChannel: l.channel}}}
	return v.Peer(node, on, motion.RadarLink{MAC: l.src, PeerType: motion.PeerClient, IfName: l.ifName}, nil)
}

// nodeAt returns the node that has an address.
func (n *network) nodeAt(mac motion.MAC) (motion.Node, bool) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	id, ok := n.ByMAC[mac]
	return n.Nodes[id], ok
}
