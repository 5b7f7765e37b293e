package engine_test

import (
	"strings"
	"testing"
	"time"
)

// TestHistoryAndAlertsOutliveClocksThatAreWrong has the clock of a home wrong for six
// hours: nothing that was kept before is lost, and an alert of every hour goes on,
// once an hour, by the wrong clock and by the right one afterwards.
func TestHistoryAndAlertsOutliveClocksThatAreWrong(t *testing.T) {
	const wrong, hourly = 6 * time.Hour, "DTSTART:20000101T003000Z\nRRULE:FREQ=HOURLY"
	for name, c := range map[string]struct {
		to    func(time.Time) time.Time
		fires int // in these hours
	}{
		"a year ahead":  {func(now time.Time) time.Time { return now.Add(year) }, 6},
		"a year behind": {func(now time.Time) time.Time { return now.Add(-year) }, 6},
		"in 1970":       {func(time.Time) time.Time { return time.Unix(0, 0) }, 0}, // before it begins
	} {
		for how, restart := range map[string]bool{"while it runs": false, "over a restart": true} {
			t.Run(name+" "+how, func(t *testing.T) {
				withClock(t, func(t *testing.T, b *box, clock *wallClock) {
					clock.set(10 * year) // from the year in which the alert begins
					b.addAlert(b.home(), hourly, atOnce)
					from := b.State.Now().Second()
					b.send(20, 0.35, 0.1)
					b.send(100, 0, 0)
					points, events := b.points(from, from+120, 5), len(b.events())
					if !strings.Contains(points, "0.35") || events == 0 {
						t.Fatalf("samples %s, %d events", points, events)
					}
					time.Sleep(2 * time.Hour)
					set := func(at time.Time) {
						if restart {
							b.stop()
						}
						clock.to(at)
						if restart {
							b.start()
						}
					}
					right, before := clock.now(), len(b.fired())
					set(c.to(right))
					time.Sleep(wrong)
					during := len(b.fired()) - before
					set(right.Add(wrong))
					time.Sleep(3 * time.Hour)
					if got := b.points(from, from+120, 5); got != points {
						t.Errorf("samples are %s, were %s", got, points)
					}
					kept := 0
					for _, e := range b.events() {
						if e.TS.Second() >= from && e.TS.Second() < from+120 {
							kept++
						}
					}
					if kept < events {
						t.Errorf("%d events of before are there, were %d", kept, events)
					}
					if before != 2 || during != c.fires {
						t.Errorf("the alert fired %d and %d times, want 2 and %d: %q", before, during, c.fires, b.fired())
					}
					if n := len(b.fired()) - before - during; n != 3 {
						t.Errorf("the alert fired %d times in three hours of a clock that is right again: %q", n, b.fired())
					}
				})
			})
		}
	}
}
