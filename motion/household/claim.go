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

// Proof is what a user presents to claim a home, in addition to a session.
type Proof struct {
	SetupCode string // "" = none
	Local     bool   // the request comes from the appliance itself
}

// Claim makes a user the owner of a home without members (interfaces.md 3 no. 3); the home's
// history begins now. While no home on the appliance has an owner, and for a home that had an
// owner before, Claim requires the setup code, given now or at sign-up, or a request from the
// appliance itself (payloads.md 5.2 and 6 no. 16). The last owner, if they disowned the home
// themselves, needs neither. Conflict: the home has members or does not exist; the two look
// the same, so that ids reveal nothing. Forbidden, code setup_code: the code is required.
// Invalid: the code is wrong.
func (h *Household) Claim(ctx context.Context, id home.ID, user home.UserID, proof Proof) (claimed home.Membership, err error) {
	return h.claim(ctx, id, user, proof, false, func(*store.Tx, *home.Home) error { return nil })
}

// claim is Claim, with what change does to the home. again: of who owns it already it returns the
// membership, and changes nothing.
func (h *Household) claim(ctx context.Context, id home.ID, user home.UserID, proof Proof, again bool, change func(*store.Tx, *home.Home) error) (claimed home.Membership, err error) {
	repeated := false
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		members, err := tx.MembershipsOfHome(id)
		if err != nil {
			return nil, err
		}
		own := slices.IndexFunc(members, func(m home.Membership) bool { return m.User == user && m.Role == home.OwnerRole })
		if repeated = again && own >= 0; repeated {
			claimed = members[own]
			return nil, nil
		}
		house, err := tx.Home(id)
		if fault.KindOf(err) == fault.NotFound || err == nil && (house.Claimed() || len(members) > 0) {
			err = notClaimable()
		}
		if err != nil {
			return nil, err
		}
		if err := mayClaim(tx, house, user, proof); err != nil {
			return nil, err
		}
		house.ClaimedAt, house.OwnedBefore, house.UpdatedAt = tx.Now(), true, tx.Now().Stamp()
		house.Installers = nil
		if err := change(tx, &house); err != nil {
			return nil, err
		}
		if err := errors.Join(tx.PutHome(house), tx.ForgetDisowner(house.ExternalID), h.engine.Devices.EndUsersOf(tx, id)); err != nil {
			return nil, err
		}
		var events []motion.Event
		claimed, events, err = enter(tx, house, home.Membership{Role: home.OwnerRole, User: user})
		return events, err
	})
	if err != nil {
		return home.Membership{}, err
	}
	if repeated {
		return claimed, nil
	}
	h.log.Info("network claimed", "home", id, "user", user)
	return claimed, nil
}

// notClaimable returns the fault for a home that has members or does not exist.
func notClaimable() error {
	return &fault.Error{Kind: fault.Conflict, Code: "owned",
		Message: "network_id: is not of a network that can be claimed; if it has an owner, ask them for an invitation"}
}

// mayClaim returns a fault unless a user may claim a home without members.
func mayClaim(tx *store.Tx, house home.Home, user home.UserID, proof Proof) error {
	if proof.SetupCode != "" {
		if err := tx.RedeemSetupCode(proof.SetupCode, user); err != nil {
			return err
		}
		return tx.EndSetupCode()
	}
	if by, err := tx.DisownedBy(house.ExternalID); err != nil || by == user {
		return err
	}
	needed, err := codeNeeded(tx, house)
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

// codeNeeded reports whether a claim requires the setup code: the home had an owner before, or
// no home on the appliance has one yet.
func codeNeeded(tx *store.Tx, house home.Home) (bool, error) {
	if house.OwnedBefore {
		return true, nil
	}
	homes, err := tx.Homes()
	return !slices.ContainsFunc(homes, home.Home.Claimed), err
}

// enter stores m as a membership of a home, deletes the invitation to the user's address, and
// returns the membership and MemberJoinedEvent. Who was an installer of the home is none any more.
func enter(tx *store.Tx, house home.Home, m home.Membership) (home.Membership, []motion.Event, error) {
	person, err := tx.User(m.User)
	if err != nil {
		return m, nil, err
	}
	m.Home = house.ID
	if m, err = tx.CreateMembership(m); err != nil {
		return m, nil, err
	}
	if _, installs := house.EndInstaller(m.User); installs {
		if err := tx.PutHome(house); err != nil {
			return m, nil, err
		}
	}
	invitation, invited, err := tx.InvitationTo(house.ID, person.Email)
	if err == nil && invited {
		err = tx.DeleteInvitation(invitation.ID)
	}
	if err != nil {
		return m, nil, err
	}
	joined, err := memberEvent(tx, house, motion.MemberJoinedEvent, person, m)
	return m, []motion.Event{joined}, err
}

// nobody returns the data of an event about a member whom it must not name.
func memberData(u home.User) motion.Document {
	return motion.Document{
		"id": int64(u.ID), "sub": u.Sub, "first_name": u.FirstName, "last_name": u.LastName, "user": map[string]any{},
	}
}
