package household

import (
	"context"
	"errors"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Proof is what a person who claims a home shows beside their session.
type Proof struct {
	SetupCode string // "" = none
	Local     bool   // they sit at the appliance itself
}

// Claim makes a user the owner of a home that nobody lives in (interfaces.md 3
// no. 3); the home's history begins now. While the appliance has no owner at all, and for
// a home that was owned before, this takes the setup code, shown now or when the account was
// made, or a seat at the appliance (payloads.md 5.2 and 6 no. 16). The last owner,
// who has disowned it themselves, needs none of these. Conflict: it has people, or there is no
// such home, so that ids tell a stranger nothing. Forbidden, code setup_code: the code is
// needed. Invalid: the code is not the right one.
func (h *Household) Claim(ctx context.Context, id home.ID, user home.UserID, proof Proof) (claimed home.Membership, err error) {
	err = h.engine.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		members, err := tx.MembershipsOfHome(id)
		if err != nil {
			return nil, err
		}
		one, err := tx.Home(id)
		if fault.KindOf(err) == fault.NotFound || err == nil && (one.Claimed() || len(members) > 0) {
			err = notClaimable()
		}
		if err != nil {
			return nil, err
		}
		if err := mayClaim(tx, one, user, proof); err != nil {
			return nil, err
		}
		one.ClaimedAt, one.OwnedBefore, one.UpdatedAt = tx.Now(), true, tx.Now().Stamp()
		if err := errors.Join(tx.PutHome(one), tx.ForgetDisowner(one.ExternalID)); err != nil {
			return nil, err
		}
		var events []motion.Event
		claimed, events, err = enter(tx, one, home.Membership{Role: home.OwnerRole, User: user})
		return events, err
	})
	if err != nil {
		return home.Membership{}, err
	}
	h.log.Info("network claimed", "home", id, "user", user)
	return claimed, nil
}

// notClaimable is the fault of a home that has people, and of one that there is not.
func notClaimable() error {
	return &fault.Error{Kind: fault.Conflict, Code: "owned",
		Message: "network_id: is not of a network that can be claimed; if it has an owner, ask them for an invitation"}
}

// mayClaim returns a fault unless a user may claim a home that nobody lives in.
func mayClaim(tx *store.Tx, one home.Home, user home.UserID, proof Proof) error {
	if proof.SetupCode != "" {
		if err := tx.RedeemSetupCode(proof.SetupCode, user); err != nil {
			return err
		}
		return tx.EndSetupCode()
	}
	if by, err := tx.DisownedBy(one.ExternalID); err != nil || by == user {
		return err
	}
	needed, err := codeNeeded(tx, one)
	if err != nil {
		return err
	}
	shown, err := tx.HasSetupCode(user)
	switch {
	case err != nil:
		return err
	case shown:
		return tx.EndSetupCode()
	case needed && !proof.Local:
		return &fault.Error{Kind: fault.Forbidden, Code: "setup_code",
			Message: "setup_code: is needed here; sensegate setup-code shows it on the appliance"}
	}
	return nil
}

// codeNeeded reports whether a session alone is not enough to claim a home: it was owned
// before, or the appliance has no owner yet.
func codeNeeded(tx *store.Tx, one home.Home) (bool, error) {
	if one.OwnedBefore {
		return true, nil
	}
	homes, err := tx.Homes()
	return !slices.ContainsFunc(homes, home.Home.Claimed), err
}

// enter makes a user a member of a home, in the role of m, and returns the membership with
// the event that somebody has joined. An invitation of their address is used up.
func enter(tx *store.Tx, one home.Home, m home.Membership) (home.Membership, []motion.Event, error) {
	person, err := tx.User(m.User)
	if err != nil {
		return m, nil, err
	}
	m.Home = one.ID
	if m, err = tx.CreateMembership(m); err != nil {
		return m, nil, err
	}
	invitation, invited, err := tx.InvitationTo(one.ID, person.Email)
	if err == nil && invited {
		err = tx.DeleteInvitation(invitation.ID)
	}
	if err != nil {
		return m, nil, err
	}
	joined, err := systemEvent(tx, one, motion.MemberJoinedEvent)
	joined.Data = nobody()
	if !m.Unasked {
		joined.Data = memberData(person)
	}
	return m, []motion.Event{joined}, err
}

// nobody is what an event about a member says who is not named.
func nobody() motion.Document { return motion.Document{"user": map[string]any{}} }

// memberData is what an event about a member says of them (payloads.md 4.8).
func memberData(u home.User) motion.Document {
	return motion.Document{
		"id": int64(u.ID), "sub": u.Sub, "first_name": u.FirstName, "last_name": u.LastName, "user": map[string]any{},
	}
}
