package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// ByBSSID returns the home of the network with a node that has the address mac (2.4 GHz,
// 5 GHz, mesh or p2p BSSID). It creates the home if there is none, and reports that. NotFound:
// no such network. Conflict: nodes of several networks claim mac, which any device can do.
func (h *Household) ByBSSID(ctx context.Context, mac motion.MAC) (house home.Home, created bool, err error) {
	nodes, err := store.Read(ctx, h.db, func(tx *store.Tx) ([]motion.Node, error) { return tx.NodesByBSSID(mac) })
	networks := motion.NetworksOf(nodes)
	switch {
	case err != nil:
		return house, false, err
	case len(networks) == 0:
		return house, false, fault.New(fault.NotFound, "bssid: no network here has it")
	case len(networks) > 1:
		return house, false, fault.New(fault.Conflict, "bssid: devices of %d networks here say that it is theirs: find yours by its guardian_id", len(networks))
	}
	return h.homeOf(ctx, networks[0])
}

// ByGuardian is like ByBSSID but finds the network by its guardian_id, or otherwise by the
// deviceId of the node that the guardian runs on.
func (h *Household) ByGuardian(ctx context.Context, guardianID string) (house home.Home, created bool, err error) {
	network, err := store.Read(ctx, h.db, func(tx *store.Tx) (motion.Network, error) { return tx.NetworkByGuardian(guardianID) })
	if err == nil {
		return h.homeOf(ctx, network.ID)
	}
	if fault.KindOf(err) != fault.NotFound {
		return house, false, err
	}
	networks, err := h.engine.Inventory.NetworksByGuardian(ctx, guardianID)
	if err == nil && len(networks) == 0 {
		err = fault.New(fault.NotFound, "guardian_id: no network here has it")
	}
	if err != nil {
		return house, false, err
	}
	return h.homeOf(ctx, networks[0])
}

// homeOf returns the home of a network; it creates a missing one (interfaces.md 4.2 no. 1).
func (h *Household) homeOf(ctx context.Context, network motion.NetworkID) (house home.Home, created bool, err error) {
	err = h.db.View(ctx, func(tx *store.Tx) error {
		house, created, err = tx.HomeOfNetwork(network)
		created = !created
		return err
	})
	if err != nil || !created {
		return house, false, err
	}
	err = h.db.Update(ctx, func(tx *store.Tx) error {
		var known bool
		if house, known, err = tx.HomeOfNetwork(network); err != nil || known {
			created = false
			return err
		}
		house, err = createHome(tx, network)
		return err
	})
	return house, created, err
}

// createHome creates the home of a network. OwnedBefore survives the deletion of a network
// that its devices form again.
func createHome(tx *store.Tx, network motion.NetworkID) (home.Home, error) {
	n, err := tx.Network(network)
	if err != nil {
		return home.Home{}, err
	}
	house := home.New(network)
	if house.OwnedBefore, err = tx.OwnedBefore(n.GuardianID); err != nil {
		return house, err
	}
	return tx.CreateHome(house)
}

// ChangeHome changes the record of a home and, unless zone is "", the time zone in the
// application settings of its network, which Core shows too (payloads.md 4.11: one store).
// The caller has validated zone and what change sets. Invalid: another name, by home.CheckName. When change disables live motion,
// ChangeHome calls Options.Ended.
func (h *Household) ChangeHome(ctx context.Context, id home.ID, change func(*home.Home), zone string) error {
	var darkened bool
	err := h.changeHome(ctx, id, func(house *home.Home) {
		live := house.LiveEnabled
		change(house)
		darkened = live && !house.LiveEnabled
	}, zone)
	if err == nil && darkened {
		h.ended()
	}
	return err
}

// changeHome is ChangeHome without the call of Ended.
func (h *Household) changeHome(ctx context.Context, id home.ID, change func(*home.Home), zone string) error {
	return h.db.Update(ctx, func(tx *store.Tx) error {
		house, err := tx.Home(id)
		if err != nil {
			return err
		}
		before := house.Name
		change(&house)
		var wrong fault.Details
		home.CheckName(&wrong, "body.name", house.Name, before)
		if err := home.NameFault(wrong); err != nil {
			return err
		}
		house.UpdatedAt = tx.Now().Stamp()
		if err := tx.PutHome(house); err != nil || zone == "" {
			return err
		}
		settings, err := tx.SettingsInForce(house.ExternalID)
		if err != nil {
			return err
		}
		settings.Timezone = zone
		return tx.PutApplicationSettings(settings)
	})
}
