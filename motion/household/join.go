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

// Join makes a user a member of a home. The user's confirmed address must hold an open
// invitation to it, which is used up: an owner who could add anybody by their number would
// learn who lives in other homes. Who asks for themselves shows the token of the
// invitation, unless their address is known to be theirs (store.AddressProof). Forbidden: whoever
// asks is neither, or is not invited, or there is no such home, so that ids tell a stranger
// nothing. NotFound: the owner names a user who is not there or not invited. Conflict: the
// user is a member.
func (h *Household) Join(ctx context.Context, id home.ID, c Candidate) (joined home.Membership, err error) {
	err = h.engine.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		if err := mayJoin(tx, id, c); err != nil {
			return nil, err
		}
		one, err := tx.Home(id)
		if err != nil {
			return nil, err
		}
		joined, events, err = enter(tx, one, c.User, home.MemberRole)
		if err == nil && c.User != c.By {
			joined.Added = true
			err = tx.PutMembership(joined)
		}
		return events, err
	})
	if err != nil {
		return home.Membership{}, err
	}
	h.log.Info("member joined", "home", id, "user", c.User)
	return joined, nil
}

// mayJoin returns a fault unless a candidate may become a member.
func mayJoin(tx *store.Tx, id home.ID, c Candidate) error {
	asking, isMember, err := tx.MembershipOf(id, c.By)
	if err != nil {
		return err
	}
	owns := isMember && asking.Role == home.OwnerRole
	if !owns && c.User != c.By {
		return notInvited()
	}
	switch _, member, err := tx.MembershipOf(id, c.User); {
	case err != nil:
		return err
	case member:
		return &fault.Error{Kind: fault.Conflict, Code: "member", Message: "user_id: is a member of the network already"}
	}
	invited, err := invitedTo(tx, id, c, owns)
	switch {
	case err != nil || invited:
		return err
	case owns:
		return fault.New(fault.NotFound, "user_id: %d is not known; invite their address first", c.User)
	}
	return notInvited()
}

// invitedTo reports whether the candidate's confirmed address holds an open invitation to
// a home, and it is theirs: so says an owner who names them, the token of the invitation,
// or what is known of the address.
func invitedTo(tx *store.Tx, id home.ID, c Candidate, named bool) (bool, error) {
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
	if named {
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
