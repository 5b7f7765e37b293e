package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// LeaveSoon changes the scene of a home to away in home.LeaveDelay, and returns when. Until then
// Stay, or any change of the scene, undoes it. Where it is under way already it goes on.
// Conflict: the scene is away. NotFound: no such home.
func (h *Household) LeaveSoon(ctx context.Context, id home.ID, by home.UserID) (at motion.Time, err error) {
	err = h.db.Update(ctx, func(tx *store.Tx) error {
		house, err := tx.Home(id)
		switch {
		case err != nil:
			return err
		case house.Scene == home.Away:
			return fault.New(fault.Conflict, "scene: the home is away already")
		case house.AwayAt.IsZero() || house.AwayDue(tx.Now()):
			house.AwayAt, house.AwayBy = tx.Now().Add(home.LeaveDelay), by
		}
		at = house.AwayAt
		return tx.PutHome(house)
	})
	h.leaving.Store(true)
	return at, err
}

// Stay undoes LeaveSoon. Where nobody is about to leave it does nothing.
func (h *Household) Stay(ctx context.Context, id home.ID) error {
	return h.db.Update(ctx, func(tx *store.Tx) error {
		house, err := tx.Home(id)
		if err != nil {
			return err
		}
		return stay(tx, house)
	})
}

// stay undoes LeaveSoon in a transaction.
func stay(tx *store.Tx, house home.Home) error {
	if house.AwayAt.IsZero() {
		return nil
	}
	house.AwayAt, house.AwayBy = 0, 0
	return tx.PutHome(house)
}

// Leave changes the scene of the homes whose time for that has come. Watch calls it every second.
func (h *Household) Leave(ctx context.Context) error {
	if !h.leaving.Swap(false) {
		return nil
	}
	homes, err := store.Read(ctx, h.db, (*store.Tx).Homes)
	for _, house := range homes {
		if house.AwayAt.IsZero() {
			continue
		}
		h.leaving.Store(true) // until none is left
		if left := h.leave(ctx, house.ID); left != nil && fault.KindOf(left) != fault.NotFound {
			return left
		}
	}
	if err != nil {
		h.leaving.Store(true)
	}
	return err
}

// leave changes the scene of a home to away if that is due.
func (h *Household) leave(ctx context.Context, id home.ID) error {
	changed := false
	err := h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		house, err := tx.Home(id)
		if err != nil || !house.AwayDue(tx.Now()) {
			return nil, err
		}
		events, err := setScene(tx, house, house.AwayBy, home.Away, home.ByUser)
		changed = len(events) > 0
		return events, err
	})
	if err != nil || !changed {
		return err
	}
	return h.arm(ctx, id)
}
