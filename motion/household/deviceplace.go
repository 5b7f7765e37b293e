package household

import (
	"cmp"
	"context"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/setting"
	"sensegate/store"
)

// PlaceDevice gives a node or leaf of a network a name and a room, without spaces around them; nil
// leaves what it has. Invalid: one that is not allowed. NotFound: no such device, or one that is kept
// from the viewer.
func (h *Household) PlaceDevice(ctx context.Context, network motion.NetworkID, who Viewer, node bool, id motion.NodeID, name, room *string) error {
	placement := setting.Placement{At: "body", FriendlyName: name, Location: room}
	var before struct{ name, room string }
	err := h.db.View(ctx, func(tx *store.Tx) error {
		if node {
			n, err := tx.Node(id)
			placement.Node, before.name, before.room = id, n.FriendlyName, n.Location
			return ofNetwork(err, n.NetworkID == network, id)
		}
		l, err := tx.Leaf(id)
		placement.MAC, before.name, before.room = l.MAC, l.FriendlyName, l.Location
		return ofNetwork(err, l.NetworkID == network && !who.hides(l), id)
	})
	if err != nil {
		return err
	}
	var wrong fault.Details
	placeName(&wrong, "body.name", name, before.name)
	placeName(&wrong, "body.room", room, before.room)
	if err := home.NameFault(wrong); err != nil {
		return err
	}
	return h.engine.Inventory.PlaceDevices(ctx, network, []setting.Placement{placement}, nil)
}

// placeName brings the name of a device or room that is given into its usual form, and notes what is
// wrong with it; the one before is right, and so is an empty one.
func placeName(wrong *fault.Details, at string, given *string, before string) {
	if given == nil || *given == "" || *given == before {
		return
	}
	mistake := setting.PlaceMistake(*given)
	if *given = strings.TrimSpace(*given); mistake != "" && (*given == "" || *given != before) {
		wrong.Add(at, *given, "%s", mistake)
	}
}

// RemoveDevice removes a node or leaf of a network, as DeleteNode of the engine and RemoveLeaf do. The
// household is told of one that an installer removes. NotFound: no such device, or one that is kept from
// the viewer.
func (h *Household) RemoveDevice(ctx context.Context, network motion.NetworkID, who Viewer, node bool, id motion.NodeID) error {
	removed, err := h.removal(ctx, network, who, node, id)
	if err != nil {
		return err
	}
	if node {
		_, err = h.engine.Devices.DeleteNode(ctx, id)
	} else {
		err = h.engine.Sensing.RemoveLeaf(ctx, network, id)
	}
	if err != nil || who.Resident {
		return err
	}
	// The device is gone: that the caller hangs up does not keep it from the household.
	return h.engine.Events.RecordChange(context.WithoutCancel(ctx), func(tx *store.Tx) ([]motion.Event, error) {
		removed.TS = tx.Now()
		return []motion.Event{removed}, nil
	})
}

// removal returns the event of a device that somebody is about to remove.
func (h *Household) removal(ctx context.Context, network motion.NetworkID, who Viewer, node bool, id motion.NodeID) (event motion.Event, err error) {
	err = h.db.View(ctx, func(tx *store.Tx) error {
		house, known, err := tx.HomeOfNetwork(network)
		if err != nil || !known {
			return ofNetwork(err, false, id)
		}
		if event, err = systemEvent(tx, house, motion.InstallerRemovedDeviceEvent); err != nil {
			return err
		}
		if node {
			n, err := tx.Node(id)
			if err := ofNetwork(err, n.NetworkID == network, id); err != nil {
				return err
			}
			event.NodeName, event.DeviceID, event.LocName = cmp.Or(n.FriendlyName, n.Name), n.DeviceID, n.Location
		} else {
			l, err := tx.Leaf(id)
			if err := ofNetwork(err, l.NetworkID == network && !who.hides(l), id); err != nil {
				return err
			}
			event.NodeName, event.DeviceID, event.LocName = l.DisplayName(), l.MAC.String(), l.Location
		}
		person, err := tx.User(who.User)
		event.Data = home.DoneBy(person)
		return err
	})
	return event, err
}

// ofNetwork returns NotFound for a record that there is not, or that is another network's.
func ofNetwork(err error, own bool, id motion.NodeID) error {
	if fault.KindOf(err) == fault.NotFound || err == nil && !own {
		return fault.New(fault.NotFound, "device %d is not known", id)
	}
	return err
}
