// Package clocktest provides fixed clocks for the tests of simulated homes, so that
// what people do there does not depend on when the tests run. It must not know what
// a home is. Only tests import it.
package clocktest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for machines without zones
)

// Variable is the environment variable that names the clock to use.
const Variable = "SENSEGATE_TEST_CLOCK"

// Clock starts at a fixed moment in the zone of the home and runs in real time.
type Clock struct {
	Name  string
	Start time.Time
	began time.Time // real
}

// clocks are hours at which people of a home do different things, and moments that
// are difficult for calendars.
var clocks = []struct{ name, zone, start string }{
	{"afternoon", "UTC", "2026-03-11T15:00:00"},
	{"morning", "Europe/Berlin", "2026-05-18T06:45:00"},
	{"evening", "UTC", "2026-11-22T18:30:00"},
	{"night", "Asia/Kolkata", "2026-07-05T02:10:00"},
	{"midnight", "UTC", "2026-09-01T00:10:00"},
	{"spring", "America/Toronto", "2026-03-08T01:50:00"}, // ten minutes later it is 3:00
	{"autumn", "America/Toronto", "2026-11-01T01:50:00"}, // ten minutes later it is 1:00
	{"new-year", "Pacific/Auckland", "2026-12-31T23:55:00"},
	{"leap-day", "America/St_Johns", "2028-02-29T12:00:00"},
	{"weekend", "Pacific/Kiritimati", "2026-08-15T21:20:00"},
}

// Names returns the names of the clocks, the default one first.
func Names() (names []string) {
	for _, c := range clocks {
		names = append(names, c.name)
	}
	return names
}

// New starts the clock that Variable names, by default the first. It fails the test
// if there is none of that name.
func New(t testing.TB) Clock {
	t.Helper()
	name := os.Getenv(Variable)
	i := max(0, slices.Index(Names(), name))
	if name != "" && clocks[i].name != name {
		t.Fatalf("%s=%s: want one of %s", Variable, name, strings.Join(Names(), ", "))
	}
	zone, err := time.LoadLocation(clocks[i].zone)
	if err != nil {
		t.Fatal(err)
	}
	start, err := time.ParseInLocation("2006-01-02T15:04:05", clocks[i].start, zone)
	if err != nil {
		t.Fatal(err)
	}
	return Clock{clocks[i].name, start, time.Now()}
}

// Now returns the time of the clock.
func (c Clock) Now() time.Time { return c.Start.Add(time.Since(c.began)) }

// Zone returns the zone of the home.
func (c Clock) Zone() *time.Location { return c.Start.Location() }

// Night returns a zone in which it is now two o'clock at night on the clock's date,
// for a home whose appliance uses the present time: its people sleep, and no leaf
// drops.
func (c Clock) Night() *time.Location {
	year, month, day := c.Start.Date()
	night := time.Date(year, month, day, 2, 0, 0, 0, time.UTC)
	return time.FixedZone("night", int(time.Until(night)/time.Second))
}
