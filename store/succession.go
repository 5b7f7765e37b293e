package store

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
)

// Successor returns the member who owns a home next when its owner leaves, as
// home.Successor does; named 0 names nobody.
func (tx *Tx) Successor(id home.ID, named home.UserID) (next home.Membership, ok bool, err error) {
	members, err := tx.MembershipsOfHome(id)
	if err != nil {
		return next, false, err
	}
	confirmed := map[home.UserID]bool{}
	for _, m := range members {
		u, err := tx.User(m.User)
		if err != nil {
			return next, false, err
		}
		confirmed[u.ID] = u.Confirmed()
	}
	next, ok = home.Successor(members, func(id home.UserID) bool { return confirmed[id] }, named)
	return next, ok, nil
}

// settleOwners brings homes into the form of schema 4: each has an owner, or neither an
// owner nor members, and those that were owned before say so. Schema 2 left homes behind
// whose owners had deleted their accounts: those are owned by their successors now, and
// those without are wiped. A home that nobody owns and whose record was changed after it
// was made has had an owner, because nobody else changes it. Successors are marked, so that
// household.TellOwners tells the members.
func (tx *Tx) settleOwners() error {
	all, err := tx.Homes()
	return each(all, err, tx.settleOwner)
}

func (tx *Tx) settleOwner(h home.Home) error {
	members, err := tx.MembershipsOfHome(h.ID)
	if err != nil {
		return err
	}
	h.OwnedBefore = true
	if slices.ContainsFunc(members, owns) {
		return tx.PutHome(h)
	}
	next, ok, err := tx.Successor(h.ID, 0)
	switch {
	case err != nil:
		return err
	case !ok && len(members) == 0 && !h.Claimed() && h.UpdatedAt <= h.CreatedAt:
		return nil // found, and never owned
	case !ok:
		tx.db.logger.Info("home without people wiped", "home", h.ID, "network", h.ExternalID)
		_, err = tx.VacateHome(h.ID)
		return err
	}
	if !h.Claimed() { // what was before them is not theirs
		h.ClaimedAt = motion.TimeOf(next.CreatedAt.Std())
	}
	h.UpdatedAt, h.OwnerUntold = tx.now.Stamp(), true
	if err := tx.PutHome(h); err != nil {
		return err
	}
	tx.db.logger.Info("home without owner has one again", "home", h.ID, "user", next.User)
	next.Role, next.Added, next.UpdatedAt = home.OwnerRole, false, tx.now.Stamp()
	return tx.PutMembership(next)
}
