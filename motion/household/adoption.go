package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/engine/devices"
	"sensegate/motion/fault"
	"sensegate/store"
)

// AdoptionWindow is how long an owner's adoption window is open, in seconds (payloads.md 6 no.
// 6).
const AdoptionWindow motion.Seconds = 600

// Adoption returns until when a network adopts devices that ask, and the waiting devices,
// those seen last first, without those that another household may decide about.
func (h *Household) Adoption(ctx context.Context, network motion.NetworkID) (until motion.Time, waiting []motion.PendingDevice, err error) {
	if until, err = h.engine.Devices.AdoptionUntil(ctx, network); err != nil {
		return 0, nil, err
	}
	pending := h.engine.Devices.Pending() // in a transaction of its own
	err = h.db.View(ctx, func(tx *store.Tx) error {
		for _, p := range pending {
			foreign, err := ofAnother(tx, network, p)
			if err != nil {
				return err
			}
			if !foreign {
				waiting = append(waiting, p)
			}
		}
		return nil
	})
	return until, waiting, err
}

// ofAnother reports whether another household may decide about a waiting device: it asks to
// join another network, or is adopted in another that has an owner, or names no network and is
// a node of another.
func ofAnother(tx *store.Tx, network motion.NetworkID, p motion.PendingDevice) (bool, error) {
	asked := p.NetworkID
	n, err := tx.NetworkByGuardian(p.LocationID)
	if err == nil {
		asked = n.ID
	} else if fault.KindOf(err) != fault.NotFound {
		return false, err
	}
	radar := motion.DeviceKey{Kind: motion.RadarKind, ID: p.DeviceID}
	switch asked {
	case 0:
		node, err := tx.NodeByDevice(p.DeviceID)
		if fault.KindOf(err) == fault.NotFound {
			return false, nil
		}
		_, unadopted := tx.Device(radar)
		told := p.RootMode != motion.RootModeMaster && fault.KindOf(unadopted) == fault.NotFound
		return node.NetworkID != network && !told, err
	case network:
		device, err := tx.Device(radar)
		if fault.KindOf(err) == fault.NotFound || device.NetworkID == network {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		house, _, err := tx.HomeOfNetwork(device.NetworkID)
		return house.Claimed(), err
	}
	return true, nil
}

// Adopt adopts one device that Adoption lists, named by the id of its entry or by its
// deviceId, at its next request. NotFound: it lists none of that name. Conflict: it lists
// several of that deviceId.
func (h *Household) Adopt(ctx context.Context, network motion.NetworkID, name string) error {
	_, waiting, err := h.Adoption(ctx, network)
	if err != nil {
		return err
	}
	entry, err := devices.Choose(waiting, name)
	if err != nil {
		return err
	}
	_, err = h.engine.Devices.Adopt(ctx, entry.ID, network)
	return err
}
