package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// ByBSSID returns the home of the network of which mac is an address of a node (2.4
// GHz, 5 GHz, mesh or p2p BSSID), and whether it was made just now because the network
// had none. NotFound: no such network. Conflict: nodes of several networks are said to have
// it, as anybody can say who hears it.
func (h *Household) ByBSSID(ctx context.Context, mac motion.MAC) (one home.Home, created bool, err error) {
	var nodes []motion.Node
	err = h.db.View(ctx, func(tx *store.Tx) error {
		nodes, err = tx.NodesByBSSID(mac)
		return err
	})
	networks := motion.NetworksOf(nodes)
	switch {
	case err != nil:
		return one, false, err
	case len(networks) == 0:
		return one, false, fault.New(fault.NotFound, "bssid: no network here has it")
	case len(networks) > 1:
		return one, false, fault.New(fault.Conflict, "bssid: devices of %d networks here say that it is theirs: find yours by its guardian_id", len(networks))
	}
	return h.homeOf(ctx, networks[0])
}

// ByGuardian returns the home of the network of a guardian likewise: by its guardian_id, or
// else by the deviceId of the node that it runs on.
func (h *Household) ByGuardian(ctx context.Context, guardianID string) (one home.Home, created bool, err error) {
	var network motion.Network
	err = h.db.View(ctx, func(tx *store.Tx) error {
		network, err = tx.NetworkByGuardian(guardianID)
		return err
	})
	if err == nil {
		return h.homeOf(ctx, network.ID)
	}
	if fault.KindOf(err) != fault.NotFound {
		return one, false, err
	}
	networks, err := h.engine.NetworksByGuardian(ctx, guardianID)
	if err == nil && len(networks) == 0 {
		err = fault.New(fault.NotFound, "guardian_id: no network here has it")
	}
	if err != nil {
		return one, false, err
	}
	return h.homeOf(ctx, networks[0])
}

// homeOf returns the home of a network, made when it has none (interfaces.md 4.2
// no. 1).
func (h *Household) homeOf(ctx context.Context, network motion.NetworkID) (one home.Home, created bool, err error) {
	err = h.db.View(ctx, func(tx *store.Tx) error {
		one, created, err = tx.HomeOfNetwork(network)
		created = !created
		return err
	})
	if err != nil || !created {
		return one, false, err
	}
	err = h.db.Update(ctx, func(tx *store.Tx) error {
		var known bool
		if one, known, err = tx.HomeOfNetwork(network); err != nil || known {
			created = false
			return err
		}
		one, err = createHome(tx, network)
		return err
	})
	return one, created, err
}

// createHome makes the home of a network that has none. One that its devices have formed
// again after its deletion was owned before, when it was then.
func createHome(tx *store.Tx, network motion.NetworkID) (home.Home, error) {
	n, err := tx.Network(network)
	if err != nil {
		return home.Home{}, err
	}
	one := home.New(network)
	if one.OwnedBefore, err = tx.OwnedBefore(n.GuardianID); err != nil {
		return one, err
	}
	return tx.CreateHome(one)
}

// ChangeHome changes the record of a home and, unless zone is "", the time zone of its
// network, which stands in the application settings that Core shows too (payloads.md
// 4.11: one store). change sets only what a person may; the caller has checked what it
// sets, and the zone. Where live motion is switched off its viewers are looked at again.
func (h *Household) ChangeHome(ctx context.Context, id home.ID, change func(*home.Home), zone string) error {
	var darkened bool
	err := h.changeHome(ctx, id, func(one *home.Home) {
		live := one.LiveEnabled
		change(one)
		darkened = live && !one.LiveEnabled
	}, zone)
	if err == nil && darkened {
		h.ended()
	}
	return err
}

// changeHome is ChangeHome in one commit.
func (h *Household) changeHome(ctx context.Context, id home.ID, change func(*home.Home), zone string) error {
	return h.db.Update(ctx, func(tx *store.Tx) error {
		one, err := tx.Home(id)
		if err != nil {
			return err
		}
		change(&one)
		one.UpdatedAt = tx.Now().Stamp()
		if err := tx.PutHome(one); err != nil || zone == "" {
			return err
		}
		settings, err := tx.ApplicationSettings(one.ExternalID)
		if fault.KindOf(err) == fault.NotFound {
			settings, err = motion.DefaultApplicationSettings(one.ExternalID), nil
		}
		if err != nil {
			return err
		}
		settings.Timezone = zone
		return tx.PutApplicationSettings(settings)
	})
}
