package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// RemoveMember ends a membership (payloads.md 5.2): the owner removes anyone but
// themselves, a member only themselves. Forbidden: another's membership. Conflict: the
// owner's, who leaves by disowning the network or deleting the account. NotFound: no
// such membership.
func (h *Household) RemoveMember(ctx context.Context, id home.MembershipID, by home.UserID) error {
	var m home.Membership
	err := h.engine.RecordChange(ctx, func(tx *store.Tx) (_ []motion.Event, err error) {
		if m, err = tx.Membership(id); err != nil {
			return nil, err
		}
		asking, _, err := tx.MembershipOf(m.Home, by)
		switch {
		case err != nil:
			return nil, err
		case m.User != by && asking.Role != home.OwnerRole:
			return nil, fault.New(fault.Forbidden, "only the owner of the network removes another member")
		case m.Role == home.OwnerRole:
			return nil, fault.New(fault.Conflict, "the owner cannot leave; DELETE /networks/%d disowns the network", m.Home)
		}
		return leave(tx, m, true)
	})
	if err != nil {
		return err
	}
	h.ended()
	h.log.Info("member removed", "home", m.Home, "user", m.User)
	return nil
}

// leave ends a membership and returns its event. named: the event says who it was.
func leave(tx *store.Tx, m home.Membership, named bool) ([]motion.Event, error) {
	one, err := tx.Home(m.Home)
	if err != nil {
		return nil, err
	}
	person, err := tx.User(m.User)
	if err != nil {
		return nil, err
	}
	if err := tx.DeleteMembership(m.ID); err != nil {
		return nil, err
	}
	removed, err := systemEvent(tx, one, motion.MemberRemovedEvent)
	removed.Data = motion.Document{"user": map[string]any{}}
	if named {
		removed.Data = memberData(person)
	}
	return []motion.Event{removed}, err
}

// DeleteUser deletes an account and every trace of the person in the database
// (payloads.md 5.1), their part in the history of any network included: the event of
// their leaving names nobody. What they own is disowned, or without disown becomes
// ownerless: its invitations die, its members stay, and one without members is
// forgotten as a home while its network goes on in Core. NotFound: no such user.
func (h *Household) DeleteUser(ctx context.Context, id home.UserID, disown bool) error {
	owned, err := h.owned(ctx, id)
	if err != nil {
		return err
	}
	for _, one := range owned {
		if !disown {
			break
		}
		if err := h.Disown(ctx, one, id); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	err = h.engine.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) { return deleteUser(tx, id) })
	if fault.KindOf(err) == fault.NotFound && disown && len(owned) > 0 {
		err = nil // gone with the last network
	}
	if err != nil {
		return err
	}
	h.ended()
	h.log.Info("user deleted", "user", id, "disowned", disown)
	return nil
}

// owned returns the homes that a user owns.
func (h *Household) owned(ctx context.Context, id home.UserID) (owned []home.ID, err error) {
	err = h.db.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.User(id); err != nil {
			return err
		}
		list, err := tx.MembershipsOfUser(id)
		for _, m := range list {
			if m.Role == home.OwnerRole {
				owned = append(owned, m.Home)
			}
		}
		return err
	})
	return owned, err
}

// deleteUser removes a person from their homes and then altogether. It returns the
// events of the homes that others live in.
func deleteUser(tx *store.Tx, id home.UserID) (events []motion.Event, err error) {
	memberships, err := tx.MembershipsOfUser(id)
	if err != nil {
		return nil, err
	}
	for _, m := range memberships {
		left, err := leave(tx, m, false)
		if err != nil {
			return nil, err
		}
		if m.Role == home.OwnerRole {
			if err := ownerless(tx, m.Home); err != nil {
				return nil, err
			}
		}
		others, err := tx.MembershipsOfHome(m.Home)
		switch {
		case err != nil:
			return nil, err
		case len(others) > 0:
			events = append(events, left...)
		default:
			if err := tx.DeleteHome(m.Home); err != nil {
				return nil, err
			}
		}
	}
	return events, forget(tx, id)
}

// forget removes what is known of a person.
func forget(tx *store.Tx, id home.UserID) error {
	person, err := tx.User(id)
	if err != nil {
		return err
	}
	if err := tx.ForgetInEvents(person); err != nil {
		return err
	}
	return tx.DeleteUser(id)
}
