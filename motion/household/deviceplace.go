package household

import (
	"context"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/store"
)

// PlaceDevice gives a node or leaf of a network a name and a room, without spaces around them; nil
// leaves what it has. Invalid: one that is not allowed. NotFound: no such device.
func (h *Household) PlaceDevice(ctx context.Context, network motion.NetworkID, node bool, id motion.NodeID, name, room *string) error {
	var wrong fault.Details
	for at, text := range map[string]*string{"body.name": name, "body.room": room} {
		if text == nil {
			continue
		}
		*text = strings.TrimSpace(*text)
		if mistake := setting.PlaceMistake(*text); *text != "" && mistake != "" {
			wrong.Add(at, *text, "%s", mistake)
		}
	}
	wrong.Sort()
	if err := wrong.Err(); err != nil {
		return err
	}
	placement := setting.Placement{At: "body", FriendlyName: name, Location: room}
	err := h.db.View(ctx, func(tx *store.Tx) error {
		if node {
			n, err := tx.Node(id)
			placement.Node = id
			return ofNetwork(err, n.NetworkID == network, id)
		}
		l, err := tx.Leaf(id)
		placement.MAC = l.MAC
		return ofNetwork(err, l.NetworkID == network, id)
	})
	if err != nil {
		return err
	}
	return h.engine.Inventory.PlaceDevices(ctx, network, []setting.Placement{placement}, nil)
}

// RemoveDevice removes a node or leaf of a network, as DeleteNode of the engine and RemoveLeaf do.
// NotFound: no such device.
func (h *Household) RemoveDevice(ctx context.Context, network motion.NetworkID, node bool, id motion.NodeID) error {
	if !node {
		return h.engine.Sensing.RemoveLeaf(ctx, network, id)
	}
	err := h.db.View(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(id)
		return ofNetwork(err, n.NetworkID == network, id)
	})
	if err != nil {
		return err
	}
	_, err = h.engine.Devices.DeleteNode(ctx, id)
	return err
}

// ofNetwork returns NotFound for a record that there is not, or that is another network's.
func ofNetwork(err error, own bool, id motion.NodeID) error {
	if fault.KindOf(err) == fault.NotFound || err == nil && !own {
		return fault.New(fault.NotFound, "device %d is not known", id)
	}
	return err
}
