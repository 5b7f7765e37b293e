package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion/alert"
	"sensegate/motion/engine"
	"sensegate/store"
)

func TestAlertFiresOnceOverRestarts(t *testing.T) {
	for name, end := range restarts {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.addAlert(b.home(), daily, atOnce)
				for _, pause := range []time.Duration{59 * time.Minute, 50 * time.Second, 20 * time.Second, 0, time.Minute} {
					time.Sleep(pause)
					end(b)
					b.start()
				}
				time.Sleep(20 * time.Minute)
				equal(t, "fired", b.fired(), []string{"still 01:00"})
				if n := len(b.pushes()); n != 1 {
					t.Errorf("%d pushes", n)
				}
			})
		})
	}
}

// TestAlertsFireOnceWhereverItEnds cuts the power while two alerts fire: before the
// first, between them and after the second.
func TestAlertsFireOnceWhereverItEnds(t *testing.T) {
	for stored := range 3 {
		t.Run(fmt.Sprint(stored), func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				id := b.home()
				b.addAlert(id, daily, atOnce)
				b.addAlert(id, daily, atOnce)
				time.Sleep(time.Hour - time.Millisecond)
				synctest.Wait()
				time.Sleep(time.Millisecond)
				b.cutAt(stored)
				b.start()
				time.Sleep(20 * time.Minute)
				equal(t, "fired", b.fired(), []string{"still 01:00", "still 01:00"})
				if n := len(b.pushes()); n != 2 {
					t.Errorf("%d pushes", n)
				}
			})
		})
	}
}

// cutAt ends the engine as a power cut does, as soon as so many alerts have fired.
func (b *box) cutAt(stored int) {
	b.t.Helper()
	id, cut := b.network(), filepath.Join(b.t.TempDir(), "cut.db")
	for done := false; !done; {
		b.view(func(tx *store.Tx) error {
			list, err := tx.Pushes(id)
			if err != nil || len(list) < stored {
				return err
			}
			done = true
			return copyFile(b.path, cut)
		})
	}
	b.stop()
	b.path = cut
}

func TestMissedAlertFiresLateAndSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		down   time.Duration // from 00:55
		fired  []string
		missed int
	}{
		"down over it, briefly":   {6 * time.Minute, []string{"still 01:01"}, 0},
		"down for nine minutes":   {14 * time.Minute, []string{"still 01:09 late 540"}, 0},
		"down for fifteen":        {20 * time.Minute, []string{"still 01:15 late 900"}, 0},
		"down for longer":         {20*time.Minute + time.Second, []string{}, 1},
		"down for three days":     {72*time.Hour - 10*time.Minute, []string{}, 3},
		"down until the next one": {24*time.Hour + 10*time.Minute, []string{"still 01:05 late 300"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.addAlert(b.home(), daily, atOnce)
				time.Sleep(55 * time.Minute)
				b.stop()
				time.Sleep(c.down)
				b.start()
				time.Sleep(5 * time.Minute)
				equal(t, "fired", b.fired(), c.fired)
				missed := 0
				for _, run := range b.alertStatus().History {
					missed += run.Missed
				}
				if missed != c.missed {
					t.Errorf("%d missed, want %d: %+v", missed, c.missed, b.alertStatus())
				}
				if reason := b.alertStatus().FailedReason; (reason != nil) != (c.missed > 0 && len(c.fired) == 0) {
					t.Errorf("failed reason %v", reason)
				}
			})
		})
	}
}

func TestSkippedAlertGoesOnWithTheNextOccurrence(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.addAlert(b.home(), "DTSTART:20000101T010000Z\nRRULE:FREQ=HOURLY", atOnce)
		time.Sleep(55 * time.Minute)
		b.stop()
		time.Sleep(25 * time.Minute)
		b.start()
		time.Sleep(time.Hour)
		equal(t, "fired", b.fired(), []string{"still 02:00"})
		history := b.alertStatus().History
		if len(history) != 2 || history[0].Missed != 1 || history[1].Verdict != alert.AtTime || history[1].LateSeconds != 0 {
			t.Errorf("history %+v", history)
		}
	})
}

// wallClock is the clock of an appliance that can be set.
type wallClock struct{ ahead atomic.Int64 }

func (c *wallClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *wallClock) set(by time.Duration) { c.ahead.Add(int64(by)) }

// to sets the clock to a time.
func (c *wallClock) to(at time.Time) { c.set(at.Sub(c.now())) }

// withClock runs a test on an appliance whose clock can be set.
func withClock(t *testing.T, test func(t *testing.T, b *box, c *wallClock)) {
	t.Helper()
	c := &wallClock{}
	run(t, func(t *testing.T, b *box) { test(t, b, c) }, func(o *engine.Options) { o.Now, o.FirstWindow = c.now, 100*year })
}

const year = 365 * 24 * time.Hour

func TestAlertsBearClocksThatAreSet(t *testing.T) {
	for name, c := range map[string]struct {
		play func(c *wallClock) // from 00:30
		want []string
	}{
		"forward to the time": {func(c *wallClock) { c.set(29 * time.Minute); time.Sleep(time.Minute) }, []string{"still 01:00"}},
		"forward a year, no burst": {func(c *wallClock) {
			c.set(year)
			time.Sleep(40 * time.Minute)
		}, []string{"still 01:00"}},
		"forward a year and back": {func(c *wallClock) {
			c.set(year)
			time.Sleep(time.Minute)
			c.set(-year)
			time.Sleep(40 * time.Minute)
		}, []string{"still 01:00"}},
		"back an hour after it fired": {func(c *wallClock) {
			time.Sleep(35 * time.Minute)
			c.set(-time.Hour)
			time.Sleep(90 * time.Minute)
		}, []string{"still 01:00"}},
		"back a year, and it goes on": {func(c *wallClock) {
			c.set(-year)
			time.Sleep(40 * time.Minute)
		}, []string{"still 01:00"}},
		"to 1970 and back": {func(c *wallClock) {
			before := c.now()
			c.to(time.Unix(60, 0))
			time.Sleep(10 * time.Minute)
			c.to(before.Add(10 * time.Minute))
			time.Sleep(30 * time.Minute)
		}, []string{"still 01:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			withClock(t, func(t *testing.T, b *box, clock *wallClock) {
				id := b.home()
				b.addAlert(id, daily, atOnce)
				clock.set(10*year + 30*time.Minute)
				time.Sleep(time.Minute)
				c.play(clock)
				equal(t, "fired", b.fired(), c.want)
			})
		})
	}
}

func TestAlertStartsAgainAfterAClockThatStartedIn1970(t *testing.T) {
	withClock(t, func(t *testing.T, b *box, clock *wallClock) {
		b.addAlert(b.home(), daily, atOnce)
		time.Sleep(30 * time.Minute)
		b.stop()
		real := clock.now()
		clock.to(time.Unix(0, 0))
		b.start()
		time.Sleep(2 * time.Minute)
		clock.to(real.Add(2 * time.Minute))
		time.Sleep(40 * time.Minute)
		equal(t, "fired", b.fired(), []string{"still 01:00"})
	})
}

func TestAlertKeepsLocalTimeOverDaylightSaving(t *testing.T) {
	for name, c := range map[string]struct {
		day  time.Time // midnight UTC before the change
		at   string
		want []string // UTC
	}{
		"spring: eight o'clock":            {time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), "080000", []string{"13:00", "12:00", "12:00"}},
		"autumn: eight o'clock":            {time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC), "080000", []string{"12:00", "13:00", "13:00"}},
		"spring: an hour that is left out": {time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), "023000", []string{"07:30", "07:30", "06:30"}},
		"autumn: an hour that comes twice": {time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC), "013000", []string{"05:30", "05:30", "06:30"}},
	} {
		t.Run(name, func(t *testing.T) {
			withClock(t, func(t *testing.T, b *box, clock *wallClock) {
				id := b.home()
				clock.to(c.day)
				b.addAlert(id, "DTSTART;TZID=America/Toronto:20260101T"+c.at+"\nRRULE:FREQ=DAILY", atOnce)
				for range 3 * 24 * 6 {
					time.Sleep(11 * time.Second)
					clock.set(10*time.Minute - 11*time.Second)
				}
				equal(t, "fired", b.targets(), c.want)
			})
		})
	}
}

// targets returns the occurrences that fired, UTC.
func (b *box) targets() []string {
	b.t.Helper()
	list := []string{}
	for _, run := range b.alertStatus().History {
		if run.Missed == 0 {
			list = append(list, run.Target.Std().Format("15:04"))
		}
	}
	return list
}

func TestAlertWaitsForRoomOnTheDisk(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.addAlert(id, daily, atOnce)
		time.Sleep(58 * time.Minute)
		b.stop()
		b.maxSize = 256 << 10
		b.start()
		room := b.pinPages()
		for full := false; !full; {
			_, err := b.Events.Record(context.Background(), system(id, ""))
			full = err != nil
		}
		time.Sleep(6 * time.Minute)
		equal(t, "fired on a full disk", b.fired(), []string{})
		room()
		time.Sleep(2 * time.Minute)
		if got := b.fired(); len(got) != 1 || !strings.HasPrefix(got[0], "still 01:0") || !strings.Contains(got[0], "late") {
			t.Errorf("fired %q", got)
		}
	})
}
