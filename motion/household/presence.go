package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Presence is what a geofencing report came to in one home.
type Presence struct {
	Home         home.ID
	User         home.UserID
	Present      bool // whether the user is at home, as far as is known
	PresentCount int  // members at home
	Scene        home.Scene
	SceneChanged bool
}

// ReportPresence takes in what a user's phone says, of one home or of several, all of
// it or nothing (payloads.md 5.5). Of several reports of a home the newest counts, and
// one that is older than the last is ignored. Whoever came or went raises
// MemberArrivedEvent or MemberLeftEvent; where the home wants it the scene follows. The
// answer is by home. NotFound: the user does not belong to one of the homes.
func (h *Household) ReportPresence(ctx context.Context, user home.UserID, reports []home.PresenceReport) (map[home.ID]Presence, error) {
	byHome := map[home.ID][]home.PresenceReport{}
	for _, r := range reports {
		byHome[r.Home] = append(byHome[r.Home], r)
	}
	outcome := map[home.ID]Presence{}
	err := h.engine.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		person, err := tx.User(user)
		if err != nil {
			return nil, err
		}
		for id, reports := range byHome {
			p, raised, err := reportPresence(tx, person, id, reports)
			if err != nil {
				return nil, err
			}
			outcome[id], events = p, append(events, raised...)
		}
		return events, nil
	})
	if err != nil {
		return nil, err
	}
	for id, p := range outcome {
		if !p.SceneChanged {
			continue
		}
		if err := h.arm(ctx, id); err != nil {
			return nil, err
		}
	}
	return outcome, nil
}

// reportPresence takes in the reports of one home.
func reportPresence(tx *store.Tx, person home.User, id home.ID, reports []home.PresenceReport) (Presence, []motion.Event, error) {
	membership, belongs, err := tx.MembershipOf(id, person.ID)
	if err == nil && !belongs {
		err = fault.New(fault.NotFound, "network %d is not known", id)
	}
	if err != nil {
		return Presence{}, nil, err
	}
	one, err := tx.Home(id)
	if err != nil {
		return Presence{}, nil, err
	}
	before, err := present(tx, id)
	if err != nil {
		return Presence{}, nil, err
	}
	after := membership.Report(home.Newest(reports, tx.Now()), tx.Now())
	if after.Membership != membership {
		after.UpdatedAt = tx.Now().Stamp()
		if err := tx.PutMembership(after.Membership); err != nil {
			return Presence{}, nil, err
		}
	}
	p := Presence{Home: id, User: person.ID, Present: after.IsPresent, PresentCount: before, Scene: one.Scene}
	if !after.Changed {
		return p, nil, nil
	}
	events, err := presenceEvents(tx, one, person, after)
	if err != nil {
		return Presence{}, nil, err
	}
	if p.PresentCount, err = present(tx, id); err != nil {
		return Presence{}, nil, err
	}
	followed, err := follow(tx, one, person.ID, before, p.PresentCount)
	if len(followed) > 0 {
		p.Scene, p.SceneChanged = one.Scene.Follow(before, p.PresentCount), true
	}
	return p, append(events, followed...), err
}

// present returns how many members of a home are there.
func present(tx *store.Tx, id home.ID) (int, error) {
	memberships, err := tx.MembershipsOfHome(id)
	return home.CountPresent(memberships), err
}

// presenceEvents returns the event of a member who came or went (payloads.md 4.8).
func presenceEvents(tx *store.Tx, one home.Home, person home.User, after home.Reported) ([]motion.Event, error) {
	kind := motion.MemberLeftEvent
	if after.IsPresent {
		kind = motion.MemberArrivedEvent
	}
	event, err := systemEvent(tx, one, kind)
	event.Data = memberData(person)
	if after.ServerClock {
		event.Detail = motion.Document{"clock": "server"}
	}
	return []motion.Event{event}, err
}

// follow changes the scene with the members at home, where the home wants that, and
// returns the event.
func follow(tx *store.Tx, one home.Home, by home.UserID, before, after int) ([]motion.Event, error) {
	config, err := tx.SceneConfig(one.SceneConfigID)
	if err != nil || !config.AutoSwitching {
		return nil, err
	}
	return setScene(tx, one, by, one.Scene.Follow(before, after), home.ByGeofence)
}
