package household

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// RemoveMobile deletes a mobile device of a user and its presence reports. A user whom only
// that device reported at home counts as away. NotFound: the user has no such device.
func (h *Household) RemoveMobile(ctx context.Context, user home.UserID, id home.MobileID) error {
	var changed []home.ID
	err := h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		d, ok, err := tx.FindMobile(id)
		if err == nil && (!ok || d.UserID != user) {
			err = fault.New(fault.NotFound, "mobile device %d is not known", id)
		}
		if err != nil {
			return nil, err
		}
		if err := tx.DeleteMobile(id); err != nil {
			return nil, err
		}
		memberships, err := tx.MembershipsOfUser(user)
		if err != nil {
			return nil, err
		}
		var own []home.ID
		for _, m := range memberships {
			own = append(own, m.Home)
		}
		changed, events, err = departAll(tx, own)
		return events, err
	})
	if err != nil {
		return err
	}
	return h.armAll(ctx, changed)
}

// Depart raises MemberLeftEvent for every member who counts as away because their mobile
// device was removed, for example by a log-out or a new password. The scene follows in homes
// that enable it. Callers that end sessions call Depart after the commit; Look calls it too.
func (h *Household) Depart(ctx context.Context) error {
	var waiting []home.ID
	err := h.db.View(ctx, func(tx *store.Tx) error {
		homes, err := tx.Homes()
		for _, house := range homes {
			memberships, err := tx.MembershipsOfHome(house.ID)
			if err != nil {
				return err
			}
			if tx.Here(house.ExternalID) != nil {
				continue // it has gone to another box
			}
			if slices.ContainsFunc(memberships, func(m home.Membership) bool { return m.Left }) {
				waiting = append(waiting, house.ID)
			}
		}
		return err
	})
	if err != nil || len(waiting) == 0 {
		return err
	}
	var changed []home.ID
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		changed, events, err = departAll(tx, waiting)
		return events, err
	})
	if err != nil {
		return err
	}
	return h.armAll(ctx, changed)
}

// departAll calls depart for several homes and returns those whose scene changed.
func departAll(tx *store.Tx, homes []home.ID) (changed []home.ID, events []motion.Event, err error) {
	for _, id := range homes {
		scene, raised, err := depart(tx, id)
		if err != nil {
			return nil, nil, err
		}
		if events = append(events, raised...); scene {
			changed = append(changed, id)
		}
	}
	return changed, events, nil
}

// depart returns the events of the members of a home who left because a mobile device was
// removed, and whether the scene changed.
func depart(tx *store.Tx, id home.ID) (changed bool, events []motion.Event, err error) {
	memberships, err := tx.MembershipsOfHome(id)
	after := home.CountPresent(memberships)
	gone := slices.DeleteFunc(memberships, func(m home.Membership) bool { return !m.Left })
	if err != nil || len(gone) == 0 {
		return false, nil, err
	}
	house, err := tx.Home(id)
	if err != nil {
		return false, nil, err
	}
	var last home.UserID
	for _, m := range gone {
		m.Left = false
		if err := tx.PutMembership(m); err != nil {
			return false, nil, err
		}
		person, err := tx.User(m.User)
		if err != nil {
			return false, nil, err
		}
		left, err := presenceEvents(tx, house, person, m, false)
		if err != nil {
			return false, nil, err
		}
		if last = m.User; m.Unasked {
			last = 0
		}
		events = append(events, left...)
	}
	followed, err := follow(tx, house, last, after+len(gone), after)
	return len(followed) > 0, append(events, followed...), err
}
