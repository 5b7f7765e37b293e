package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Join makes a user a member of a home. by is who asks: the owner of the home, or the
// user themselves. The user's confirmed address must hold an open invitation to it, which
// is used up: an owner who could add anybody by their number would learn who lives in
// other homes. Forbidden: by is neither, or is not invited, or there is no such home, so
// that ids tell a stranger nothing. NotFound: the owner names a user who is not there or
// not invited. Conflict: the user is a member.
func (h *Household) Join(ctx context.Context, id home.ID, user, by home.UserID) (joined home.Membership, err error) {
	err = h.engine.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		if err := mayJoin(tx, id, user, by); err != nil {
			return nil, err
		}
		one, err := tx.Home(id)
		if err != nil {
			return nil, err
		}
		joined, events, err = enter(tx, one, user, home.MemberRole)
		if err == nil && user != by {
			joined.Added = true
			err = tx.PutMembership(joined)
		}
		return events, err
	})
	if err != nil {
		return home.Membership{}, err
	}
	h.log.Info("member joined", "home", id, "user", user)
	return joined, nil
}

// mayJoin returns a fault unless by may make user a member.
func mayJoin(tx *store.Tx, id home.ID, user, by home.UserID) error {
	asking, isMember, err := tx.MembershipOf(id, by)
	if err != nil {
		return err
	}
	owns := isMember && asking.Role == home.OwnerRole
	if !owns && user != by {
		return notInvited()
	}
	switch _, member, err := tx.MembershipOf(id, user); {
	case err != nil:
		return err
	case member:
		return &fault.Error{Kind: fault.Conflict, Code: "member", Message: "user_id: is a member of the network already"}
	}
	invited, err := invitedTo(tx, id, user)
	switch {
	case err != nil || invited:
		return err
	case owns:
		return fault.New(fault.NotFound, "user_id: %d is not known; invite their address first", user)
	}
	return notInvited()
}

// invitedTo reports whether there is such a user and their confirmed address holds an
// open invitation to a home.
func invitedTo(tx *store.Tx, id home.ID, user home.UserID) (bool, error) {
	person, err := tx.User(user)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil || !person.Confirmed() {
		return false, err
	}
	invitation, invited, err := tx.InvitationTo(id, person.Email)
	return invited && invitation.Open(tx.Now().Stamp()), err
}

// notInvited is the fault of who may not join.
func notInvited() error {
	return &fault.Error{Kind: fault.Forbidden, Code: "not_invited",
		Message: "network_id: only the owner adds members; ask them for an invitation to your address"}
}
