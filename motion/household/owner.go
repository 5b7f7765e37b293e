package household

import (
	"cmp"
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// Reasons for a change of owner, in the detail of OwnerChangedEvent.
const (
	ownerLeft  = "left"
	handedOver = "handed_over"
)

// HandOver makes a member the owner of the home on behalf of the owner, who becomes a member
// (payloads.md 6 no. 16). The history stays; the open invitations and join codes become void;
// both get a mail. Forbidden: by does not own the home. Conflict: the account is not confirmed,
// or was added and has not joined. NotFound: no such membership.
func (h *Household) HandOver(ctx context.Context, id home.MembershipID, by home.UserID) (changed home.Membership, err error) {
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		if changed, err = tx.Membership(id); err != nil {
			return nil, err
		}
		former, err := ownershipOf(tx, changed.Home, by)
		if err != nil || former.ID == changed.ID {
			return nil, err
		}
		person, err := tx.User(changed.User)
		if err != nil {
			return nil, err
		}
		if !person.Confirmed() || changed.Unasked {
			return nil, fault.New(fault.Conflict, "role: this member was added and has not joined yet; only a member who has joined can own the network")
		}
		former.Role, former.UpdatedAt = home.MemberRole, tx.Now().Stamp()
		if err := tx.PutMembership(former); err != nil {
			return nil, err
		}
		var events []motion.Event
		if changed, events, err = h.promote(tx, changed, handedOver); err != nil {
			return nil, err
		}
		return events, h.mailOwner(tx, changed, []home.Membership{former, changed}, nil)
	})
	if err != nil {
		return home.Membership{}, err
	}
	if changed.User == by { // already the owner
		return changed, nil
	}
	h.EndJoinCodes(changed.Home)
	h.ended()
	h.log.Info("network handed over", "home", changed.Home, "from", by, "to", changed.User)
	return changed, nil
}

// ownershipOf returns the membership of the owner of a home. Forbidden: user does not own it.
func ownershipOf(tx *store.Tx, id home.ID, user home.UserID) (home.Membership, error) {
	m, _, err := tx.MembershipOf(id, user)
	if err == nil && m.Role != home.OwnerRole {
		err = fault.New(fault.Forbidden, "only the owner of the network may do this")
	}
	return m, err
}

// checkSuccessor returns an Invalid fault if the named successor cannot succeed.
func (h *Household) checkSuccessor(ctx context.Context, owned []home.ID, how Leaving) error {
	if how.Successor == 0 {
		return nil
	}
	if how.Disown {
		return fault.New(fault.Invalid, "successor: leave it out, or delete_claimed_network; nobody succeeds in a network that is deleted")
	}
	return h.db.View(ctx, func(tx *store.Tx) error {
		for _, id := range owned {
			if next, _, err := tx.Successor(id, how.Successor); err != nil || next.User == how.Successor {
				return err
			}
		}
		return fault.New(fault.Invalid, "successor: want the user_id of a member of a network that you own")
	})
}

// succeed makes the successor the owner of a home whose owner left; left holds the events of
// the departure. It wipes a home without a successor and raises no event.
func (h *Household) succeed(tx *store.Tx, d *departure, id home.ID, named home.UserID, left []motion.Event) error {
	next, ok, err := tx.Successor(id, named)
	if err != nil {
		return err
	}
	if !ok {
		if err := h.engine.Devices.EndUsersOf(tx, id); err != nil {
			return err
		}
		empty, err := tx.VacateHome(id)
		d.vacated = append(d.vacated, empty.ExternalID)
		return err
	}
	events, err := h.promoteAndTell(tx, next)
	d.events = slices.Concat(d.events, left, events)
	return err
}

// promoteAndTell makes a member the owner of a home whose owner left, mails all members and
// returns the event.
func (h *Household) promoteAndTell(tx *store.Tx, next home.Membership) ([]motion.Event, error) {
	next, events, err := h.promote(tx, next, ownerLeft)
	if err != nil {
		return nil, err
	}
	members, err := tx.MembershipsOfHome(next.Home)
	if err != nil {
		return nil, err
	}
	return events, h.mailOwner(tx, next, members, nil)
}

// TellOwners raises OwnerChangedEvent and mails the members for every home whose owner a
// database migration chose.
func (h *Household) TellOwners(ctx context.Context) error {
	homes, err := store.Read(ctx, h.db, (*store.Tx).Homes)
	var untold []home.ID
	for _, house := range homes {
		if house.OwnerUntold {
			untold = append(untold, house.ID)
		}
	}
	if err != nil || len(untold) == 0 {
		return err
	}
	return h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		for _, id := range untold {
			told, err := h.tellOwner(tx, id)
			if err != nil {
				return nil, err
			}
			events = append(events, told...)
		}
		return events, nil
	})
}

// tellOwner is TellOwners for one home.
func (h *Household) tellOwner(tx *store.Tx, id home.ID) ([]motion.Event, error) {
	house, err := tx.Home(id)
	if fault.KindOf(err) == fault.NotFound { // deleted meanwhile
		return nil, nil
	}
	if err != nil || !house.OwnerUntold {
		return nil, err
	}
	house.OwnerUntold = false
	if err := tx.PutHome(house); err != nil {
		return nil, err
	}
	members, err := tx.MembershipsOfHome(id)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Role == home.OwnerRole {
			return h.promoteAndTell(tx, m)
		}
	}
	return nil, nil
}

// promote makes a member the owner of their home, which has none, withdraws the invitations of
// the former owner, ends the MQTT user that they have made, whose password they know, and returns
// the event.
func (h *Household) promote(tx *store.Tx, m home.Membership, reason string) (home.Membership, []motion.Event, error) {
	m.Role, m.UpdatedAt = home.OwnerRole, tx.Now().Stamp()
	if err := tx.PutMembership(m); err != nil {
		return m, nil, err
	}
	if err := cmp.Or(tx.DropInvitations(m.Home, true), h.engine.Devices.EndUsersOf(tx, m.Home)); err != nil {
		return m, nil, err
	}
	house, err := tx.Home(m.Home)
	if err != nil {
		return m, nil, err
	}
	person, err := tx.User(m.User)
	if err != nil {
		return m, nil, err
	}
	changed, err := systemEvent(tx, house, motion.OwnerChangedEvent)
	changed.Data, changed.Detail = memberData(person), motion.Document{"reason": reason}
	return m, []motion.Event{changed}, err
}

// mailOwner mails members of a home about its new owner, whom it tells who stays; nil: there is no need.
func (h *Household) mailOwner(tx *store.Tx, owner home.Membership, to []home.Membership, stay []string) error {
	house, err := tx.Home(owner.Home)
	if err != nil {
		return err
	}
	for _, m := range to {
		person, err := tx.User(m.User)
		if err != nil {
			return err
		}
		mail := notify.Mail{Kind: notify.OwnerChanged, To: person.Email, User: person.ID, Home: house.ID, Network: house.Name, Owner: m.User == owner.User}
		if mail.Owner {
			mail.Members = stay
		}
		if m.Unasked {
			mail.Home = 0 // otherwise the owner could read their address in the outbox
		}
		if err := h.mail(tx, mail); err != nil {
			return err
		}
	}
	return nil
}
