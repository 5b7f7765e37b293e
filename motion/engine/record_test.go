package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/store"
)

// system is an event that nothing but Record handles.
func system(network motion.NetworkID, detail string) motion.Event {
	return motion.Event{
		Category: motion.CategorySystem, Event: "TestEvent", NetworkID: network, GuardianID: location,
		TS: now(), Detail: motion.Document{"n": detail},
	}
}

func TestLiveOrderIsTheOrderOfRecording(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		pushed, err := b.Sensing.LiveEvents(id)
		if err != nil {
			t.Fatal(err)
		}
		defer pushed.Close()
		var writers sync.WaitGroup
		for w := range 4 {
			writers.Go(func() {
				for i := range 10 {
					if _, err := b.Events.Record(context.Background(), system(id, fmt.Sprint(w, " ", i))); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		var live []string
		last := map[string]string{}
		for _, m := range drain(t, pushed) {
			n := m.Event.Detail["n"].(string)
			live = append(live, n)
			if last[n[:1]] >= n[2:] && last[n[:1]] != "" {
				t.Errorf("writer %s: %s after %s", n[:1], n[2:], last[n[:1]])
			}
			last[n[:1]] = n[2:]
		}
		if len(live) != 40 {
			t.Fatalf("%d events pushed", len(live))
		}
		stored := map[string]bool{}
		for _, e := range b.events() {
			stored[e.Detail["n"].(string)] = true
		}
		if len(stored) != 40 {
			t.Errorf("%d events stored", len(stored))
		}
	})
}

func TestUnarmedEventComesBackWithoutAnID(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		zero := 0
		e := system(id, "x")
		e.Category, e.Armed = motion.CategoryMotion, &zero
		got, err := b.Events.Record(context.Background(), e)
		if err != nil || got.ID != "" || len(b.events()) != 0 {
			t.Errorf("record %+v, %v", got, err)
		}
	})
}

func TestOneBadEventDoesNotStopTheOthers(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		bad := system(id, "bad")
		bad.TS = 0
		if _, err := b.Events.Record(context.Background(), bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("event without a time: %v", err)
		}
		if _, err := b.Events.Record(context.Background(), system(id+1, "lost")); fault.KindOf(err) != fault.NotFound {
			t.Errorf("event of an unknown network: %v", err)
		}
		if got, err := b.Events.Record(context.Background(), system(id, "good")); err != nil || got.ID == "" {
			t.Errorf("event after them: %+v, %v", got, err)
		}
	})
}

// A file that may not grow stands for a full disk: bbolt refuses the commit before
// it writes, as it does with ENOSPC. There is room again when a reader lets go of the
// pages that it has kept from being used again.
func TestFullDiskRefusesAndLosesNothingOfItsOwn(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.stop()
		b.maxSize = 256 << 10
		b.start()
		b.reconnect()
		room := b.pinPages()
		var refused error
		for refused == nil {
			_, refused = b.Events.Record(context.Background(), system(id, ""))
		}
		if fault.KindOf(refused) != fault.Unavailable {
			t.Fatalf("on a full disk: %v", refused)
		}
		e := motion.EventReport{Event: motion.Event{Category: motion.CategoryLink, Event: motion.LinkConnectedEvent, TS: now()}}
		if err := b.Report(context.Background(), guardianKey, e); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("device's event on a full disk: %v, want one that is not acknowledged", err)
		}
		live := b.watch(id)
		defer live.Close()
		b.send(10, 0.35, 0) // detected here, and perhaps not stored yet
		if len(drain(t, live)) != 20 {
			t.Error("live motion stopped")
		}
		if got := b.kinds(); len(got) != 0 {
			t.Errorf("the disk is not full: %v", got)
		}
		room()
		time.Sleep(6 * time.Second)
		equal(t, "events when there is room", b.kinds(), []string{motion.MotionDetectedEvent})
	})
}

func TestEventsAtTheEndAreWritten(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		for range 8 {
			b.send(0.5, 0.35, 0)
		}
		b.stop() // the detection may still be queued
		b.start()
		equal(t, "events", b.kinds(), []string{motion.MotionDetectedEvent})
		b.stop()
		if _, err := b.Events.Record(context.Background(), system(1, "late")); err == nil {
			t.Error("an event after the end was accepted")
		}
		b.start()
	})
}

// pinPages begins a long read, so that no page is used twice, and returns what ends it.
func (b *box) pinPages() (room func()) {
	b.t.Helper()
	release, ended := make(chan struct{}), make(chan error)
	go func() { ended <- b.db.View(context.Background(), func(*store.Tx) error { <-release; return nil }) }()
	synctest.Wait()
	return func() {
		close(release)
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
	}
}

func TestFlushOnAFullDiskIsRepeated(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.stop()
		b.maxSize = 256 << 10
		b.start()
		b.reconnect()
		room := b.pinPages()
		for full := false; !full; {
			_, err := b.Events.Record(context.Background(), system(id, ""))
			full = err != nil
		}
		begin := int64(now())
		b.send(10, 0.2, 0)
		b.report(guardianKey, motion.StatusReport{TS: now(), Rev: 3})
		if err := b.Flush(context.Background()); err != nil {
			t.Errorf("flush on a full disk: %v", err)
		}
		room()
		if err := b.Flush(context.Background()); err != nil {
			t.Error(err)
		}
		b.crash()
		b.start()
		if got := b.points(begin, begin+10, 10); got != "0.2 " {
			t.Errorf("samples %s", got)
		}
	}, func(o *engine.Options) { o.FlushInterval = time.Hour })
}

func TestStoreThatFailsEndsTheRun(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		if err := b.db.Close(); err != nil {
			t.Fatal(err)
		}
		r := motion.EventReport{Event: motion.Event{Category: motion.CategoryLink, Event: motion.LinkConnectedEvent, TS: now()}}
		if err := b.Report(context.Background(), guardianKey, r); err == nil || fault.KindOf(err) != 0 {
			t.Errorf("event: %v, want an error after which it is sent again", err)
		}
		if err := <-b.ended; err == nil {
			t.Error("the run goes on")
		}
		if _, err := b.Events.Record(context.Background(), system(id, "late")); err == nil {
			t.Error("an event after the failure was accepted")
		}
		b.cancel()
		b.cancel = nil
	})
}

func TestIntegrationUserLogsIn(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		var secret string
		err := b.db.Update(context.Background(), func(tx *store.Tx) (err error) {
			_, secret, err = tx.CreateIntegrationUser(store.IntegrationUser{Name: "homeassistant", TopicPrefix: "homeassistant"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if topics, err := b.Devices.LoginUser(context.Background(), "homeassistant", secret); err != nil || topics != (motion.UserTopics{Prefix: "homeassistant"}) {
			t.Errorf("topics %q, %v", topics, err)
		}
		if _, err := b.Devices.LoginUser(context.Background(), "homeassistant", "guess"); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("wrong password: %v", err)
		}
	})
}
