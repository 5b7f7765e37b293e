package devices

import (
	"cmp"
	"context"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
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
func (f *Fleet) DeleteNetwork(ctx context.Context, id motion.NetworkID, first func(*store.Tx) error) error {
	return f.deleteNetwork(ctx, id, first, false)
}

// deleteNetwork is DeleteNetwork, also of an unused one that gives way to others: its devices
// may not form that anew, and backups that hold it stay.
func (f *Fleet) deleteNetwork(ctx context.Context, id motion.NetworkID, first func(*store.Tx) error, unused bool) error {
	n, err := f.state.Network(id)
	if err != nil {
		return err
	}
	if err := f.commands.Cancel(ctx, id, 0); err != nil {
		return err
	}
	n.BeginDeletion()
	var removed []motion.DeviceKey
	err = f.commands.DropWith(id, func() (err error) {
		removed, err = f.deleteRecords(ctx, id, first, unused)
		return err
	})
	if err != nil {
		n.CancelDeletion()
		return err
	}
	f.letGo(n)
	for _, key := range removed {
		f.dismiss(key, "network deleted")
	}
	f.state.Log.Info("network deleted", "network", id, "devices", len(removed))
	return nil
}

// DeleteAway deletes what is kept of a network that goes, or has gone, to another box. Its devices
// may not form it anew here: they are sent on to where it has gone. Its accounts at providers stay.
// NotFound: there is none.
func (f *Fleet) DeleteAway(ctx context.Context, id motion.NetworkID) error {
	var guardian string
	var gone []store.Departed
	err := f.state.DB.Update(ctx, func(tx *store.Tx) error {
		h, away, err := tx.Handover(id)
		if err != nil || !away {
			return cmp.Or(err, error(fault.New(fault.NotFound, "network %d is not on its way to another box", id)))
		}
		network, err := tx.Network(id)
		if err != nil {
			return err
		}
		guardian = network.GuardianID
		house, ok, err := tx.HomeOfNetwork(id)
		if err == nil && ok {
			err = f.EndUsersOf(tx, house.ID)
		}
		if err != nil {
			return err
		}
		devices, err := tx.NetworkDevices(id)
		if err != nil {
			return err
		}
		if err := tx.DeleteNetwork(id); err != nil {
			return err
		}
		if h.To != "" {
			one := store.Departed{Network: id, Guardian: guardian, To: h.To}
			for _, d := range devices {
				one.Devices = append(one.Devices, d.ID)
			}
			if err := tx.AddDeparted(one); err != nil {
				return err
			}
		}
		gone, err = tx.DepartedNetworks()
		return err
	})
	if err != nil {
		return err
	}
	f.Waiting.take(func(p motion.PendingDevice) bool { return p.NetworkID == id || p.LocationID == guardian })
	f.state.ForgetAway(id)
	f.state.SetDeparted(gone)
	f.state.Log.Info("copy of a network that has moved deleted", "network", id)
	return nil
}

// EndSessionsOf ends the sessions of the devices of a network.
func (f *Fleet) EndSessionsOf(ctx context.Context, id motion.NetworkID, why string) error {
	devices, err := store.Read(ctx, f.state.DB, func(tx *store.Tx) ([]motion.Device, error) { return tx.NetworkDevices(id) })
	for _, d := range devices {
		f.dismiss(d.DeviceKey, why)
	}
	return err
}

// deleteRecords deletes what is stored of a network and returns its devices.
func (f *Fleet) deleteRecords(ctx context.Context, id motion.NetworkID, first func(*store.Tx) error, unused bool) (removed []motion.DeviceKey, err error) {
	err = f.state.DB.Update(ctx, func(tx *store.Tx) error {
		removed = nil
		if err := first(tx); err != nil {
			return err
		}
		house, ok, err := tx.HomeOfNetwork(id)
		if err == nil && ok {
			err = f.EndUsersOf(tx, house.ID)
		}
		if err != nil {
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
	return removed, err
}

// letGo forgets what is in memory of a network that was deleted, and ends its streams.
func (f *Fleet) letGo(n *state.Network) {
	id := n.ID
	guardian := n.GuardianID()
	f.Waiting.take(func(p motion.PendingDevice) bool { return p.NetworkID == id || p.LocationID == guardian })
	f.state.ForgetNetwork(id)
}
