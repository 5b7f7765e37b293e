package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// AdoptionWindow is for how long an owner lets new devices in at a time, in seconds
// (payloads.md section 6 no. 6).
const AdoptionWindow motion.Seconds = 600

// Adoption returns until when devices are adopted by themselves, 0 for never, and the
// devices that wait, those seen last first, but for those that belong to another
// household's network.
func (h *Household) Adoption(ctx context.Context, network motion.NetworkID) (until motion.Time, waiting []motion.PendingDevice, err error) {
	if until, err = h.engine.AdoptionUntil(ctx); err != nil {
		return 0, nil, err
	}
	err = h.db.View(ctx, func(tx *store.Tx) error {
		all, err := tx.PendingDevices()
		if err != nil {
			return err
		}
		for _, p := range all {
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

// ofAnother reports whether a device that waits asks to join another network than the
// one, or is a node of it.
func ofAnother(tx *store.Tx, network motion.NetworkID, p motion.PendingDevice) (bool, error) {
	n, err := tx.NetworkByGuardian(p.LocationID)
	if err == nil {
		return n.ID != network, nil
	}
	if fault.KindOf(err) != fault.NotFound {
		return false, err
	}
	node, err := tx.NodeByDevice(p.DeviceID)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return node.NetworkID != network, err
}

// Adopt lets in one device that Adoption lists: its next request is answered. NotFound:
// it lists none of that id.
func (h *Household) Adopt(ctx context.Context, network motion.NetworkID, deviceID string) error {
	err := h.db.View(ctx, func(tx *store.Tx) error {
		p, err := tx.Pending(deviceID)
		if err != nil {
			return err
		}
		foreign, err := ofAnother(tx, network, p)
		if foreign {
			err = fault.New(fault.NotFound, "pending device %s: not found", deviceID)
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = h.engine.Adopt(ctx, deviceID)
	return err
}
