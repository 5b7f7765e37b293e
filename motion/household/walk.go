package household

import (
	"context"
	"strings"

	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/setting"
	"sensegate/store"
)

// StartWalk begins a walk test of a home in a room. While it runs, the user sees when links move; so
// the household is told of one that an installer begins, and without that it does not begin. Errors are
// those of StartWalk of the engine. Invalid: no name of a room.
func (h *Household) StartWalk(ctx context.Context, id home.ID, network motion.NetworkID, user home.UserID, resident bool, room string) (sensing.WalkState, error) {
	if err := roomName(&room); err != nil {
		return sensing.WalkState{}, err
	}
	now, err := h.endForsakenWalk(ctx, id, network)
	if err != nil {
		return sensing.WalkState{}, err
	}
	if wait := h.walks.full(id, now); wait > 0 && !resident {
		return sensing.WalkState{}, &fault.Error{
			Kind: fault.Throttled, RetryAfter: wait,
			Message: "walk test: many were begun in the last hour; go on to other rooms within one",
		}
	}
	started, err := h.engine.Sensing.StartWalk(network, room)
	if err != nil {
		return started, err
	}
	if resident {
		h.walks.began(id, 0, now)
		return started, nil
	}
	h.walks.began(id, user, now)
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		house, err := tx.Home(id)
		if err != nil {
			return nil, err
		}
		installer, err := tx.User(user)
		if err != nil {
			return nil, err
		}
		event, err := systemEvent(tx, house, motion.WalkTestStartedEvent)
		event.Data = memberData(installer)
		return []motion.Event{event}, err
	})
	if err != nil {
		_, _ = h.engine.Sensing.EndWalk(network) // a network that is gone has none
		return sensing.WalkState{}, err
	}
	return started, nil
}

// endForsakenWalk ends a walk test of an installer who is none any more, and returns the time.
func (h *Household) endForsakenWalk(ctx context.Context, id home.ID, network motion.NetworkID) (now motion.Time, err error) {
	by, still := h.walks.beganBy(id), false
	err = h.db.View(ctx, func(tx *store.Tx) error {
		house, err := tx.Home(id)
		now = tx.Now()
		_, still = house.InstallerOf(by, now)
		return err
	})
	if err == nil && by != 0 && !still {
		_, err = h.engine.Sensing.EndWalk(network)
	}
	return now, err
}

// NextWalk goes on with a walk test to another room. Errors are those of NextWalk of the engine.
// Invalid: no name of a room.
func (h *Household) NextWalk(network motion.NetworkID, room string) (sensing.WalkState, error) {
	if err := roomName(&room); err != nil {
		return sensing.WalkState{}, err
	}
	return h.engine.Sensing.NextWalk(network, room)
}

// roomName brings the name of a room into its usual form, or says what is wrong with it.
func roomName(room *string) error {
	*room = strings.TrimSpace(*room)
	if wrong := setting.PlaceMistake(*room); *room == "" || wrong != "" {
		return fault.At("body.room", *room, "want the name of a room")
	}
	return nil
}
