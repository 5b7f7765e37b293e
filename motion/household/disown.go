package household

import (
	"context"

	"sensegate/motion/home"
	"sensegate/store"
)

// Disown deletes a network on behalf of its owner, with its home and all that belongs to
// either (interfaces.md 4.2 no. 4, payloads.md 5.3): memberships, invitations, mails, scene
// configuration, sensors, meta, and in Core its history, events, alerts, devices and their
// tokens. It deletes users who belong to no other home, with their phones, except users whom
// an owner added by id. For ten minutes the devices may form a new network, which the owner
// can claim without the setup code unless their account is deleted too or somebody else
// claims it first. NotFound: no such home. Forbidden: by does not own it.
func (h *Household) Disown(ctx context.Context, id home.ID, by home.UserID) error {
	house, err := store.Read(ctx, h.db, func(tx *store.Tx) (home.Home, error) { return tx.Home(id) })
	if err != nil {
		return err
	}
	err = h.engine.Devices.DeleteNetwork(ctx, house.ExternalID, func(tx *store.Tx) error { return h.forgetMembers(tx, id, by) })
	if err != nil {
		return err
	}
	h.ended()
	h.log.Info("network disowned", "home", id, "network", house.ExternalID)
	return nil
}

// forgetMembers deletes the members of a disowned home who neither belong to another nor are
// installers of one. Users whom an owner added by id stay, without a home.
func (h *Household) forgetMembers(tx *store.Tx, id home.ID, by home.UserID) error {
	house, err := tx.Home(id)
	if err != nil { // disowned meanwhile
		return err
	}
	if _, err := ownershipOf(tx, id, by); err != nil {
		return err
	}
	if err := tx.NoteDisowned(house.ExternalID, by); err != nil {
		return err
	}
	members, err := tx.MembershipsOfHome(id)
	if err != nil {
		return err
	}
	for _, m := range members {
		all, err := tx.MembershipsOfUser(m.User)
		if err != nil {
			return err
		}
		installed, err := tx.HomesInstalledBy(m.User)
		if err != nil {
			return err
		}
		if len(all) > 1 || len(installed) > 0 || m.Added && m.User != by {
			continue
		}
		if err := h.forget(tx, m.User); err != nil {
			return err
		}
	}
	return nil
}
