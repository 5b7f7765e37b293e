package insights

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/insight"
	"sensegate/store"
)

// maxPresenceEvents is how many arrivals and departures are read for one question. A home
// with more of them in MaxNights tells of the newest.
const maxPresenceEvents = 5000

// absences returns when a household was away in [from, to) (payloads.md 4.9): with motion
// armed in the scene away, or with nobody present.
func absences(tx *store.Tx, id motion.NetworkID, from, to motion.Time) ([]insight.Absence, error) {
	changes, err := tx.ArmedChanges(id, from, to)
	if err != nil {
		return nil, err
	}
	var away []insight.Absence
	for i, change := range changes {
		until := to
		if i+1 < len(changes) {
			until = changes[i+1].At
		}
		if change.Armed {
			away = append(away, insight.Absence{From: max(change.At, from).Second(), To: until.Second()})
		}
	}
	empty, err := emptyTimes(tx, id, from, to)
	return append(away, empty...), err
}

// emptyTimes returns when nobody was present in [from, to): from the present members back
// over those who came and went. It returns nothing unless every member reports their
// presence, because one who does not may have been at home.
func emptyTimes(tx *store.Tx, id motion.NetworkID, from, to motion.Time) ([]insight.Absence, error) {
	one, found, err := tx.HomeOfNetwork(id)
	if err != nil || !found {
		return nil, err
	}
	members, err := tx.MembershipsOfHome(one.ID)
	if err != nil || len(members) == 0 || slices.ContainsFunc(members, func(m home.Membership) bool { return len(m.Devices) == 0 }) {
		return nil, err
	}
	now := tx.Now()
	events, full, err := tx.EventPage(store.EventQuery{
		Network: id, From: &from, To: &now, Last: maxPresenceEvents,
		Kinds: []string{motion.MemberArrivedEvent, motion.MemberLeftEvent},
	})
	var empty []insight.Absence
	present, until := home.CountPresent(members), now
	note := func(begin motion.Time) {
		if begin, end := max(begin, from), min(until, to); present == 0 && begin < end {
			empty = append(empty, insight.Absence{From: begin.Second(), To: end.Second()})
		}
	}
	for _, event := range events { // newest first
		note(event.TS)
		until = event.TS
		if event.Event == motion.MemberLeftEvent {
			present++
		} else {
			present = max(present-1, 0)
		}
	}
	if !full { // these are all since from
		note(from)
	}
	return empty, err
}
