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
		case link.Mesh || !state.SensedHere(link.Link):
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
			if n.NameOf(key) == name {
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
