package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/engine/devices"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// AdoptionWindow is how long an owner's adoption window stays open (payloads.md 6 no. 6).
const AdoptionWindow motion.Seconds = 600

// Adoption returns when the adoption window of a network ends, and the pending devices, most
// recently seen first, except those that only another household may adopt.
func (h *Household) Adoption(ctx context.Context, network motion.NetworkID) (until motion.Time, waiting []motion.PendingDevice, err error) {
	if until, err = h.engine.Devices.AdoptionUntil(ctx, network); err != nil {
		return 0, nil, err
	}
	pending := h.engine.Devices.Pending() // opens its own transaction
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

// ofAnother reports whether only another household may adopt a pending device: the device asks
// to join another network, belongs to another network that has an owner, or names no network
// and is a node of another.
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

// OpenAdoption lets new devices into the network of a home for AdoptionWindow. The household is told when
// an installer does. NotFound: no such home.
func (h *Household) OpenAdoption(ctx context.Context, id home.ID, who Viewer) error {
	return h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		house, err := tx.Home(id)
		if err != nil {
			return nil, err
		}
		until, err := h.engine.Devices.OpenAdoptionIn(tx, house.ExternalID, AdoptionWindow)
		if err != nil || who.Resident {
			return nil, err
		}
		if err := tx.SetAdoptionBy(house.ExternalID, who.User); err != nil {
			return nil, err
		}
		opened, err := installerEvent(tx, id, who.User, motion.InstallerOpenedAdoptionEvent)
		opened.Detail = motion.Document{"until": float64(until)}
		return []motion.Event{opened}, err
	})
}

// Adopt adopts a device that Adoption lists, at its next request. name is the id of its entry
// or its deviceId. NotFound: no such entry. Conflict: several entries have that deviceId.
func (h *Household) Adopt(ctx context.Context, network motion.NetworkID, who Viewer, name string) error {
	_, waiting, err := h.Adoption(ctx, network)
	if err != nil {
		return err
	}
	entry, err := devices.Choose(waiting, name)
	if err != nil {
		return err
	}
	installer := who.User
	if who.Resident {
		installer = 0
	}
	_, err = h.engine.Devices.AdoptBy(ctx, entry.ID, network, installer)
	return err
}
