package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// RemoveMember ends a membership (payloads.md 5.2): the owner removes anyone but
// themselves, a member only themselves. Forbidden: another's membership. Conflict: the
// owner's, who hands the home over first, disowns it or deletes the account. NotFound: no
// such membership.
func (h *Household) RemoveMember(ctx context.Context, id home.MembershipID, by home.UserID) error {
	var m home.Membership
	var changed bool
	err := h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
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
			return nil, fault.New(fault.Conflict, "the owner cannot leave: make another member the owner first, or disown the network with DELETE /networks/%d", m.Home)
		}
		changed, events, err = leave(tx, m, true)
		return events, err
	})
	if err != nil {
		return err
	}
	h.ended()
	h.log.Info("member removed", "home", m.Home, "user", m.User)
	if !changed {
		return nil
	}
	return h.armAll(ctx, []home.ID{m.Home})
}

// leave ends a membership, and with it the presence of the member. It returns the events
// and whether the scene has changed. named: the events say who it was.
func leave(tx *store.Tx, m home.Membership, named bool) (changed bool, events []motion.Event, err error) {
	house, err := tx.Home(m.Home)
	if err != nil {
		return false, nil, err
	}
	person, err := tx.User(m.User)
	if err != nil {
		return false, nil, err
	}
	m.Unasked = m.Unasked || !named
	m.IsPresent, m.Left = false, m.Left || m.IsPresent
	if err := tx.PutMembership(m); err != nil {
		return false, nil, err
	}
	if changed, events, err = depart(tx, m.Home); err != nil {
		return false, nil, err
	}
	if err := tx.DeleteMembership(m.ID); err != nil {
		return false, nil, err
	}
	removed, err := systemEvent(tx, house, motion.MemberRemovedEvent)
	removed.Data = nobody()
	if !m.Unasked {
		removed.Data = memberData(person)
	}
	return changed, append(events, removed), err
}

// Leaving is how the owner of homes deletes their account.
type Leaving struct {
	Disown    bool        // the homes are disowned; otherwise a member succeeds
	Successor home.UserID // who, where they are a member; 0: who comes next
}

// DeleteUser deletes an account and every trace of the person in the database
// (payloads.md 5.1), their part in the history of any network included: the event of
// their leaving names nobody. What they own is disowned, or else goes to a successor
// (home.Successor); a home without one is wiped while its network goes on in Core
// (payloads.md 6 no. 16). NotFound: no such user. Invalid: the successor is no
// member of what the user owns.
func (h *Household) DeleteUser(ctx context.Context, id home.UserID, how Leaving) error {
	owned, err := h.owned(ctx, id)
	if err != nil {
		return err
	}
	if err := h.checkSuccessor(ctx, owned, how); err != nil {
		return err
	}
	if how.Disown && len(owned) > 0 {
		// Who watches an own network is told that the account has ended, whichever goes first.
		if err := h.db.Update(ctx, func(tx *store.Tx) error { return tx.EndSessionsOfUser(id, "") }); err != nil {
			return err
		}
	}
	for _, homeID := range owned {
		if !how.Disown {
			break
		}
		if err := h.Disown(ctx, homeID, id); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // what follows the commit is done, whether or not anybody waits for it
	var after departure
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (_ []motion.Event, err error) {
		after, err = h.deleteUser(tx, id, how.Successor)
		return after.events, err
	})
	if fault.KindOf(err) == fault.NotFound && how.Disown && len(owned) > 0 {
		err = nil // gone with the last network
	}
	if err != nil {
		return err
	}
	h.ended()
	h.log.Info("user deleted", "user", id, "disowned", how.Disown)
	for _, network := range after.vacated {
		if err := h.engine.Inventory.Vacated(ctx, network); err != nil && fault.KindOf(err) != fault.NotFound { // deleted meanwhile
			return err
		}
	}
	return h.armAll(ctx, after.scenes)
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

// departure is what comes of it that a person leaves their homes.
type departure struct {
	scenes  []home.ID          // whose scene has changed
	vacated []motion.NetworkID // whose home was wiped
	events  []motion.Event     // of the homes that others live in
}

// deleteUser removes a person from their homes, what they own goes to a successor, and then
// altogether.
func (h *Household) deleteUser(tx *store.Tx, id, successor home.UserID) (d departure, err error) {
	memberships, err := tx.MembershipsOfUser(id)
	if err != nil {
		return d, err
	}
	for _, m := range memberships {
		scene, left, err := leave(tx, m, false)
		if err != nil {
			return d, err
		}
		if scene {
			d.scenes = append(d.scenes, m.Home)
		}
		if m.Role != home.OwnerRole {
			d.events = append(d.events, left...)
			continue
		}
		if err := h.succeed(tx, &d, m.Home, successor, left); err != nil {
			return d, err
		}
	}
	return d, h.forget(tx, id)
}

// forget removes what is known of a person, and tells their address.
func (h *Household) forget(tx *store.Tx, id home.UserID) error {
	person, err := tx.User(id)
	if err != nil {
		return err
	}
	if err := tx.ForgetInEvents(person); err != nil {
		return err
	}
	if err := tx.DeleteUser(id); err != nil {
		return err
	}
	return h.mail(tx, notify.Mail{Kind: notify.AccountDeleted, To: person.Email})
}
