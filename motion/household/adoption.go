package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/store"
)

// AdoptionWindow is for how long an owner lets new devices in at a time, in seconds
// (payloads.md 6 no. 6).
const AdoptionWindow motion.Seconds = 600

// Adoption returns until when a network adopts devices that ask, and the devices that
// wait, those seen last first, but for those that another household may decide about.
func (h *Household) Adoption(ctx context.Context, network motion.NetworkID) (until motion.Time, waiting []motion.PendingDevice, err error) {
	if until, err = h.engine.AdoptionUntil(ctx, network); err != nil {
		return 0, nil, err
	}
	pending := h.engine.Pending() // in a transaction of its own
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

// ofAnother reports whether another household may decide about a device that waits: it
// asks to join another network than the one, or is adopted in another that has an owner;
// or it names no network and is a node of another.
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
		one, _, err := tx.HomeOfNetwork(device.NetworkID)
		return one.Claimed(), err
	}
	return true, nil
}

// Adopt lets in one device that Adoption lists, named by the id of its entry or by its
// deviceId: its next request is answered. NotFound: it lists none of that name. Conflict:
// it lists several of that deviceId.
func (h *Household) Adopt(ctx context.Context, network motion.NetworkID, name string) error {
	_, waiting, err := h.Adoption(ctx, network)
	if err != nil {
		return err
	}
	entry, err := engine.Choose(waiting, name)
	if err != nil {
		return err
	}
	_, err = h.engine.Adopt(ctx, entry.ID, network)
	return err
}
