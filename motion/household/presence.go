package household

import (
	"context"
	"slices"
	"sort"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Presence is the state of one home after a geofencing report.
type Presence struct {
	Home         home.ID
	User         home.UserID
	Present      bool // the user is at home, as far as known
	PresentCount int  // members at home
	Scene        home.Scene
	SceneChanged bool
}

// PresenceReply answers one geofencing report: the state of the home, or the fault in Refused.
type PresenceReply struct {
	Presence
	Refused error
}

// ReportPresence applies geofencing reports of a user's phone about one or several homes
// (payloads.md 5.5) and returns one reply per report, in order; a refused report does not
// affect the others. Among reports of one device about one home the newest counts; reports
// older than the stored one are ignored. A change raises MemberArrivedEvent or
// MemberLeftEvent, and the scene follows in homes that enable it. Refused as NotFound: the
// user does not belong to the home; as Invalid: the device is not theirs.
func (h *Household) ReportPresence(ctx context.Context, user home.UserID, reports []home.PresenceReport) ([]PresenceReply, error) {
	var replies []PresenceReply
	err := h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		person, err := tx.User(user)
		if err != nil {
			return nil, err
		}
		own, err := mobilesOf(tx, user)
		if err != nil {
			return nil, err
		}
		replies = make([]PresenceReply, len(reports))
		var homes []home.ID // in the order of the reports, as their events will be
		byHome := map[home.ID][]home.PresenceReport{}
		for i, r := range reports {
			if replies[i].Refused, err = refused(tx, user, own, r); err != nil {
				return nil, err
			}
			if replies[i].Home = r.Home; replies[i].Refused == nil {
				if byHome[r.Home] == nil {
					homes = append(homes, r.Home)
				}
				byHome[r.Home] = append(byHome[r.Home], r)
			}
		}
		outcome := map[home.ID]Presence{}
		for _, id := range homes {
			p, raised, err := reportPresence(tx, person, id, byHome[id], own)
			if err != nil {
				return nil, err
			}
			outcome[id], events = p, append(events, raised...)
		}
		for i := range replies {
			if replies[i].Refused == nil {
				replies[i].Presence = outcome[replies[i].Home]
			}
		}
		return events, nil
	})
	if err != nil {
		return nil, err
	}
	var changed []home.ID
	for _, r := range replies {
		if r.SceneChanged && !slices.Contains(changed, r.Home) {
			changed = append(changed, r.Home)
		}
	}
	return replies, h.armAll(ctx, changed)
}

// armAll calls arm for homes whose scene changed.
func (h *Household) armAll(ctx context.Context, changed []home.ID) error {
	for _, id := range changed {
		if err := h.arm(ctx, id); err != nil && fault.KindOf(err) != fault.NotFound { // disowned meanwhile
			return err
		}
	}
	return nil
}

// mobilesOf returns the ids of a user's mobile devices.
func mobilesOf(tx *store.Tx, user home.UserID) (own []home.MobileID, err error) {
	mobiles, err := tx.MobilesOfUser(user)
	for _, d := range mobiles {
		own = append(own, d.ID)
	}
	return own, err
}

// refused returns the fault that refuses a report, or nil.
func refused(tx *store.Tx, user home.UserID, own []home.MobileID, r home.PresenceReport) (refused, err error) {
	_, belongs, err := tx.MembershipOf(r.Home, user)
	switch {
	case err != nil:
		return nil, err
	case !belongs:
		return fault.New(fault.NotFound, "network %d is not known", r.Home), nil
	case tx.HereHome(r.Home) != nil:
		return fault.New(fault.NotFound, "network %d has gone to another box", r.Home), nil
	case r.Device != 0 && !slices.Contains(own, r.Device):
		return fault.New(fault.Invalid, "device_id: is none of your mobile devices; register it with POST /mobile_devices, or leave it out"), nil
	}
	return nil, nil
}

// reportPresence applies the reports about one home of the person.
func reportPresence(tx *store.Tx, person home.User, id home.ID, reports []home.PresenceReport, own []home.MobileID) (Presence, []motion.Event, error) {
	earlier, events, err := depart(tx, id)
	if err != nil {
		return Presence{}, nil, err
	}
	before, _, err := tx.MembershipOf(id, person.ID)
	if err != nil {
		return Presence{}, nil, err
	}
	sort.SliceStable(reports, func(i, j int) bool {
		first, _ := reports[i].When(tx.Now())
		second, _ := reports[j].When(tx.Now())
		return first < second
	})
	after, heard, server := before, false, false
	after.Muted = false
	for _, r := range reports {
		after.Unasked = after.Unasked && !r.Named
		reported := after.Report(r, own, tx.Now())
		if after = reported.Membership; reported.Heard {
			heard, server = true, reported.ServerClock
		}
	}
	count, err := present(tx, id)
	if err != nil {
		return Presence{}, nil, err
	}
	if heard {
		after.UpdatedAt = tx.Now().Stamp()
		if err := tx.PutMembership(after); err != nil {
			return Presence{}, nil, err
		}
	}
	p, raised, err := moved(tx, person, before, after, count, server)
	p.SceneChanged = p.SceneChanged || earlier
	return p, append(events, raised...), err
}

// moved returns the state of a home and the events after a member's presence was stored;
// count is the number of members at home before.
func moved(tx *store.Tx, person home.User, before, after home.Membership, count int, server bool) (Presence, []motion.Event, error) {
	house, err := tx.Home(after.Home)
	if err != nil {
		return Presence{}, nil, err
	}
	p := Presence{Home: house.ID, User: person.ID, Present: after.IsPresent, PresentCount: count, Scene: house.Scene}
	if after.IsPresent == before.IsPresent {
		return p, nil, nil
	}
	events, err := presenceEvents(tx, house, person, after, server)
	if err != nil {
		return Presence{}, nil, err
	}
	if p.PresentCount, err = present(tx, house.ID); err != nil {
		return Presence{}, nil, err
	}
	by := person.ID
	if after.Unasked {
		by = 0
	}
	followed, err := follow(tx, house, by, count, p.PresentCount)
	if len(followed) > 0 {
		p.Scene, p.SceneChanged = house.Scene.Follow(count, p.PresentCount), true
	}
	return p, append(events, followed...), err
}

// present returns the number of members who are at home.
func present(tx *store.Tx, id home.ID) (int, error) {
	memberships, err := tx.MembershipsOfHome(id)
	return home.CountPresent(memberships), err
}

// presenceEvents returns the event of a member who arrived or left (payloads.md 4.8).
func presenceEvents(tx *store.Tx, house home.Home, person home.User, m home.Membership, server bool) ([]motion.Event, error) {
	kind := motion.MemberLeftEvent
	if m.IsPresent {
		kind = motion.MemberArrivedEvent
	}
	event, err := memberEvent(tx, house, kind, person, m)
	if server {
		event.Detail = motion.Document{"clock": "server"}
	}
	return []motion.Event{event}, err
}

// follow changes the scene with the number of members at home, if the home enables that, and
// returns the event.
func follow(tx *store.Tx, house home.Home, by home.UserID, before, after int) ([]motion.Event, error) {
	config, err := tx.SceneConfig(house.SceneConfigID)
	if err != nil || !config.AutoSwitching {
		return nil, err
	}
	return setScene(tx, house, by, house.Scene.Follow(before, after), home.ByGeofence)
}
