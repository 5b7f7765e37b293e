package household

import (
	"context"

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

// Claim makes a user the owner of a home that has none (interface document section 3);
// the home's history begins now. While the appliance has no owner at all this takes
// the setup code, shown now or when the account was made, or a seat at the appliance
// (payloads.md 5.2). A home whose owner has left while members stayed goes to one of
// them; anyone else needs the setup code too, because its people and their names come
// with it. NotFound: no such home. Conflict: it has an owner. Forbidden, code
// setup_code: the code is needed. Invalid: the code is not the right one.
func (h *Household) Claim(ctx context.Context, id home.ID, user home.UserID, proof Proof) (claimed home.Membership, err error) {
	err = h.engine.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		one, err := tx.Home(id)
		if fault.KindOf(err) == fault.NotFound {
			err = unknown(id)
		}
		if err != nil {
			return nil, err
		}
		if one.Claimed() {
			return nil, &fault.Error{Kind: fault.Conflict, Code: "owned", Message: "network_id: the network has an owner, who can invite you"}
		}
		if err := mayClaim(tx, one, user, proof); err != nil {
			return nil, err
		}
		one.ClaimedAt, one.UpdatedAt = tx.Now(), tx.Now().Stamp()
		if err := tx.PutHome(one); err != nil {
			return nil, err
		}
		var events []motion.Event
		claimed, events, err = enter(tx, one, user, home.OwnerRole)
		return events, err
	})
	if err != nil {
		return home.Membership{}, err
	}
	h.log.Info("network claimed", "home", id, "user", user)
	return claimed, nil
}

// unknown is the fault of a home that is not there, or not there for the caller.
func unknown(id home.ID) error { return fault.New(fault.NotFound, "network %d is not known", id) }

// mayClaim returns a fault unless a user may claim an ownerless home.
func mayClaim(tx *store.Tx, one home.Home, user home.UserID, proof Proof) error {
	needed, err := codeNeeded(tx, one.ID, user)
	if err != nil {
		return err
	}
	if proof.SetupCode != "" {
		if err := tx.RedeemSetupCode(proof.SetupCode, user); err != nil {
			return err
		}
		return tx.EndSetupCode()
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

// codeNeeded reports whether a session alone is not enough to claim a home: the
// appliance has no owner yet, or the home has members and the user is none of them.
func codeNeeded(tx *store.Tx, id home.ID, user home.UserID) (bool, error) {
	homes, err := tx.Homes()
	if err != nil {
		return false, err
	}
	owners := 0
	for _, one := range homes {
		if one.Claimed() {
			owners++
		}
	}
	members, err := tx.MembershipsOfHome(id)
	if err != nil || owners == 0 {
		return true, err
	}
	for _, m := range members {
		if m.User == user {
			return false, nil
		}
	}
	return len(members) > 0, nil
}

// enter makes a user a member of a home in a role, or gives a member the role, and
// returns the membership with the event that somebody has joined.
func enter(tx *store.Tx, one home.Home, user home.UserID, role home.Role) (home.Membership, []motion.Event, error) {
	m, isMember, err := tx.MembershipOf(one.ID, user)
	if err != nil {
		return m, nil, err
	}
	if isMember {
		m.Role, m.Added, m.UpdatedAt = role, false, tx.Now().Stamp()
		return m, nil, tx.PutMembership(m)
	}
	person, err := tx.User(user)
	if err != nil {
		return m, nil, err
	}
	if m, err = tx.CreateMembership(home.Membership{Role: role, User: user, Home: one.ID}); err != nil {
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
	joined.Data = memberData(person)
	return m, []motion.Event{joined}, err
}

// memberData is what an event about a member says of them (payloads.md 4.8).
func memberData(u home.User) motion.Document {
	return motion.Document{
		"id": int64(u.ID), "sub": u.Sub, "first_name": u.FirstName, "last_name": u.LastName, "user": map[string]any{},
	}
}
