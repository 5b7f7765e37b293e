package sensing

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/store"
)

// foundLink is a link that is known from what was measured.
type foundLink struct {
	src     motion.MAC
	dst     motion.NodeID
	ifName  string
	channel int // 0: unknown
}

// ensureLink makes sure that a sounding link has its records: the destination is
// part of the reporting node, the source is a known node or becomes a leaf, and
// the link is there and online.
func (se *Sensing) ensureLink(ctx context.Context, n *network, device motion.Device, key fuse.Link, channel int, now motion.Time) error {
	n.Mu.Lock()
	owner, known := n.ByMAC[key.Dst]
	_, knownSrc := n.EndOf(key.Src)
	link := n.Links[n.NameOf(key)]
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
	other, ok := n.nodeAt(l.src)
	if !ok { // memory follows a node that has just come a moment later
		if other, err = v.NodeAt(l.src); err != nil {
			return err
		}
	}
	if other.ID != 0 {
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
