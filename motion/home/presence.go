package home

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Limits within which a phone's clock counts as right (payloads.md 6 no. 14).
const (
	maxReportAge   motion.Seconds = 24 * 3600
	maxReportAhead motion.Seconds = 5 * 60
)

// PresenceReport is a phone's report of its user's presence (payloads.md 5.5). It contains no
// coordinates, which are never stored.
type PresenceReport struct {
	Home    ID
	Named   bool     // the report names its home
	Device  MobileID // the phone; 0: the report applies to all of the person's devices
	Present bool
	TS      motion.Time // by the phone's clock; 0: none
}

// Presence returns whether a report says that the person is present: event is enter, exit or
// leave, isPresent the same as a flag; either may be nil. Invalid: both are nil, the word is
// unknown, or they contradict each other.
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

// When returns the time of a report. If the phone's time is missing or wrong, it returns the
// time of receipt, and server is true.
func (r PresenceReport) When(received motion.Time) (at motion.Time, server bool) {
	if age := received.Since(r.TS); r.TS.IsZero() || !(age <= maxReportAge && age >= -maxReportAhead) {
		return received, true
	}
	return r.TS, false
}

// Reported is a membership after a report.
type Reported struct {
	Membership
	Heard       bool // the report was the newest of a device
	Changed     bool // the person arrived or left
	ServerClock bool // the phone's time was missing or wrong, so the time of receipt counts
}

// Report returns the membership after a report received at a time; own are the mobile devices
// of the person. It ignores a report that is older than the last one of its device. The person
// is present while one of the devices is (payloads.md 6 no. 17).
func (m Membership) Report(r PresenceReport, own []MobileID, received motion.Time) Reported {
	after := Reported{Membership: m}
	var at motion.Time
	at, after.ServerClock = r.When(received)
	devices := []MobileID{r.Device}
	if r.Device == 0 && len(own) > 0 {
		devices = own
	}
	after.Devices = slices.Clone(m.Devices)
	for _, device := range devices {
		if after.hear(DevicePresence{Device: device, Present: r.Present, At: at}) {
			after.Heard = true
		}
	}
	if !after.Heard {
		return Reported{Membership: m, ServerClock: after.ServerClock}
	}
	after.settle()
	after.Changed = after.IsPresent != m.IsPresent
	return after
}

// hear stores the report of a device and returns true, unless a later one of it or of an unknown
// device is stored. A report replaces that of an unknown device, which was one of the user's.
func (m *Membership) hear(said DevicePresence) bool {
	same := func(d DevicePresence) bool { return d.Device == said.Device || d.Device == 0 }
	if slices.ContainsFunc(m.Devices, func(d DevicePresence) bool { return same(d) && d.At > said.At }) {
		return false
	}
	m.Devices = append(slices.DeleteFunc(m.Devices, same), said)
	return true
}

// Without returns the membership without the report of a mobile device, and whether there was
// one.
func (m Membership) Without(device MobileID) (Membership, bool) {
	left := slices.DeleteFunc(slices.Clone(m.Devices), func(d DevicePresence) bool { return d.Device == device })
	said := len(left) < len(m.Devices)
	if m.Devices = left; said {
		before := m.IsPresent
		m.settle()
		m.Left = m.Left || before && !m.IsPresent
	}
	return m, said
}

// settle computes the summary from the reports of the devices.
func (m *Membership) settle() {
	m.IsPresent, m.PresenceAt = false, 0
	for _, d := range m.Devices {
		m.IsPresent, m.PresenceAt = m.IsPresent || d.Present, max(m.PresenceAt, d.At)
	}
}

// CountPresent returns the number of members who are at home.
func CountPresent(memberships []Membership) int {
	count := 0
	for _, m := range memberships {
		if m.IsPresent {
			count++
		}
	}
	return count
}

// LocationID identifies a location. Ids are positive and fit 32 bits.
type LocationID uint32

// Location is a name of a place that an app offers for devices (payloads.md 5.3).
type Location struct {
	ID   LocationID `json:"id" example:"41"`
	Name string     `json:"name" example:"Workshop"`
	Home *ID        `json:"network_id" nullable:"true" doc:"App Cloud network id; null: built in" example:"17"`
}

// FirstLocation is the id of the first location that a household adds; lower ids are built in or
// reserved.
const FirstLocation LocationID = 41

// MaxLocations is the limit of locations that one home adds.
const MaxLocations = 100

// BuiltInLocations returns the locations that every home has.
func BuiltInLocations() []Location {
	names := []string{"Kitchen", "Living room", "Bedroom", "Hallway", "Bathroom", "Office", "Basement", "Garage"}
	list := make([]Location, len(names))
	for i, name := range names {
		list[i] = Location{ID: LocationID(i + 1), Name: name}
	}
	return list
}
