package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// RemoveMember ends a membership (payloads.md 5.2). The owner may remove any other member, a
// member only themselves. Forbidden: a member removes another. Conflict: the membership is the
// owner's; they hand over or disown the home, or delete the account. NotFound: no such
// membership.
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
		if changed, events, err = leave(tx, m, true); err != nil {
			return nil, err
		}
		return events, h.leaveAdministration(tx, m)
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

// leave ends a membership and the presence of the member. It returns the events and whether
// the scene changed. named: the events name the member.
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
	removed, err := memberEvent(tx, house, motion.MemberRemovedEvent, person, m)
	return changed, append(events, removed), err
}

// Leaving says what happens to the homes of an owner who deletes their account.
type Leaving struct {
	Disown    bool        // disown the homes; otherwise a member becomes the owner
	Successor home.UserID // the new owner of homes they belong to; 0 = the default successor
}

// DeleteUser deletes an account and all data about the person (payloads.md 5.1), also in the
// history of networks: the events of their departure do not name them. Homes they own are
// disowned or go to a successor (home.Successor); a home without a successor is wiped while
// its network continues in Core (payloads.md 6 no. 16). NotFound: no such user. Invalid: the
// successor belongs to none of the user's homes.
func (h *Household) DeleteUser(ctx context.Context, id home.UserID, how Leaving) error {
	owned, err := h.owned(ctx, id)
	if err != nil {
		return err
	}
	if err := h.checkSuccessor(ctx, owned, how); err != nil {
		return err
	}
	if how.Disown && len(owned) > 0 {
		// Viewers of an own network must see that the account ended, not the network.
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
	ctx = context.WithoutCancel(ctx) // the steps after the commit must run even if the caller is gone
	var after departure
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (_ []motion.Event, err error) {
		after, err = h.deleteUser(tx, id, how.Successor)
		return after.events, err
	})
	if fault.KindOf(err) == fault.NotFound && how.Disown && len(owned) > 0 {
		err = nil // deleted with the last network
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

// departure is the effect of a person leaving all their homes.
type departure struct {
	scenes  []home.ID          // homes whose scene changed
	vacated []motion.NetworkID // networks whose home was wiped
	events  []motion.Event     // for homes with other members
}

// deleteUser ends the memberships of a person, passes the homes they own to a successor, and
// deletes the person.
func (h *Household) deleteUser(tx *store.Tx, id, successor home.UserID) (d departure, err error) {
	memberships, err := tx.MembershipsOfUser(id)
	if err != nil {
		return d, err
	}
	if d.events, err = leaveInstallations(tx, id); err != nil {
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

// mayGo returns a Conflict fault for the only administrator of an appliance that others use.
func mayGo(tx *store.Tx, id home.UserID) error {
	all, err := tx.Users()
	if err != nil || len(all) < 2 {
		return err
	}
	return tx.CheckLastAdministrator(id)
}

// forget deletes all data about a person and mails them. The only administrator stays while there
// are other accounts: a Conflict fault.
func (h *Household) forget(tx *store.Tx, id home.UserID) error {
	person, err := tx.User(id)
	if err != nil {
		return err
	}
	if err := mayGo(tx, id); err != nil {
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
