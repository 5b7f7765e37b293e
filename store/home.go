package store

import (
	"cmp"
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
)

// homes is the table of homes, at most one for each network.
var homes = table[home.ID, home.Home]{
	name: "homes", vital: true, noun: "network", key: key32[home.ID],
	indexes: []index[home.Home]{{
		name: "homes_by_network", noun: "core id", unique: true,
		keys: func(h home.Home) [][]byte { return [][]byte{key32(h.ExternalID)} },
	}},
}

// CreateHome stores a new home of an existing network under the next id and returns
// it, with a scene configuration of defaults. CreatedAt and UpdatedAt are set to now,
// Scene to AtHome and PetSize to NoPet unless given. A network that has one already is a
// Conflict.
func (tx *Tx) CreateHome(h home.Home) (home.Home, error) {
	if err := tx.requireNetwork(h.ExternalID); err != nil {
		return h, err
	}
	sequence, err := tx.bucket(homes.name).NextSequence()
	if err != nil {
		return h, err
	}
	h.ID = home.ID(sequence)
	h.CreatedAt, h.UpdatedAt = cmp.Or(h.CreatedAt, tx.now.Stamp()), cmp.Or(h.UpdatedAt, tx.now.Stamp())
	h.Scene, h.PetSize = cmp.Or(h.Scene, home.AtHome), cmp.Or(h.PetSize, home.NoPet)
	config, err := tx.createSceneConfig(h.ID)
	if err != nil {
		return h, err
	}
	h.SceneConfigID = config.ID
	if err := homes.put(tx, h.ID, h); err != nil {
		return h, err
	}
	return h, tx.noteArmed(h.ExternalID)
}

// PutHome stores h over the home with its id, as given.
func (tx *Tx) PutHome(h home.Home) error {
	if err := tx.Here(h.ExternalID); err != nil {
		return err
	}
	if err := homes.replace(tx, h.ID, h); err != nil {
		return err
	}
	return tx.noteArmed(h.ExternalID)
}

// Home returns the home with the id.
func (tx *Tx) Home(id home.ID) (home.Home, error) { return homes.must(tx, id) }

// HomeOfNetwork returns the home of a network and whether there is one.
func (tx *Tx) HomeOfNetwork(id motion.NetworkID) (home.Home, bool, error) {
	return homes.by(tx, "homes_by_network", key32(id))
}

// Homes returns all homes, by id.
func (tx *Tx) Homes() ([]home.Home, error) { return homes.all(tx, nil) }

// DeleteHome removes a home with its memberships and whatever else belongs to it;
// its network and its users stay.
func (tx *Tx) DeleteHome(id home.ID) error {
	h, err := homes.must(tx, id)
	if err != nil {
		return err
	}
	if _, err := tx.DeleteIntegrationUsersOf(id); err != nil {
		return err
	}
	return cmp.Or(
		tx.deleteMemberships(id), tx.deleteMailsBy("mails_by_home", key32(id)), tx.DropInvitations(id, true), tx.deleteLocations(id), tx.deleteIntegrationOf(id),
		homeMeta.delete(tx, id), sceneConfigs.delete(tx, h.SceneConfigID), armed.removePrefix(tx, key32(h.ExternalID)), homes.delete(tx, id),
	)
}

// HomesInstalledBy returns the homes that have a user among their installers, by id, also those
// where their time is over.
func (tx *Tx) HomesInstalledBy(user home.UserID) ([]home.Home, error) {
	all, err := tx.Homes()
	return slices.DeleteFunc(all, func(h home.Home) bool {
		return !slices.ContainsFunc(h.Installers, func(i home.Installer) bool { return i.User == user })
	}), err
}

// forgetInstaller removes what homes say of a user who does not belong to them.
func (tx *Tx) forgetInstaller(user home.UserID) error {
	all, err := tx.Homes()
	return each(all, err, func(h home.Home) error {
		if !h.Forget(user) {
			return nil
		}
		return homes.put(tx, h.ID, h)
	})
}

// deleteMemberships removes the memberships of a home.
func (tx *Tx) deleteMemberships(id home.ID) error {
	memberships, err := tx.MembershipsOfHome(id)
	return each(memberships, err, func(m home.Membership) error { return tx.DeleteMembership(m.ID) })
}

// deleteHomeOf removes the home of a network, if there is one.
func (tx *Tx) deleteHomeOf(network motion.NetworkID) error {
	h, ok, err := tx.HomeOfNetwork(network)
	if err != nil || !ok {
		return err
	}
	return tx.DeleteHome(h.ID)
}
