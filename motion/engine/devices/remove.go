package devices

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// RemoveDevice revokes a device: its tokens end at once and its session is closed, and of
// a network's master those of its guardian too. What
// waits with that deviceId, or as the entry of that id, is dropped from the list.
func (f *Fleet) RemoveDevice(ctx context.Context, id string) error {
	var removed []motion.DeviceKey
	waited := f.Waiting.take(func(p motion.PendingDevice) bool { return p.ID == id || p.DeviceID == id })
	err := f.state.DB.Update(ctx, func(tx *store.Tx) error {
		guardian, err := guardianOf(tx, id)
		if err != nil {
			return err
		}
		removed = nil
		for _, key := range []motion.DeviceKey{{Kind: motion.RadarKind, ID: id}, {Kind: motion.Guardian, ID: guardian}, {Kind: motion.Guardian, ID: id}} {
			if key.Kind == motion.Guardian && key.ID == id && len(removed) > 0 {
				break // the guardian of another network, with the name of a radar
			}
			if _, err := tx.Device(key); err == nil {
				removed = append(removed, key)
				if err := tx.DeleteDevice(key); err != nil {
					return err
				}
			}
		}
		if len(removed)+len(waited) == 0 {
			return fault.New(fault.NotFound, "device %q is neither adopted nor pending: see device list", id)
		}
		return f.Waiting.Store(tx)
	})
	if err != nil {
		f.Waiting.putBack(waited)
		return err
	}
	for _, key := range removed {
		f.dismiss(key, "device removed")
	}
	return nil
}

// guardianOf returns the guardian id of the network that a radar leads, "" when it leads
// none.
func guardianOf(tx *store.Tx, radar string) (string, error) {
	device, err := tx.Device(motion.DeviceKey{Kind: motion.RadarKind, ID: radar})
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	network, err := tx.Network(device.NetworkID)
	if err != nil || network.MasterID != device.NodeID {
		return "", err
	}
	return network.GuardianID, nil
}

// dismiss ends the session of a device that was removed.
func (f *Fleet) dismiss(key motion.DeviceKey, why string) {
	f.state.Forget(key) // first, so that one that is connecting just now finds itself removed
	f.returns.forget(key)
	f.state.Outbound.Disconnect(key, why)
}
