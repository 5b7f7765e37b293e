package household

import (
	"context"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/setting"
	"sensegate/store"
)

// RenameRoom gives the devices of a home that are in a room another name of it, as well as the
// home's own location of that name, its place in the order of rooms and in the zone priority. The
// history of a room is that of its devices and follows them. Invalid: the name is not allowed for
// a device. Conflict: a room of that name has devices. NotFound: no device is in the room.
func (h *Household) RenameRoom(ctx context.Context, id home.ID, from, to string) error {
	to = strings.TrimSpace(to)
	if wrong := setting.PlaceMistake(to); wrong != "" {
		return home.NameFault(fault.Details{{Location: "body.name", Message: wrong, Value: to}})
	}
	house, err := store.Read(ctx, h.db, func(tx *store.Tx) (home.Home, error) { return tx.Home(id) })
	if err != nil || from == to {
		return err
	}
	_, err = h.engine.Inventory.ChangeConfig(ctx, house.ExternalID, true, func(tx *store.Tx, n *motion.Network) error {
		if err := renameDevices(tx, n.ID, from, to); err != nil {
			return err
		}
		*n = setting.RenameZone(*n, from, to)
		if err := tx.RenameRoomID(n.ID, from, to); err != nil {
			return err
		}
		own, err := tx.Locations(id)
		for _, l := range own {
			_, taken := nameOfLocation(own, l.ID, to)
			if l.Name == from && taken == nil {
				l.Name = to
				err = tx.PutLocation(l)
			}
		}
		if err != nil {
			return err
		}
		house, err := tx.Home(id)
		if i := slices.Index(house.RoomOrder, from); err == nil && i >= 0 {
			house.RoomOrder[i] = to
			err = tx.PutHome(house)
		}
		return err
	})
	return err
}

// renameDevices gives the nodes and leafs of a network that are in a room another name of it.
func renameDevices(tx *store.Tx, id motion.NetworkID, from, to string) error {
	nodes, err := tx.Nodes(id)
	if err != nil {
		return err
	}
	leafs, err := tx.Leafs(id)
	if err != nil {
		return err
	}
	found := false
	rename := func(location *string) bool {
		mine := *location == from
		if mine {
			*location, found = to, true
		}
		return mine
	}
	taken := func(location string) bool { return location != from && strings.EqualFold(location, to) }
	for _, n := range nodes {
		if taken(n.Location) {
			return errTaken
		}
		if rename(&n.Location) {
			n.UpdatedAt = tx.Now()
			if _, err := tx.PutNode(n); err != nil {
				return err
			}
		}
	}
	for _, l := range leafs {
		if taken(l.Location) {
			return errTaken
		}
		if rename(&l.Location) {
			l.UpdatedAt = tx.Now()
			if _, err := tx.PutLeaf(l); err != nil {
				return err
			}
		}
	}
	if !found {
		return fault.New(fault.NotFound, "name: no device is in room %.64q", from)
	}
	return nil
}

var errTaken = fault.New(fault.Conflict, "name: there is a room of that name")

// longestRoom is the limit of a room's name in an order, in bytes.
const longestRoom = 256

// OrderRooms says in which order the rooms of a home are shown; those that it does not name follow
// by name. Invalid: a name is empty or too long, or stands
// there twice.
func (h *Household) OrderRooms(ctx context.Context, id home.ID, order []string) error {
	for i, name := range order {
		if name == "" || len(name) > longestRoom {
			return fault.New(fault.Invalid, "rooms: want names of 1 to %d bytes", longestRoom)
		}
		if slices.Contains(order[:i], name) {
			return fault.New(fault.Invalid, "rooms: %.64q is named twice", name)
		}
	}
	return h.db.Update(ctx, func(tx *store.Tx) error {
		house, err := tx.Home(id)
		if err != nil {
			return err
		}
		house.RoomOrder = order
		return tx.PutHome(house)
	})
}
