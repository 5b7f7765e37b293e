package devices

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/store"
)

// DeleteNode removes a node and returns its record as it was, offline. Its links go
// with it, its open commands are cancelled, the tokens of its devices end at once
// and their sessions are closed: with the master those of the guardian too. It
// comes back, as a new node, only when it is adopted again: what a guardian reports of it
// is left out. NotFound: the node.
func (f *Fleet) DeleteNode(ctx context.Context, id motion.NodeID) (motion.Node, error) {
	return f.deleteNode(ctx, id, func(*store.Tx) error { return nil })
}

// deleteNode is DeleteNode after first, in the same transaction; nothing is deleted when that
// fails.
func (f *Fleet) deleteNode(ctx context.Context, id motion.NodeID, first func(*store.Tx) error) (motion.Node, error) {
	node, err := f.inventory.Node(ctx, id)
	if err != nil {
		return motion.Node{}, err
	}
	var removed []motion.DeviceKey
	err = f.commands.CancelWith(ctx, id, func(tx *store.Tx) (network motion.NetworkID, err error) {
		if err := first(tx); err != nil {
			return 0, err
		}
		now, err := tx.Node(id)
		if err != nil {
			return 0, err
		}
		node.NetworkID = now.NetworkID // it may have moved meanwhile
		removed, err = removeNode(tx, now, f.state.Now())
		return now.NetworkID, err
	})
	if err != nil {
		return motion.Node{}, err
	}
	for _, key := range removed {
		f.dismiss(key, "node deleted")
	}
	f.state.Log.Info("node deleted", "network", node.NetworkID, "node", id)
	node.Online = false
	if n, err := f.state.Network(node.NetworkID); err == nil {
		n.ForgetRadar(node.DeviceID)
	}
	return node, f.state.Reload(context.WithoutCancel(ctx), node.NetworkID)
}

// maxRemoved bounds the deleted nodes that a network remembers.
const maxRemoved = 256

// removeNode removes the records of a node and returns its devices, which are
// removed too.
func removeNode(tx *store.Tx, node motion.Node, now motion.Time) (removed []motion.DeviceKey, err error) {
	if err := leave(tx, node); err != nil {
		return nil, err
	}
	devices, err := tx.NetworkDevices(node.NetworkID)
	if err != nil {
		return nil, err
	}
	for _, device := range devices {
		if device.NodeID != node.ID {
			continue
		}
		if err := tx.DeleteDevice(device.DeviceKey); err != nil {
			return nil, err
		}
		removed = append(removed, device.DeviceKey)
	}
	network, err := tx.Network(node.NetworkID)
	if err != nil {
		return nil, err
	}
	if network.MasterID == node.ID {
		network.MasterID = 0
	}
	others := slices.DeleteFunc(slices.Clone(network.Removed), func(id string) bool { return id == node.DeviceID })
	network.Removed = append(others[max(0, len(others)-maxRemoved+1):], node.DeviceID)
	network.UpdatedAt = now
	if err := tx.PutNetwork(network); err != nil {
		return nil, err
	}
	return removed, tx.DeleteNode(node.ID)
}
