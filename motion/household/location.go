package household

import (
	"context"
	"strings"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/setting"
	"sensegate/store"
)

// AddLocation adds a location to those that apps offer in a home (payloads.md 5.3). It trims
// spaces around the name. Invalid: the name is not allowed for a device. Conflict: a location
// has the name, ignoring case, or the home has home.MaxLocations of its own.
func (h *Household) AddLocation(ctx context.Context, id home.ID, name string) (added home.Location, err error) {
	err = h.db.Update(ctx, func(tx *store.Tx) error {
		own, err := tx.Locations(id)
		if err != nil {
			return err
		}
		if len(own) >= home.MaxLocations {
			return fault.New(fault.Conflict, "the network has %d locations of its own already: remove one first", home.MaxLocations)
		}
		if name, err = nameOfLocation(own, 0, name); err != nil {
			return err
		}
		added, err = tx.AddLocation(id, name)
		return err
	})
	return added, err
}

// RenameLocation renames a location that a home added. Devices with the old name keep it. The
// faults are those of AddLocation, and NotFound.
func (h *Household) RenameLocation(ctx context.Context, id home.LocationID, name string) (renamed home.Location, err error) {
	err = h.db.Update(ctx, func(tx *store.Tx) error {
		if renamed, err = tx.Location(id); err != nil {
			return err
		}
		own, err := tx.Locations(*renamed.Home)
		if err != nil {
			return err
		}
		if renamed.Name, err = nameOfLocation(own, id, name); err != nil {
			return err
		}
		return tx.PutLocation(renamed)
	})
	return renamed, err
}

// RemoveLocation removes a location that a home added. Devices with its name keep it.
// NotFound: no such location.
func (h *Household) RemoveLocation(ctx context.Context, id home.LocationID) error {
	return h.db.Update(ctx, func(tx *store.Tx) error { return tx.DeleteLocation(id) })
}

// nameOfLocation trims spaces around a name and checks that devices may use it and that no
// location other than id has it. id 0: a new location.
func nameOfLocation(own []home.Location, id home.LocationID, name string) (string, error) {
	name = strings.TrimSpace(name)
	if wrong := setting.PlaceMistake(name); wrong != "" {
		return "", home.NameFault(fault.Details{{Location: "body.name", Message: wrong, Value: name}})
	}
	for _, other := range append(home.BuiltInLocations(), own...) {
		if other.ID != id && strings.EqualFold(other.Name, name) {
			return "", fault.New(fault.Conflict, "name: there is a location of that name")
		}
	}
	return name, nil
}
