package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
)

// built is when the program of these tests was built; the bubble's clock is right.
var built = motion.TimeOf(time.Date(1999, 11, 1, 0, 0, 0, 0, time.UTC))

// withoutClock runs a test on an appliance that starts in 1970 without knowing the time.
func withoutClock(t *testing.T, test func(t *testing.T, b *box, c *wallClock)) {
	t.Helper()
	c := &wallClock{}
	run(t, func(t *testing.T, b *box) { test(t, b, c) }, func(o *engine.Options) {
		o.Now, o.Built, o.FirstWindow = c.now, built, 1000*time.Hour
		if c.ahead.Load() == 0 {
			c.to(time.Unix(60, 0))
		}
	})
}

// told is an event of a guardian.
func told(kind string, ts motion.Time) motion.EventReport {
	return motion.EventReport{Event: motion.Event{Category: motion.CategorySystem, Event: kind, TS: ts}}
}

// unclocked reports so many seconds of motion-matrix from a guardian without a clock.
func (b *box) unclocked(length int, intensity float64) {
	b.t.Helper()
	for range 2 * length {
		time.Sleep(500 * time.Millisecond)
		m := matrix(intensity, 0)
		m.TS, m.LastMotion = 0, 0
		b.report(guardianKey, m)
	}
}

// withTimes returns the events that are stored of the last hours, oldest first, with the
// seconds since a moment.
func (b *box) withTimes(since motion.Time, kinds ...string) (list []string) {
	for _, e := range b.events(kinds...) {
		if e.TS > since.Add(-1000) {
			list = append(list, fmt.Sprintf("%s %.0f%s", e.Event, e.TS.Since(since), strings.Repeat(" by us", len(e.Detail.Text("clock"))/6)))
		}
	}
	return list
}

func TestDeviceTimeIsUsedUntilTheClockIsSet(t *testing.T) {
	for name, c := range map[string]struct {
		ts    motion.Time
		right bool
	}{
		"right":                      {now2000, true},
		"built with the appliance":   {built, true},
		"ten years later":            {built.Add(3652 * 24 * 3600), true},
		"before the build":           {built.Add(-1), false},
		"over ten years after it":    {built.Add(3653 * 24 * 3600), false},
		"in 1970 as the appliance's": {61, false},
		"missing":                    {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			withoutClock(t, func(t *testing.T, b *box, clock *wallClock) {
				b.home()
				b.report(guardianKey, told("TestEvent", c.ts))
				event, own := b.events("TestEvent")[0], motion.TimeOf(clock.now())
				want, by := own, "server"
				if c.right {
					want, by = c.ts, ""
				}
				if !sameMoment(event.TS, want) || event.Detail.Text("clock") != by {
					t.Errorf("event at %v, clock %q, want %v, %q", event.TS, event.Detail.Text("clock"), want, by)
				}
				m := matrix(0.35, 0)
				m.TS = c.ts
				b.report(guardianKey, m)
				at := want.Second()
				if got := b.points(at-1, at+1, 1); !strings.Contains(got, "0.35") {
					t.Errorf("samples %s", got)
				}
				r := status()
				r.TS = c.ts
				b.report(guardianKey, r)
				if got, err := b.lastStatus(b.network()); err != nil || got.TS != want {
					t.Errorf("status of %v, %v, want %v", got.TS, err, want)
				}
			})
		})
	}
}

// now2000 is when the bubble begins.
var now2000 = motion.TimeOf(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))

func TestWhatAClockThatWasNotSetStampedIsStampedAnew(t *testing.T) {
	withoutClock(t, func(t *testing.T, b *box, clock *wallClock) {
		b.home()
		start := now()
		b.unclocked(20, 0.35)
		b.unclocked(1880, 0)
		b.report(guardianKey, told("WithoutClock", 0))
		b.report(guardianKey, told("WithClock", now()))
		r := status()
		r.TS, r.LastMotion = 0, 0
		b.report(guardianKey, r)
		time.Sleep(1700 * time.Second)
		b.unclocked(20, 0.35) // still going on when the clock is set
		clock.to(time.Now())
		set := now()
		b.unclocked(10, 0.35)
		b.unclocked(140, 0)
		equal(t, "events", b.withTimes(start, motion.MotionDetectedEvent, motion.MotionStoppedEvent, motion.ClockSetEvent, "WithoutClock", "WithClock"),
			[]string{"MotionDetectedEvent 2", "MotionStoppedEvent 140", "WithClock 1900", "WithoutClock 1900 by us", "MotionDetectedEvent 3602", "ClockSetEvent 3620", "MotionStoppedEvent 3750"})
		if got := b.points(start.Second(), start.Second()+20, 5); got != "0.35 0.35 0.35 0.35 " {
			t.Errorf("samples %s", got)
		}
		at := start.Second() + 3605
		if got := b.points(at, at+20, 5); got != "0.35 0.35 0.35 0.35 " {
			t.Errorf("samples around the setting %s", got)
		}
		b.view(func(tx *store.Tx) error {
			pairs, _, err := tx.PairPage(store.EventQuery{Network: b.network()})
			if len(pairs) != 2 {
				t.Errorf("%d pairs, %v", len(pairs), err)
			}
			return err
		})
		if s, err := b.lastStatus(b.network()); err != nil || s.TS.Since(start) != 1900 {
			t.Errorf("status %v after the start, %v", s.TS.Since(start), err)
		}
		if state, err := b.Inventory.NetworkState(b.network()); err != nil || state.LastMotion.Since(set) < 0 {
			t.Errorf("last motion %v after the setting, %v", state.LastMotion.Since(set), err)
		}
		if n := len(b.events(motion.LinkDisconnectedEvent)); n > 0 {
			t.Errorf("%d links were lost", n)
		}
		window, err := b.Devices.AdoptionUntil(context.Background(), 0)
		if hours := window.Since(start) / 3600; err != nil || hours < 999 || hours > 1001 {
			t.Errorf("devices are adopted for %.0f hours, %v", hours, err)
		}
	})
}

func TestClockThatIsNeverSetGoesOn(t *testing.T) {
	withoutClock(t, func(t *testing.T, b *box, clock *wallClock) {
		b.home()
		b.report(guardianKey, told("First", 0))
		time.Sleep(time.Hour)
		b.stop()
		time.Sleep(time.Minute)
		b.start()
		b.reconnect()
		b.report(guardianKey, told("Second", 0))
		equal(t, "events", b.withTimes(60, "First", "Second", motion.ClockSetEvent), []string{"First 0 by us", "Second 3660 by us"})
		clock.to(time.Now())
		time.Sleep(2 * time.Second)
		equal(t, "events when it is set", b.withTimes(now(), "First", "Second", motion.ClockSetEvent), []string{"Second -2 by us", "ClockSetEvent -1"})
		if first := b.events("First")[0].TS; !sameMoment(first, now2000) {
			t.Errorf("the first is %v after the start", first.Since(now2000))
		}
	})
}

func TestRunsWhoseClockWasNeverSetAreNotHidden(t *testing.T) {
	for name, c := range map[string]struct {
		play  func(clock *wallClock, b *box)
		first float64 // when what happened first is now, in seconds
	}{
		"right at the next start": {func(clock *wallClock, b *box) { clock.to(time.Now()); b.start() }, -1800 - 120},
		"set later": {func(clock *wallClock, b *box) {
			clock.to(time.Unix(60, 0))
			b.start()
			time.Sleep(2 * time.Hour)
			clock.to(time.Now())
			time.Sleep(2 * time.Second)
		}, -7202 - 1920},
		"set sooner than it was on before": {func(clock *wallClock, b *box) {
			clock.to(time.Unix(60, 0))
			b.start()
			time.Sleep(10 * time.Second)
			clock.to(time.Now())
			time.Sleep(2 * time.Second)
		}, -12 - 1920},
	} {
		t.Run(name, func(t *testing.T) {
			withoutClock(t, func(t *testing.T, b *box, clock *wallClock) {
				b.home()
				b.report(guardianKey, told("First", 0))
				b.unclocked(10, 0.35)
				time.Sleep(1790 * time.Second)
				b.report(guardianKey, told("Last", 0))
				b.Flush(context.Background())
				time.Sleep(30 * time.Second)
				b.report(guardianKey, told("Cut off", 0))
				b.crash()
				time.Sleep(time.Hour) // without power
				c.play(clock, b)
				synctest.Wait()
				list := b.events("First", "Last", "Cut off")
				if len(list) != 3 || list[0].Event != "First" || list[2].Event != "Cut off" {
					t.Fatalf("events %v", list)
				}
				for _, e := range list {
					if age := now().Since(e.TS); age < 0 || age > 3*3600 {
						t.Errorf("%s is %.0f s ago", e.Event, age)
					}
				}
				if got := list[0].TS.Since(now()); got < motion.Seconds(c.first)-1 || got > motion.Seconds(c.first)+1 {
					t.Errorf("the first is at %.0f s, want %.0f", got, c.first)
				}
				at := list[0].TS.Second() + 2
				if got := b.points(at, at+6, 1); got != strings.Repeat("0.35 ", 6) {
					t.Errorf("samples %s", got)
				}
			})
		})
	}
}

func TestLinksAreNotLostWhenTheClockIsSetSoonAfterTheStart(t *testing.T) {
	withoutClock(t, func(t *testing.T, b *box, clock *wallClock) {
		b.home()
		report := motion.LinkMotions{Interval: 500, Links: []motion.LinkMotion{{Src: kitchen, Dst: masterAP, MKAI: 0.1, LRaw: 0.1, Throughput: 1, RSSI: -59}}}
		b.report(masterKey, report)
		clock.to(time.Now())
		time.Sleep(time.Minute)
		b.report(masterKey, report)
		b.stop()
		clock.to(time.Unix(60, 0))
		b.start()
		time.Sleep(30 * time.Second)
		clock.to(time.Now())
		time.Sleep(10 * time.Second)
		b.reconnect()
		b.report(masterKey, report)
		if lost := b.events(motion.LinkDisconnectedEvent); len(lost) > 0 {
			t.Errorf("%d links were lost", len(lost))
		}
	})
}

func TestClockThatIsSetInStepsMovesOnce(t *testing.T) {
	withoutClock(t, func(t *testing.T, b *box, clock *wallClock) {
		b.home()
		start := now()
		b.report(guardianKey, told("First", 0))
		time.Sleep(time.Hour)
		clock.to(built.Add(-1800).Std()) // not yet
		time.Sleep(10 * time.Second)
		b.report(guardianKey, told("Second", 0))
		clock.to(time.Now())
		time.Sleep(2 * time.Second)
		b.report(guardianKey, told("Third", now()))
		equal(t, "events", b.withTimes(start, "First", "Second", "Third"), []string{"First 0 by us", "Second 3610 by us", "Third 3612"})
	})
}

// TestMasterIsNotSilentBecauseTheClockWasSet restarts without the time: the guardian has had a
// minute and a half since that, and not since 1970.
func TestMasterIsNotSilentBecauseTheClockWasSet(t *testing.T) {
	c := &wallClock{}
	run(t, func(t *testing.T, b *box) {
		b.home()
		token := b.post(peer(), "").RadarToken
		time.Sleep(25 * time.Hour)
		right := c.ahead.Load()
		b.stop()
		c.to(time.Unix(60, 0))
		b.start()
		time.Sleep(10 * time.Second)
		c.ahead.Store(right)
		time.Sleep(3 * time.Second)
		p := peer()
		p.Radar.RootMode, p.MasterFailed = motion.RootModeMaster, true
		if a := b.post(p, token); a.TryAgain != "the network's master was heard less than 90 s ago: it has not failed" {
			t.Errorf("after ten seconds: %+v", a)
		}
	}, func(o *engine.Options) { o.Now, o.Built, o.FirstWindow = c.now, built, time.Hour })
}
