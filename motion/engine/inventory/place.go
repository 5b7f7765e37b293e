package inventory

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// PlaceLeaf gives a leaf its location and friendly name, as people know them; a
// leaf that was not seen yet is made known.
func (in *Inventory) PlaceLeaf(ctx context.Context, id motion.NetworkID, mac motion.MAC, location, friendlyName string) error {
	err := in.state.Update(ctx, id, func(tx *store.Tx) error {
		leaf, err := tx.LeafByMAC(id, mac)
		if fault.KindOf(err) == fault.NotFound {
			leaf, err = motion.Leaf{NetworkID: id, MAC: mac, PeerType: motion.PeerClient, CreatedAt: tx.Now()}, nil
		}
		if err != nil {
			return err
		}
		leaf.Location, leaf.Located, leaf.FriendlyName, leaf.UpdatedAt = location, true, friendlyName, tx.Now()
		_, err = tx.PutLeaf(leaf)
		return err
	})
	if err != nil {
		return err
	}
	return in.state.Reload(ctx, id)
}

// PlaceNode gives a node its location and friendly name.
func (in *Inventory) PlaceNode(ctx context.Context, id motion.NodeID, location, friendlyName string) error {
	var network motion.NetworkID
	err := in.state.DB.Update(ctx, func(tx *store.Tx) error {
		node, err := tx.Node(id)
		if err != nil {
			return err
		}
		network = node.NetworkID
		node.Location, node.FriendlyName, node.UpdatedAt = location, friendlyName, tx.Now()
		_, err = tx.PutNode(node)
		return err
	})
	if err != nil {
		return err
	}
	return in.state.Reload(ctx, network)
}
