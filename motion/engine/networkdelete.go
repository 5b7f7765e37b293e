package engine

import (
	"context"

	"sensegate/motion"
	"sensegate/store"
)

// afterDeletion is how long devices are adopted by themselves after the deletion of their
// network, so that they can form a new one (payloads.md 5.3).
const afterDeletion motion.Seconds = 600

// DeleteNetwork deletes a network with everything that is known of it: its records,
// configuration, history, events, alerts and the keys for it alone. first runs before
// in the same transaction; what it fails with is returned and nothing is deleted. Open
// commands are cancelled, live readers' streams end, the tokens of its devices end at
// once and their sessions are closed, and for ten minutes they may form the network anew,
// with the same guardian id, or join it, by themselves.
// Reports that are under way meanwhile bring nothing of it back. NotFound: no such
// network.
func (e *Engine) DeleteNetwork(ctx context.Context, id motion.NetworkID, first func(*store.Tx) error) error {
	return e.deleteNetwork(ctx, id, first, false)
}

// deleteNetwork is DeleteNetwork, also of an unused one that gives way to others: its devices
// may not form that anew, and backups that hold it stay.
func (e *Engine) deleteNetwork(ctx context.Context, id motion.NetworkID, first func(*store.Tx) error, unused bool) error {
	n, err := e.network(id)
	if err != nil {
		return err
	}
	if err := e.cancelCommands(ctx, id, 0); err != nil {
		return err
	}
	n.close(1)
	removed, err := e.deleteRecords(ctx, id, first, unused)
	if err != nil {
		n.close(-1)
		return err
	}
	e.letGo(n)
	for _, key := range removed {
		e.dismiss(key, "network deleted")
	}
	e.log.Info("network deleted", "network", id, "devices", len(removed))
	return nil
}

// close has samples of a network that is being deleted refused, so that a flush meets
// none of a network that is not there; by is 1 when a deletion begins and -1 when it
// has failed.
func (n *network) close(by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.deletions += by
}

// deleteRecords deletes what is stored of a network and returns its devices. Commands
// that came since they were cancelled are forgotten with it.
func (e *Engine) deleteRecords(ctx context.Context, id motion.NetworkID, first func(*store.Tx) error, unused bool) (removed []motion.DeviceKey, err error) {
	e.commands.mu.Lock()
	defer e.commands.mu.Unlock()
	err = e.db.Update(ctx, func(tx *store.Tx) error {
		removed = nil
		if err := first(tx); err != nil {
			return err
		}
		network, err := tx.Network(id)
		if err != nil {
			return err
		}
		devices, err := tx.NetworkDevices(id)
		if err != nil {
			return err
		}
		for _, device := range devices {
			removed = append(removed, device.DeviceKey)
		}
		if unused {
			return tx.DropNetwork(id)
		}
		if err := tx.DeleteNetwork(id); err != nil {
			return err
		}
		return tx.LetReform(network.GuardianID, devices, tx.Now().Add(afterDeletion))
	})
	if err != nil {
		return nil, err
	}
	for command, open := range e.commands.open {
		if open.NetworkID == id {
			e.commands.drop(command)
		}
	}
	return removed, nil
}

// letGo forgets what is in memory of a network that was deleted, and ends its streams.
func (e *Engine) letGo(n *network) {
	id := n.id
	n.mu.Lock()
	guardian := n.record.GuardianID
	n.mu.Unlock()
	e.pending.take(func(p motion.PendingDevice) bool { return p.NetworkID == id || p.LocationID == guardian })
	e.reloading.Lock() // a reload that has read it before does not put it back
	e.mu.Lock()
	delete(e.networks, id)
	e.mu.Unlock()
	e.reloading.Unlock()
	e.samples.Forget(id)
	e.live.End(id)
	e.events.End(id)
}
