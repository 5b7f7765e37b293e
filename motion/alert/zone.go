package alert

import (
	"fmt"
	"time"

	"sensegate/motion/timezone"
)

// maxZoneName is the greatest length of a zone name; the longest in the IANA database has 32
// characters.
const maxZoneName = 64

// The offsets of all zones lie between −12 h and +14 h.
const (
	mostWest = 13 * time.Hour // west of every zone
	mostEast = 15 * time.Hour // east of every zone
)

// LoadZone returns the IANA zone with a name such as America/Toronto. It rejects files beside
// the zones, which begin in lower case ("posix/…", "right/…" with leap seconds, "localtime"),
// and "Local", which depends on the machine.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || len(name) > maxZoneName || name == "Local" || name[0] < 'A' || name[0] > 'Z' {
		return nil, fmt.Errorf("zone %.64q is unknown", name)
	}
	zone, err := timezone.Load(name)
	if err != nil {
		return nil, fmt.Errorf("zone %.64q is unknown", name)
	}
	return zone, nil
}

// instant returns the time at which clocks in zone show wall, whose UTC fields are the wall
// clock. A skipped time counts with the offset before the gap; of a repeated time the first
// counts (RFC 5545 section 3.3.5).
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

// offset returns the offset of zone from UTC at t, positive to the east.
func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
