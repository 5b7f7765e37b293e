package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Candidate is who is to become a member of a home.
type Candidate struct {
	User  home.UserID
	By    home.UserID // who asks: the owner of the home, or the user themselves
	Token string      // of the link of the invitation; "": none was shown
}

// Join makes a user a member of a home.
//
// Who asks for themselves needs an open invitation of their confirmed address, which is used
// up, and shows its token, unless the address is known to be theirs (store.AddressProof).
//
// The owner adds confirmed users by their id: those whom they have invited, those whom they
// share another home with, and those who belong to no home. Users of other homes are not
// added: they alone decide where they live. Nobody is asked before they are added, so they
// have no name in the home, get no push of it and cannot own it until they join themselves,
// or a request of theirs names the home (Accept).
//
// Forbidden: whoever asks is neither the owner nor invited, or there is no such home, so
// that ids tell a stranger nothing. NotFound: the owner names a user who is not there or
// cannot be added. Conflict: the user is a member.
func (h *Household) Join(ctx context.Context, id home.ID, c Candidate) (joined home.Membership, err error) {
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		asking, asks, err := tx.MembershipOf(id, c.By)
		if err != nil {
			return nil, err
		}
		known, member, err := tx.MembershipOf(id, c.User)
		switch {
		case err != nil:
			return nil, err
		case c.User != c.By && (!asks || asking.Role != home.OwnerRole):
			return nil, notInvited()
		case member && c.User == c.By && known.Added: // also once more: they have accepted, perhaps by naming the home
			joined, err = accept(tx, known)
			return nil, err
		case member:
			return nil, &fault.Error{Kind: fault.Conflict, Code: "member", Message: "user_id: is a member of the network already"}
		}
		m, err := admit(tx, id, c)
		if err != nil {
			return nil, err
		}
		house, err := tx.Home(id)
		if err != nil {
			return nil, err
		}
		joined, events, err = enter(tx, house, m)
		return events, err
	})
	if err != nil {
		return home.Membership{}, err
	}
	h.log.Info("member joined", "home", id, "user", c.User)
	return joined, nil
}

// accept stores that a user joins a home that they were added to.
func accept(tx *store.Tx, m home.Membership) (home.Membership, error) {
	if !m.Unasked && !m.Muted {
		return m, nil
	}
	m.Unasked, m.Muted, m.UpdatedAt = false, false, tx.Now().Stamp()
	return m, tx.PutMembership(m)
}

// admit returns the membership that a candidate gets, or a fault when they get none.
func admit(tx *store.Tx, id home.ID, c Candidate) (home.Membership, error) {
	added := c.User != c.By
	m := home.Membership{Role: home.MemberRole, User: c.User, Added: added, Unasked: added, Muted: added}
	invited, err := invitedTo(tx, id, c)
	if err != nil || invited {
		return m, err
	}
	if !m.Added {
		return m, notInvited()
	}
	free, err := addable(tx, c)
	if err == nil && !free {
		err = fault.New(fault.NotFound, "user_id: %d is not known; invite their address first", c.User)
	}
	return m, err
}

// Accept stores that a member who was added without being asked has named the home in a
// request of theirs: they have a name there from now on, and get its pushes. A membership
// that is gone is no error.
func (h *Household) Accept(ctx context.Context, id home.MembershipID) error {
	return h.db.Update(ctx, func(tx *store.Tx) error {
		m, err := tx.Membership(id)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err == nil {
			_, err = accept(tx, m)
		}
		return err
	})
}

// addable reports whether an owner adds a user by their id alone: they are confirmed,
// and belong to no home, or to another of the owner's too.
func addable(tx *store.Tx, c Candidate) (bool, error) {
	person, err := tx.User(c.User)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil || !person.Confirmed() {
		return false, err
	}
	theirs, err := tx.MembershipsOfUser(c.User)
	if err != nil || len(theirs) == 0 {
		return true, err
	}
	for _, m := range theirs {
		if _, shared, err := tx.MembershipOf(m.Home, c.By); err != nil || shared && !m.Unasked {
			return shared, err
		}
	}
	return false, nil
}

// invitedTo reports whether the candidate's confirmed address holds an open invitation to
// a home, and it is theirs: so says an owner who names them, the token of the invitation,
// or what is known of the address.
func invitedTo(tx *store.Tx, id home.ID, c Candidate) (bool, error) {
	person, err := tx.User(c.User)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil || !person.Confirmed() {
		return false, err
	}
	invitation, invited, err := tx.InvitationTo(id, person.Email)
	if err != nil || !invited || !invitation.Open(tx.Now().Stamp()) {
		return false, err
	}
	if c.User != c.By {
		return true, nil
	}
	if shown, err := tx.MatchInvitation(id, person.Email, c.Token); err != nil || shown {
		return shown, err
	}
	proof, err := tx.AddressProof(c.User)
	return proof.KnownTo(id), err
}

// notInvited is the fault of who may not join.
func notInvited() error {
	return &fault.Error{Kind: fault.Forbidden, Code: "not_invited",
		Message: "network_id: only the owner adds members; ask them for an invitation to your address, and open its link"}
}
