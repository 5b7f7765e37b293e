package engine

import (
	"context"
	"maps"
	"slices"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/store"
)

// DeleteNode removes a node and returns its record as it was, offline. Its links go
// with it, its open commands are cancelled, the tokens of its devices end at once
// and their sessions are closed: with the master those of the guardian too. It
// comes back, as a new node, only when it is adopted again: what a guardian reports of it
// is left out. NotFound: the node.
func (e *Engine) DeleteNode(ctx context.Context, id motion.NodeID) (motion.Node, error) {
	return e.deleteNode(ctx, id, func(*store.Tx) error { return nil })
}

// deleteNode is DeleteNode after first, in the same transaction; nothing is deleted when that
// fails.
func (e *Engine) deleteNode(ctx context.Context, id motion.NodeID, first func(*store.Tx) error) (motion.Node, error) {
	node, err := e.Node(ctx, id)
	if err != nil {
		return motion.Node{}, err
	}
	var removed []motion.DeviceKey
	err = e.settle(ctx, func(tx *commandTx) (steps []command.Step, err error) {
		if err := first(tx.Tx); err != nil {
			return nil, err
		}
		now, err := tx.Node(id)
		if err != nil {
			return nil, err
		}
		node.NetworkID = now.NetworkID // it may have moved meanwhile
		if removed, err = tx.removeNode(now); err != nil {
			return nil, err
		}
		return tx.cancel(now.NetworkID, id)
	})
	if err != nil {
		return motion.Node{}, err
	}
	for _, key := range removed {
		e.dismiss(key, "node deleted")
	}
	e.log.Info("node deleted", "network", node.NetworkID, "node", id)
	node.Online = false
	if n, err := e.network(node.NetworkID); err == nil {
		n.forgetRadar(node.DeviceID)
	}
	return node, e.reload(context.WithoutCancel(ctx), node.NetworkID)
}

// forgetRadar takes a node out of the last status report.
func (n *network) forgetRadar(deviceID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.status == nil {
		return
	}
	status := *n.status
	status.Radars = maps.Clone(status.Radars)
	maps.DeleteFunc(status.Radars, func(_ string, radar motion.Radar) bool { return radar.DeviceID == deviceID })
	n.status, n.statusDirty, n.statusStored = &status, true, false // the stored one shows it
}

// maxRemoved bounds the deleted nodes that a network remembers.
const maxRemoved = 256

// removeNode removes the records of a node and returns its devices, which are
// removed too.
func (tx *commandTx) removeNode(node motion.Node) (removed []motion.DeviceKey, err error) {
	if err := leave(tx.Tx, node); err != nil {
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
	network.UpdatedAt = tx.now
	if err := tx.PutNetwork(network); err != nil {
		return nil, err
	}
	return removed, tx.DeleteNode(node.ID)
}
