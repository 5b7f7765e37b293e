package household

import (
	"context"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/setting"
	"sensegate/store"
)

// ownWalk says who has begun a walk test.
type ownWalk struct {
	id       string
	home     home.ID
	user     home.UserID
	resident bool
}

// StartWalk begins a walk test of a home in a room. While it runs, the user sees when links move; so
// the household is told of one that an installer begins, and without that it does not begin. Errors are
// those of StartWalk of the engine. Invalid: no name of a room. Throttled: installers have begun many
// in the last hour, or day. NotFound: the user has lost the home meanwhile.
func (h *Household) StartWalk(ctx context.Context, id home.ID, network motion.NetworkID, who Viewer, room string) (sensing.WalkState, error) {
	if err := roomName(&room); err != nil {
		return sensing.WalkState{}, err
	}
	h.endForsakenWalks(ctx) // an installer's time may be over, which nobody has noticed yet
	now, err := h.now(ctx)
	if err != nil {
		return sensing.WalkState{}, err
	}
	if wait := h.starts.full(id, now); wait > 0 && !who.Resident {
		return sensing.WalkState{}, &fault.Error{
			Kind: fault.Throttled, RetryAfter: wait,
			Message: "walk test: installers have begun many; go on to other rooms within one",
		}
	}
	started, err := h.engine.Sensing.StartWalk(network, room)
	if err != nil {
		return started, err
	}
	own := ownWalk{started.ID, id, who.User, who.Resident}
	h.walks.Store(network, own) // before the look below, so that whoever leaves after it finds the test
	if who.Resident {
		err = h.db.View(ctx, func(tx *store.Tx) error { return own.allowed(tx) })
	} else {
		h.starts.began(id, started.ID, now)
		err = h.tellOfWalk(ctx, own)
	}
	if err != nil {
		_, _ = h.engine.Sensing.EndWalk(network) // a network that is gone has none
		return sensing.WalkState{}, err
	}
	return h.walkFor(ctx, network, who, started)
}

// tellOfWalk tells the household of a walk test that an installer has begun.
func (h *Household) tellOfWalk(ctx context.Context, own ownWalk) error {
	return h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		if err := own.allowed(tx); err != nil {
			return nil, err
		}
		event, err := installerEvent(tx, own.home, own.user, motion.WalkTestStartedEvent)
		return []motion.Event{event}, err
	})
}

// now returns the time of the database's clock.
func (h *Household) now(ctx context.Context) (motion.Time, error) {
	return store.Read(ctx, h.db, func(tx *store.Tx) (motion.Time, error) { return tx.Now(), nil })
}

// installerEvent returns an event about what an installer has done in a home.
func installerEvent(tx *store.Tx, id home.ID, user home.UserID, kind string) (motion.Event, error) {
	house, err := tx.Home(id)
	if err != nil {
		return motion.Event{}, err
	}
	installer, err := tx.User(user)
	if err != nil {
		return motion.Event{}, err
	}
	event, err := systemEvent(tx, house, kind)
	event.Data = home.DoneBy(installer)
	return event, err
}

// allowed returns NotFound when whoever has begun a test no longer sees the home as they did: its owner
// owns it no more, though they may have stayed as installer, or an installer is none any more.
func (own ownWalk) allowed(tx *store.Tx) error {
	house, err := tx.Home(own.home)
	if err != nil {
		return err
	}
	m, _, err := tx.MembershipOf(own.home, own.user)
	if err != nil || m.Role == home.OwnerRole {
		return err
	}
	if _, installs := house.InstallerOf(own.user, tx.Now()); installs && !own.resident {
		return nil
	}
	return fault.New(fault.NotFound, "network %d is not known", own.home)
}

// endForsakenWalks ends the walk tests of those who have lost the home.
func (h *Household) endForsakenWalks(ctx context.Context) {
	h.walks.Range(func(network, begun any) bool {
		own, id := begun.(ownWalk), network.(motion.NetworkID)
		if state, err := h.engine.Sensing.Walk(id); err != nil || !state.Running || state.ID != own.id {
			return true // it is over
		}
		err := h.db.View(ctx, func(tx *store.Tx) error { return own.allowed(tx) })
		if fault.KindOf(err) == fault.NotFound {
			_, _ = h.engine.Sensing.EndWalk(id) // a network that is gone has none
		}
		return true
	})
}

// NextWalk goes on with a walk test to another room. Errors are those of NextWalk of the engine.
// Invalid: no name of a room. Forbidden: somebody else has begun it.
func (h *Household) NextWalk(ctx context.Context, network motion.NetworkID, who Viewer, room string) (sensing.WalkState, error) {
	if err := roomName(&room); err != nil {
		return sensing.WalkState{}, err
	}
	if err := h.mayStep(network, who); err != nil {
		return sensing.WalkState{}, err
	}
	state, err := h.engine.Sensing.NextWalk(network, room)
	if err != nil {
		return state, err
	}
	return h.walkFor(ctx, network, who, state)
}

// EndWalk ends the walk test of a network. Errors are those of EndWalk of the engine. Forbidden: it runs,
// and somebody else has begun it.
func (h *Household) EndWalk(ctx context.Context, network motion.NetworkID, who Viewer) (sensing.WalkState, error) {
	if err := h.mayStep(network, who); err != nil {
		return sensing.WalkState{}, err
	}
	state, err := h.engine.Sensing.EndWalk(network)
	if err != nil {
		return state, err
	}
	now, err := h.now(ctx)
	if err != nil {
		return sensing.WalkState{}, err
	}
	h.starts.ended(state.ID, now)
	return h.walkFor(ctx, network, who, state)
}

// mayStep returns a fault for whoever may not step or end the walk test that runs.
func (h *Household) mayStep(network motion.NetworkID, who Viewer) error {
	state, err := h.engine.Sensing.Walk(network)
	if err == nil && state.Running && !h.began(network, who, state.ID) {
		err = fault.New(fault.Forbidden, "walk test: somebody else has begun it; wait until it is over")
	}
	return err
}

// Walk returns the walk test that runs, or else the last one. Errors are those of Walk of the engine.
func (h *Household) Walk(ctx context.Context, network motion.NetworkID, who Viewer) (sensing.WalkState, error) {
	state, err := h.engine.Sensing.Walk(network)
	if err != nil {
		return state, err
	}
	return h.walkFor(ctx, network, who, state)
}

// WalkLive returns how the links are now while a walk test runs whose motion the viewer may see.
// NotFound: the network.
func (h *Household) WalkLive(ctx context.Context, network motion.NetworkID, who Viewer) ([]sensing.LiveLink, error) {
	if !h.seesLive(network, who) {
		return nil, nil
	}
	hidden, err := h.hidden(ctx, network, who)
	if err != nil {
		return nil, err
	}
	links, err := h.engine.Sensing.WalkLive(network)
	return slices.DeleteFunc(links, func(l sensing.LiveLink) bool { return hiddenEnd(l.From, hidden) }), err
}

// walkFor hides from whoever may not see a walk test what it has found, also when it is over: they see
// only that it runs.
func (h *Household) walkFor(ctx context.Context, network motion.NetworkID, who Viewer, s sensing.WalkState) (sensing.WalkState, error) {
	if !h.began(network, who, s.ID) {
		s.Room, s.Moving, s.Rooms, s.Links = "", nil, nil, nil
		return s, nil
	}
	hidden, err := h.hidden(ctx, network, who)
	if err != nil || hidden == nil {
		return s, err
	}
	return withoutHidden(s, hidden), nil
}

// began reports whether a walk test is shown to somebody: they live in the home, or have begun it.
func (h *Household) began(network motion.NetworkID, who Viewer, id string) bool {
	begun, _ := h.walks.Load(network)
	own, _ := begun.(ownWalk)
	return who.Resident || own.id == id && own.user == who.User
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
