package engine

import (
	"cmp"
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/store"
)

// yields returns the link that gives way in a full network to a new one at a receiver, "" for
// none: one that is silent, else one of the receiver that has the most, while that has more
// than this one would have. Sources that nobody has named come first, then what was heard
// longest ago. Links between nodes stay. n.mu is held.
func (n *network) yields(receiver motion.NodeID) (name string) {
	held := map[motion.NodeID]int{}
	for _, link := range n.links {
		held[link.Dst]++
	}
	var first *linkState
	for _, link := range n.links {
		switch {
		case link.Mesh || !link.sensedHere():
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
func (n *network) yieldsBefore(a, b *linkState, held map[motion.NodeID]int) bool {
	if a.Online != b.Online {
		return b.Online
	}
	if a.Online && held[a.Dst] != held[b.Dst] {
		return held[a.Dst] > held[b.Dst]
	}
	if ours, theirs := n.namedLink(a), n.namedLink(b); ours != theirs {
		return theirs
	}
	return cmp.Or(cmp.Compare(max(a.heard, a.LastHeard), max(b.heard, b.LastHeard)), cmp.Compare(a.Name, b.Name)) < 0
}

// namedLink reports whether the source of a link is a client that somebody has named or placed,
// or that a node has told the name of.
func (n *network) namedLink(link *linkState) bool {
	mac, err := motion.ParseMAC(link.SrcName)
	leaf, known := n.leafs[mac]
	return err == nil && known && namedLeaf(leaf)
}

func namedLeaf(leaf motion.Leaf) bool {
	return leaf.FriendlyName != "" || leaf.Hostname != "" || leaf.Located || leaf.Mobile
}

// replaceLink makes a link known in place of another one, whose source is forgotten with it
// when nothing else is known of that. TooLarge: none gives way, or the receiver has tried too
// often lately; so a full network costs little to who hears many strangers.
func (e *Engine) replaceLink(ctx context.Context, n *network, record motion.Network, now motion.Time, l sensedLink) error {
	var name string
	var keys []fuse.Link // of its sensors
	if e.newLinks.Take(l.dst, e.options.Now()) == 0 {
		n.mu.Lock()
		name = n.yields(l.dst)
		for key := range n.sensing.sensors {
			if of, _, _ := n.linkName(key); of == name {
				keys = append(keys, key)
			}
		}
		n.mu.Unlock()
	}
	if name == "" {
		return fault.New(fault.TooLarge, "source %q: the network has %d links already", l.src.String(), maxLinks)
	}
	err := e.takeInventory(ctx, n, func(tx *store.Tx) (*inventory, error) {
		v := newInventory(tx, record, now)
		if err := v.dropLink(name); err != nil {
			return nil, err
		}
		return v, e.addLink(v, n, l)
	})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, key := range keys {
		delete(n.sensing.sensors, key)
		n.sensing.fuser.Remove(key)
	}
	return nil
}

// dropLink deletes the link of a client, and the client if it has neither a name nor another
// link.
func (v *inventory) dropLink(name string) error {
	link, err := v.tx.Link(v.network.ID, name)
	if err != nil {
		return err
	}
	if link.Online {
		if err := v.disconnect(link); err != nil {
			return err
		}
	}
	if err := v.tx.DeleteLink(v.network.ID, name); err != nil {
		return err
	}
	leaf, err := v.tx.Leaf(link.Src)
	if err != nil || namedLeaf(leaf) {
		return err
	}
	others, err := v.tx.Links(v.network.ID)
	if err != nil || slices.ContainsFunc(others, func(l motion.Link) bool { return l.Src == leaf.ID }) {
		return err
	}
	return v.tx.DeleteLeaf(leaf.ID)
}
