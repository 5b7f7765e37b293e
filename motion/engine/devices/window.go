package devices

import (
	"context"
	"errors"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Window says until when a network adopts the new devices that ask to join it.
type Window struct {
	NetworkID motion.NetworkID `json:"network_id"`
	Until     motion.Time      `json:"until"`
}

// windowUntil returns when the window that lets devices into a network closes or closed.
// A network with an owner has one of its own; that is the first window of the
// installation, in which it was claimed, until the owner opens or closes it. Any other
// network has the one of networks without an owner too.
func (f *Fleet) windowUntil(tx *store.Tx, network motion.NetworkID) (motion.Time, error) {
	installed, err := tx.InstalledAt()
	if err != nil {
		return 0, err
	}
	first := f.endOfWindow(installed.Add(f.options.FirstWindow.Seconds()))
	own, set, err := tx.AdoptionUntil(network)
	if err != nil {
		return 0, err
	}
	owned, err := hasOwner(tx, network)
	switch {
	case err != nil:
		return 0, err
	case owned && set:
		return f.endOfWindow(own), nil
	case owned:
		return first, nil
	}
	ownerless, _, err := tx.AdoptionUntil(0)
	return max(f.endOfWindow(own), f.endOfWindow(ownerless), first), err
}

// inFirstWindow reports whether a network has an owner who has neither opened nor closed its
// window: it has the first one of the installation still.
func inFirstWindow(tx *store.Tx, network motion.NetworkID) (bool, error) {
	owned, err := hasOwner(tx, network)
	if err != nil || !owned {
		return false, err
	}
	_, set, err := tx.AdoptionUntil(network)
	return !set, err
}

// endOfWindow returns when a window ends, 0 for one that ends later than any can: since it
// was opened the clock has gone back, as without a battery after a power cut, which must
// not open it again.
func (f *Fleet) endOfWindow(until motion.Time) motion.Time {
	if until.Since(f.state.Now()) > max(store.LongestWindow, f.options.FirstWindow.Seconds()) {
		return 0
	}
	return until
}

// ownerOf returns the user who owns a network, 0 when nobody does.
func ownerOf(tx *store.Tx, network motion.NetworkID) (uint64, error) {
	one, claimed, err := tx.HomeOfNetwork(network)
	if err != nil || !claimed {
		return 0, err
	}
	members, err := tx.MembershipsOfHome(one.ID)
	for _, m := range members {
		if m.Role == home.OwnerRole {
			return uint64(m.User), err
		}
	}
	return 0, err
}

// hasOwner reports whether a network belongs to a household.
func hasOwner(tx *store.Tx, network motion.NetworkID) (bool, error) {
	if network == 0 {
		return false, nil
	}
	one, _, err := tx.HomeOfNetwork(network)
	return one.Claimed(), err
}

// OpenAdoption opens the window that lets new devices into a network, or for 0 into networks
// without an owner and into new ones. It stays open for at least so many seconds from now; its
// end is returned. Invalid: none, or more than 24 hours. NotFound: no such network.
func (f *Fleet) OpenAdoption(ctx context.Context, network motion.NetworkID, seconds motion.Seconds) (motion.Time, error) {
	if seconds <= 0 || seconds > store.LongestWindow {
		return 0, fault.New(fault.Invalid, "window: want more than 0 and at most 24 hours")
	}
	var until motion.Time
	err := f.state.DB.Update(ctx, func(tx *store.Tx) (err error) {
		until, err = f.OpenAdoptionIn(tx, network, seconds)
		return err
	})
	return until, err
}

// OpenAdoptionIn is OpenAdoption in a transaction, for a length that is right.
func (f *Fleet) OpenAdoptionIn(tx *store.Tx, network motion.NetworkID, seconds motion.Seconds) (motion.Time, error) {
	present, err := f.windowUntil(tx, network)
	if err != nil {
		return 0, err
	}
	until := max(present, f.state.Now().Add(seconds))
	return until, tx.SetAdoptionUntil(network, until)
}

// CloseAdoption closes the adoption window of a network that has an owner; the first
// window of the installation does not open it again. NotFound: no such network.
func (f *Fleet) CloseAdoption(ctx context.Context, network motion.NetworkID) error {
	return f.state.DB.Update(ctx, func(tx *store.Tx) error { return tx.SetAdoptionUntil(network, f.state.Now()) })
}

// AdoptionUntil returns when the window that lets devices into a network closes or
// closed; network 0 is as in OpenAdoption.
func (f *Fleet) AdoptionUntil(ctx context.Context, network motion.NetworkID) (until motion.Time, err error) {
	err = f.state.DB.View(ctx, func(tx *store.Tx) error {
		until, err = f.windowUntil(tx, network)
		return err
	})
	return until, err
}

// Windows returns the open windows that single networks have of their own.
func (f *Fleet) Windows(ctx context.Context) (list []Window, err error) {
	list = []Window{}
	now := f.state.Now()
	err = f.state.DB.View(ctx, func(tx *store.Tx) error {
		networks, err := tx.Networks()
		if err != nil {
			return err
		}
		ownerless, err := f.windowUntil(tx, 0)
		if err != nil {
			return err
		}
		for _, n := range networks {
			owned, err1 := hasOwner(tx, n.ID)
			until, err2 := f.windowUntil(tx, n.ID)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if until > now && (owned || until > ownerless) {
				list = append(list, Window{NetworkID: n.ID, Until: until})
			}
		}
		return nil
	})
	return list, err
}
