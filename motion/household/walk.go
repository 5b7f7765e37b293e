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
// those of StartWalk of the engine. Invalid: no name of a room. Throttled: installers have begun many
// in the last hour. One of an installer whose time is over ends first.
func (h *Household) StartWalk(ctx context.Context, id home.ID, network motion.NetworkID, who Viewer, room string) (sensing.WalkState, error) {
	if err := roomName(&room); err != nil {
		return sensing.WalkState{}, err
	}
	now, err := h.endForsakenWalk(ctx, id, network)
	if err != nil {
		return sensing.WalkState{}, err
	}
	if wait := h.starts.full(id, now); wait > 0 && !who.Resident {
		return sensing.WalkState{}, &fault.Error{
			Kind: fault.Throttled, RetryAfter: wait,
			Message: "walk test: many were begun in the last hour; go on to other rooms within one",
		}
	}
	started, err := h.engine.Sensing.StartWalk(network, room)
	if err != nil {
		return started, err
	}
	h.walks.Store(network, ownWalk{started.ID, who.User})
	if who.Resident {
		h.starts.began(id, 0, now)
		return started, nil
	}
	h.starts.began(id, who.User, now)
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		house, err := tx.Home(id)
		if err != nil {
			return nil, err
		}
		installer, err := tx.User(who.User)
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
	by, still := h.starts.beganBy(id), false
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
func (h *Household) NextWalk(network motion.NetworkID, who Viewer, room string) (sensing.WalkState, error) {
	if err := roomName(&room); err != nil {
		return sensing.WalkState{}, err
	}
	state, err := h.engine.Sensing.NextWalk(network, room)
	return h.walkFor(network, who, state), err
}

// EndWalk ends the walk test of a network. Errors are those of EndWalk of the engine.
func (h *Household) EndWalk(network motion.NetworkID) (sensing.WalkState, error) {
	return h.engine.Sensing.EndWalk(network)
}

// Walk returns the walk test that runs, or else the last one. Errors are those of Walk of the engine.
func (h *Household) Walk(network motion.NetworkID, who Viewer) (sensing.WalkState, error) {
	state, err := h.engine.Sensing.Walk(network)
	return h.walkFor(network, who, state), err
}

// WalkLive returns how the links are now while a walk test runs whose motion the viewer may see.
// NotFound: the network.
func (h *Household) WalkLive(network motion.NetworkID, who Viewer) ([]sensing.LiveLink, error) {
	if !h.seesLive(network, who) {
		return nil, nil
	}
	return h.engine.Sensing.WalkLive(network)
}

// ownWalk says who has begun a walk test.
type ownWalk struct {
	id   string
	user home.UserID
}

// walkFor hides from whoever may not see motion live what a running walk test has found: without that
// they see only that it runs.
func (h *Household) walkFor(network motion.NetworkID, who Viewer, s sensing.WalkState) sensing.WalkState {
	if s.Running && !h.began(network, who, s.ID) {
		s.Room, s.Moving, s.Rooms, s.Links = "", nil, nil, nil
	}
	return s
}

// began reports whether a walk test is shown to somebody live: they live in the home, or have begun it.
func (h *Household) began(network motion.NetworkID, who Viewer, id string) bool {
	last, _ := h.walks.Load(network)
	return who.Resident || last == ownWalk{id, who.User}
}

// seesLive reports whether somebody sees how links are now: always as a resident, else while a walk
// test runs that they have begun.
func (h *Household) seesLive(network motion.NetworkID, who Viewer) bool {
	if who.Resident {
		return true
	}
	state, err := h.engine.Sensing.Walk(network)
	return err == nil && state.Running && h.began(network, who, state.ID)
}

// roomName brings the name of a room into its usual form, or says what is wrong with it.
func roomName(room *string) error {
	*room = strings.TrimSpace(*room)
	if wrong := setting.PlaceMistake(*room); *room == "" || wrong != "" {
		return home.NameFault(fault.Details{{Location: "body.room", Message: "want the name of a room", Value: *room}})
	}
	return nil
}
