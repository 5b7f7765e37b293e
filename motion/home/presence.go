package home

import (
	"sensegate/motion"
	"sensegate/motion/fault"
)

// Bounds of a phone's clock that is believed (payloads.md section 6 no. 14).
const (
	maxReportAge   motion.Seconds = 24 * 3600
	maxReportAhead motion.Seconds = 5 * 60
)

// PresenceReport is what a phone says of where its person is (payloads.md 5.5). It
// has no coordinates: they are never kept.
type PresenceReport struct {
	Home    ID
	Present bool
	TS      motion.Time // by the phone's clock; 0: it gave none
}

// Presence returns what a report says in its two ways: event is enter, exit or
// leave, isPresent the same as a flag; either may be absent. Invalid: both are, the
// word is unknown, or they contradict each other.
func Presence(event *string, isPresent *bool) (bool, error) {
	if event == nil && isPresent == nil {
		return false, fault.New(fault.Invalid, "event or is_present is required")
	}
	if event == nil {
		return *isPresent, nil
	}
	var entered bool
	switch *event {
	case "enter":
		entered = true
	case "exit", "leave":
	default:
		return false, fault.New(fault.Invalid, "event: want enter, exit or leave")
	}
	if isPresent != nil && *isPresent != entered {
		return false, fault.New(fault.Invalid, "is_present: contradicts event")
	}
	return entered, nil
}

// Newest returns the report of a phone that counts: the one with the newest TS, of
// equal ones the last; one without TS is from received. reports are of one home, and
// not empty.
func Newest(reports []PresenceReport, received motion.Time) PresenceReport {
	newest := reports[0]
	for _, r := range reports[1:] {
		if r.at(received) >= newest.at(received) {
			newest = r
		}
	}
	return newest
}

// at returns the phone's time of a report, received where it gave none.
func (r PresenceReport) at(received motion.Time) motion.Time {
	if r.TS.IsZero() {
		return received
	}
	return r.TS
}

// Reported is a membership after a report.
type Reported struct {
	Membership
	Changed     bool // the person came or went
	ServerClock bool // the phone gave no time, or a wrong one: that of receipt was taken
}

// Report returns the membership after a report that was received at a time. A report
// that is older than the last one is ignored.
func (m Membership) Report(r PresenceReport, received motion.Time) Reported {
	at, server := r.TS, false
	if age := received.Since(at); r.TS.IsZero() || !(age <= maxReportAge && age >= -maxReportAhead) {
		at, server = received, true
	}
	after := Reported{Membership: m, ServerClock: server}
	if at < m.PresenceAt {
		return after
	}
	after.Changed = m.IsPresent != r.Present
	after.IsPresent, after.PresenceAt = r.Present, at
	return after
}

// CountPresent returns how many members are at home.
func CountPresent(memberships []Membership) int {
	count := 0
	for _, m := range memberships {
		if m.IsPresent {
			count++
		}
	}
	return count
}
