package household

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Candidate is a user who is to become a member of a home.
type Candidate struct {
	User  home.UserID
	By    home.UserID // the owner of the home, or the user themselves
	Token string      // from the link of the invitation; "" = none
}

// Join makes a user a member of a home.
//
// A user who joins needs an open invitation to their confirmed address and its token; the
// token is not required when the address is known to be theirs (store.AddressProof). Joining
// deletes the invitation.
//
// An owner can add confirmed users by id: users they invited, users with whom they share
// another home, and users who belong to no home. Added users have not agreed: until they join
// themselves or name the home in a request (Accept), the home does not show their name and
// sends them no push, and they cannot own it.
//
// Forbidden: By is neither the owner nor invited, or the home does not exist; the two look the
// same, so that ids reveal nothing. NotFound: the owner names a user who does not exist or
// cannot be added. Conflict: the user is a member.
func (h *Household) Join(ctx context.Context, id home.ID, c Candidate) (joined home.Membership, err error) {
	installed := false
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
		case member && c.User == c.By && known.Added: // also when they have accepted before
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
		installed = slices.ContainsFunc(house.Installers, func(i home.Installer) bool { return i.User == m.User })
		joined, events, err = enter(tx, house, m)
		return events, err
	})
	if err != nil {
		return home.Membership{}, err
	}
	if installed {
		h.ended()
	}
	h.log.Info("member joined", "home", id, "user", c.User)
	return joined, nil
}

// accept stores that an added user joins the home.
func accept(tx *store.Tx, m home.Membership) (home.Membership, error) {
	if !m.Unasked && !m.Muted {
		return m, nil
	}
	m.Unasked, m.Muted, m.UpdatedAt = false, false, tx.Now().Stamp()
	return m, tx.PutMembership(m)
}

// admit returns the membership to create for a candidate, or a fault if they may not join.
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

// Accept stores that a member whom the owner added has named the home in a request: from now
// on the home shows their name and sends them pushes. A deleted membership is not an error.
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

// addable reports whether an owner may add a user by id alone: the user is confirmed, and
// belongs to no home or shares another home with the owner.
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

// invitedTo reports whether the candidate's confirmed address has an open invitation to a home
// and the address is proven to be theirs: by the owner who names them, by the token, or by
// store.AddressProof.
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

// notInvited returns the fault for a user who may not join.
func notInvited() error {
	return &fault.Error{Kind: fault.Forbidden, Code: "not_invited",
		Message: "network_id: only the owner adds members; ask them for an invitation to your address, and open its link"}
}
