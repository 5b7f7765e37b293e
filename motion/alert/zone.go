package alert

import (
	"fmt"
	"time"
)

// maxZoneName bounds the length of a zone name; the longest of the IANA database
// has 32 characters.
const maxZoneName = 64

// The offsets of all zones lie between −12 h and +14 h.
const (
	mostWest = 13 * time.Hour // more than any zone is behind UTC
	mostEast = 15 * time.Hour // more than any zone is ahead of UTC
)

// LoadZone returns the IANA zone of a name such as America/Toronto. Names of
// files beside the zones ("posix/…", "right/…" with leap seconds, "localtime")
// begin in lower case and are no zones, and neither is "Local", which is whatever
// this machine is set to.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || len(name) > maxZoneName || name == "Local" || name[0] < 'A' || name[0] > 'Z' {
		return nil, fmt.Errorf("zone %.64q is unknown", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("zone %.64q is unknown", name)
	}
	return zone, nil
}

// instant returns when clocks in zone show wall, whose UTC fields are the wall
// clock. A time that clocks skip counts with the offset before the gap, one that
// they show twice is the first (RFC 5545 section 3.3.5).
func instant(wall time.Time, zone *time.Location) time.Time {
	before := wall.Add(-offset(wall.Add(-mostEast), zone))
	after := wall.Add(-offset(wall.Add(mostWest), zone))
	if !shows(before, wall, zone) && shows(after, wall, zone) {
		return after
	}
	return before
}

// shows reports whether clocks in zone show wall at t.
func shows(t, wall time.Time, zone *time.Location) bool {
	return t.Add(offset(t, zone)).Equal(wall)
}

// offset returns how far zone is ahead of UTC at t.
func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
