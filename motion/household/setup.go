package household

import (
	"cmp"
	"context"
	"errors"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Setup is what a user may set up.
type Setup struct {
	Code      bool        // they may claim a home that takes the setup code, as they have shown it or need not
	Claimable []Claimable // homes that nobody owns; none without Code
	Homes     []SetupHome // that they own or install
}

// Claimable is a home that nobody owns, with what the appliance hears of it.
type Claimable struct {
	home.Home
	Nodes  []string    // their names
	Online int         // how many of them are
	Heard  motion.Time // the last sign of life; 0: none
}

// SetupHome is a home that a user owns or installs.
type SetupHome struct {
	home.Home
	Until    motion.Time // when their installation ends; 0: they own it
	Timezone string      // IANA name
}

// Setup returns what a user may set up. It makes the homes of networks that have none, as
// ByGuardian does, while there is room on the disk for that.
func (h *Household) Setup(ctx context.Context, user home.UserID) (s Setup, err error) {
	var networks []motion.Network
	err = h.db.View(ctx, func(tx *store.Tx) (err error) {
		if s.Code, err = tx.HasSetupCode(user); err != nil {
			return err
		}
		if s.Homes, err = setupHomes(tx, user); err != nil || !s.Code {
			return err
		}
		networks, err = tx.Networks()
		return err
	})
	for _, network := range networks {
		vacant, ok, err := h.claimable(ctx, network.ID)
		if err != nil {
			return s, err
		}
		if ok {
			s.Claimable = append(s.Claimable, vacant)
		}
	}
	return s, err
}

// setupHomes returns the homes that a user owns, then those that they install.
func setupHomes(tx *store.Tx, user home.UserID) (list []SetupHome, err error) {
	memberships, err := tx.MembershipsOfUser(user)
	if err != nil {
		return nil, err
	}
	for _, m := range memberships {
		if m.Role != home.OwnerRole {
			continue
		}
		house, err := tx.Home(m.Home)
		if err != nil {
			return nil, err
		}
		list = append(list, SetupHome{Home: house})
	}
	installed, err := tx.HomesInstalledBy(user)
	for _, house := range installed {
		if i, in := house.InstallerOf(user, tx.Now()); in {
			list = append(list, SetupHome{Home: house, Until: i.Until})
		}
	}
	for i := range list {
		settings, failed := tx.SettingsInForce(list[i].ExternalID)
		list[i].Timezone, err = settings.Timezone, errors.Join(err, failed)
	}
	return list, err
}

// PutSetupStep keeps what is to be done next to set a home up. When the step that hands it over is left,
// the codes that would have handed it over end too. Conflict: it is set up, and somebody who does not
// live there begins anew. Forbidden: such a one begins or leaves the handing over.
func (h *Household) PutSetupStep(ctx context.Context, id home.ID, step home.SetupStep, resident bool) error {
	err := h.db.Update(ctx, func(tx *store.Tx) error {
		house, err := tx.Home(id)
		switch {
		case err != nil:
			return err
		case !resident && house.SetupStep == home.SetupDone:
			return fault.New(fault.Conflict, "step: the home is set up; its owner can begin anew")
		case !resident && (step == home.SetupHandOver || house.SetupStep == home.SetupHandOver):
			return fault.New(fault.Forbidden, "step: only the owner of the home says whose it is")
		case house.SetupStep == step:
			return nil
		}
		house.SetupStep = step
		return tx.PutHome(house)
	})
	if err == nil && step != home.SetupHandOver {
		h.codes.drop(func(c joinCode) bool { return c.home == id && c.Role == JoinOwner })
	}
	return err
}

// claimable returns the home of a network, and whether nobody owns it.
func (h *Household) claimable(ctx context.Context, network motion.NetworkID) (c Claimable, ok bool, err error) {
	if c.Home, _, err = h.homeOf(ctx, network); err != nil {
		return c, false, unlessGone(err)
	}
	if c.Claimed() {
		return c, false, nil
	}
	state, err := h.engine.Inventory.NetworkState(network)
	if err != nil {
		return c, false, unlessGone(err)
	}
	c.Heard = state.LastHeard
	for _, node := range state.Nodes {
		c.Nodes = append(c.Nodes, cmp.Or(node.FriendlyName, node.Name))
		if node.Online {
			c.Online++
		}
	}
	return c, true, nil
}

// unlessGone returns nil for an error about a network that was deleted meanwhile, or whose home
// cannot be made on a full disk.
func unlessGone(err error) error {
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Unavailable:
		return nil
	}
	return err
}

// SetUp is Claim with the name and the time zone of the home, and begins its setup, in one
// commit. The owner may repeat it: that changes nothing, as the first answer may have been lost.
// The caller has checked name and zone (payloads.md 6 no. 21).
func (h *Household) SetUp(ctx context.Context, id home.ID, user home.UserID, proof Proof, name, zone string) error {
	_, err := h.claim(ctx, id, user, proof, true, func(tx *store.Tx, house *home.Home) error {
		house.Name, house.SetupStep = name, home.SetupDevices
		settings, err := tx.SettingsInForce(house.ExternalID)
		if err != nil {
			return err
		}
		settings.Timezone = zone
		return tx.PutApplicationSettings(settings)
	})
	return err
}
