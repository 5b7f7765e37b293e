package store_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestUnreadableEventIsLeftOutCountedAndSaidOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	db := storetest.Open(t, fixedTime, func(o *store.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	network := newNetwork(t, db, "g")
	for i, kind := range []string{motion.MotionDetectedEvent, motion.MotionStoppedEvent, motion.LinkConnectedEvent} {
		addEvent(t, db, motion.Event{
			Category: motion.CategoryMotion, Event: kind, NetworkID: network,
			TS: motion.Time(1764000000 - 30 + 10*i), DetectedTS: 1764000000 - 30,
		}, fmt.Sprint(i))
	}
	count := func() (events, kinds, pairs, each int) {
		view(t, db, func(tx *store.Tx) error {
			list, err := tx.Events(store.EventQuery{Network: network})
			if err != nil {
				return err
			}
			of, err := tx.Events(store.EventQuery{Network: network, Kinds: []string{motion.MotionDetectedEvent}})
			if err != nil {
				return err
			}
			both, _, err := tx.PairPage(store.EventQuery{Network: network})
			if err != nil {
				return err
			}
			events, kinds, pairs = len(list), len(of), len(both)
			all, err := storetest.Events(tx, network)
			each = len(all)
			return err
		})
		return events, kinds, pairs, each
	}
	for spoil, want := range map[bool][4]int{true: {2, 0, 0, 2}, false: {3, 1, 1, 3}} {
		if err := store.SpoilFirst(db, "events", spoil); err != nil {
			t.Fatal(err)
		}
		events, kinds, pairs, each := count()
		if got := [4]int{events, kinds, pairs, each}; got != want {
			t.Errorf("spoilt %v: %v events, of a kind, pairs, in all; want %v", spoil, got, want)
		}
	}
	if err := store.SpoilFirst(db, "events", false); err != nil { // for the check at the end
		t.Fatal(err)
	}
	if n := db.Health().Unreadable; n != 1 {
		t.Errorf("%d records counted, want 1", n)
	}
	if n := strings.Count(log.String(), "cannot be read"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
}

// TestUnreadableRecordBlocksNothing makes a sensor unreadable: lists leave it out, reading
// it finds none, and deleting what it belongs to deletes it too.
func TestUnreadableRecordBlocksNothing(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	h, devices := newSensorHome(t, db, "a", "USER_1")
	if err := store.SpoilFirst(db, "sensors", true); err != nil {
		t.Fatal(err)
	}
	view(t, db, func(tx *store.Tx) error {
		list, err := tx.Sensors(h.ID)
		if len(list) != len(devices)-1 {
			t.Errorf("%d sensors, want all but one of %d", len(list), len(devices))
		}
		if _, err := tx.Sensor(h.ID, devices[0].ThingName); fault.KindOf(err) != fault.NotFound {
			t.Errorf("the unreadable one: %v, want that there is none", err)
		}
		return err
	})
	update(t, db, func(tx *store.Tx) error { return tx.DeleteIntegration(h.ID) })
	if left := layoutKeys(t, db, "sensors") + layoutKeys(t, db, "sensors_by_home"); left != 0 {
		t.Errorf("%d keys are left", left)
	}
}
