package inventory

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// NodeAt returns the node of the network that says that mac is one of its BSSIDs; zero: none.
func (v *Update) NodeAt(mac motion.MAC) (motion.Node, error) {
	nodes, err := v.Tx.NodesByBSSID(mac)
	at := slices.IndexFunc(nodes, func(n motion.Node) bool { return n.NetworkID == v.network.ID })
	if err != nil || at < 0 {
		return motion.Node{}, err
	}
	return nodes[at], nil
}

// Unmask deletes the leafs that a node was taken for before it was known: it is on the air before
// it has posted. A leaf that somebody has named or placed stays, and so does one with a host
// name: what a node says of its addresses undoes no one's work.
func (v *Update) Unmask(node motion.Node) error {
	for _, mac := range []motion.MAC{node.APBSSID2GHz, node.APBSSID5GHz, node.MeshBSSID, node.P2PBSSID} {
		if mac.IsZero() {
			continue
		}
		leaf, err := v.Tx.LeafByMAC(v.network.ID, mac)
		if fault.KindOf(err) == fault.NotFound || err == nil && NamedLeaf(leaf) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := v.DropLeaf(leaf.ID); err != nil {
			return err
		}
	}
	return nil
}

// Unmask is that of an Update, and returns the events that come of it.
func Unmask(tx *store.Tx, network motion.Network, node motion.Node) ([]motion.Event, error) {
	v := NewUpdate(tx, network, tx.Now())
	if err := v.Unmask(node); err != nil {
		return nil, err
	}
	err := v.deviceEvents()
	return v.events, err
}
