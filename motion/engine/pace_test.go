package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

// long is an event of a device that counts as eight.
func long(i int) motion.EventReport {
	return motion.EventReport{UUID: fmt.Sprint(i), Event: motion.Event{
		Category: motion.CategorySystem, Event: "FilterSoiledEvent", TS: now(), Detail: motion.Document{"text": strings.Repeat("x", 15_000)},
	}}
}

// flood sends long events of a device until one has to wait, and returns how many were
// acknowledged at once.
func (b *box) flood(device motion.DeviceKey, from int) (many int) {
	b.t.Helper()
	for began := time.Now(); ; many++ {
		b.report(device, long(from+many))
		if time.Since(began) > 0 {
			return many
		}
	}
}

func TestFloodOfEventsIsHeldBack(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		took := func(what string, device motion.DeviceKey, i int, want time.Duration, kind fault.Kind) {
			t.Helper()
			began := time.Now()
			err := b.Report(context.Background(), device, long(i))
			if got := time.Since(began); got < want || got > want+2*time.Second || fault.KindOf(err) != kind {
				t.Errorf("%s: answered after %v with %v, want about %v and fault kind %d", what, got, err, want, kind)
			}
		}
		if many := b.flood(masterKey, 0); many < 480 || many > 512 {
			t.Errorf("a radar's long events at once: %d, want half of the burst", many)
		}
		took("the radar's next, whose turn is too late", masterKey, 1000, 10*time.Second, fault.Unavailable)
		took("sent again", masterKey, 1000, 4*time.Second, 0)
		created := motion.Event{Category: motion.CategorySystem, Event: motion.MemberLeftEvent, NetworkID: id, TS: now()}
		if _, err := b.Events.CreateEvent(context.Background(), created); fault.KindOf(err) != fault.Throttled {
			t.Errorf("a caller's event beside the flood: %v, want it to be too many", err)
		}
		began := time.Now()
		b.report(guardianKey, status())
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		if got := time.Since(began); got != 0 {
			t.Errorf("the guardian's reports beside the flood are acknowledged after %v", got)
		}
		if many := b.flood(guardianKey, 2000); many < 480 || many > 512 {
			t.Errorf("the guardian's long events at once: %d, want the other half of the burst", many)
		}
		began = time.Now()
		heartbeat := status()
		heartbeat.Radars, heartbeat.Leafblower = nil, nil
		b.report(guardianKey, heartbeat)
		if got := time.Since(began); got != 0 {
			t.Errorf("a heartbeat, which raises no events, waits for %v", got)
		}
		time.Sleep(5 * time.Hour)
		if many := b.flood(guardianKey, 3000); many < 1000 || many > 1024 {
			t.Errorf("hours later the guardian's long events at once: %d, want the whole burst", many)
		}
	})
}

func TestManyEventsAfterAnOutageAreTakenAtOnce(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		began, outage := time.Now(), now()-3600
		for i := range 2000 {
			b.report(guardianKey, motion.EventReport{Event: motion.Event{Category: motion.CategoryLink, Event: motion.LinkConnectedEvent, TS: outage.Add(motion.Seconds(i))}})
		}
		if got := time.Since(began); got != 0 {
			t.Errorf("2,000 events of an outage are held back for %v", got)
		}
		stored := 0
		b.view(func(tx *store.Tx) error {
			events, err := storetest.Events(tx, b.network())
			for _, e := range events {
				if e.Event == motion.LinkConnectedEvent {
					stored++
				}
			}
			return err
		})
		if stored != 2000 {
			t.Errorf("%d of 2,000 events are stored", stored)
		}
	})
}

func TestHistoryTellsOnceAnHourThatItWasCut(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.stop()
		b.share = 512 << 10
		b.start()
		b.reconnect()
		flood := func(from, many int) []motion.Event {
			t.Helper()
			for i := range many {
				time.Sleep(time.Second)
				b.report(guardianKey, long(from+i))
			}
			return b.events(motion.HistoryCutEvent)
		}
		told := flood(0, 40) // more than fit
		if len(told) != 1 {
			t.Fatalf("%d events tell that the history was cut, want 1", len(told))
		}
		until, _ := told[0].Detail["until"].(float64)
		if told[0].Detail["events"] == nil || until == 0 || motion.Time(until) > told[0].TS || told[0].NetworkID != id || told[0].GuardianID != location {
			t.Errorf("told %+v", told[0])
		}
		time.Sleep(61 * time.Minute)
		b.reconnect()
		told = flood(100, 20)
		if len(told) != 2 {
			t.Fatalf("an hour and many cuts later %d events tell of it, want 2", len(told))
		}
		if many, _ := told[1].Detail["events"].(float64); many < 4 || many > 12 {
			t.Errorf("told %v, want the events that went since the first was told", told[1].Detail)
		}
		if told = flood(200, 100); len(told) == 0 {
			t.Error("the history does not tell that it was cut: what told of it went too")
		}
	})
}

// TestChangesOfPeopleHoldNoDeviceBack stores three times the burst as changes do, through the
// one writer.
func TestChangesOfPeopleHoldNoDeviceBack(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		for batch := range 3 * 8192 / 512 {
			err := b.Events.RecordChange(context.Background(), func(*store.Tx) ([]motion.Event, error) {
				changed := make([]motion.Event, 512)
				for i := range changed {
					changed[i] = motion.Event{Category: motion.CategorySystem, Event: motion.SceneChangedToAwayEvent, NetworkID: id, TS: now() - motion.Time(batch*512+i)}
				}
				return changed, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		b.report(guardianKey, status())
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		if got := time.Since(began); got != 0 {
			t.Errorf("the guardian's reports are acknowledged after %v", got)
		}
	})
}
