package household

import (
	"context"
	"strings"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// AddLocation adds a location to those that apps offer in a home (payloads.md 5.3).
// Spaces around the name do not count. Invalid: it is blank. Conflict: there is one of
// that name, in any case, or the home has added home.MaxLocations.
func (h *Household) AddLocation(ctx context.Context, id home.ID, name string) (added home.Location, err error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return added, fault.Mistakes(fault.Detail{Location: "body.name", Message: "must not be blank"})
	}
	err = h.db.Update(ctx, func(tx *store.Tx) error {
		own, err := tx.Locations(id)
		if err != nil {
			return err
		}
		if len(own) >= home.MaxLocations {
			return fault.New(fault.Conflict, "the network has %d locations of its own already", home.MaxLocations)
		}
		for _, other := range append(home.BuiltInLocations(), own...) {
			if strings.EqualFold(other.Name, name) {
				return fault.New(fault.Conflict, "name: there is a location of that name")
			}
		}
		added, err = tx.AddLocation(id, name)
		return err
	})
	return added, err
}
