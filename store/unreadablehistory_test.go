package store_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/store"
	"sensegate/store/storetest"
)

// addSpoilt adds an event and a detection of a new home, which cannot be read.
func addSpoilt(t *testing.T, db *store.DB, at motion.Time) (home.Home, []sensor.Device) {
	t.Helper()
	h, devices := newSensorHome(t, db, "spoilt", "USER_1")
	addEvent(t, db, motion.Event{Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, NetworkID: h.ExternalID, TS: at}, "spoilt")
	update(t, db, func(tx *store.Tx) error {
		_, err := tx.AddDetection(devices[0], sensor.Detection{Home: h.ID, ThingName: devices[0].ThingName, TS: at})
		return err
	})
	for _, bucket := range []string{"events", "detections"} {
		if err := store.SpoilFirst(db, bucket, true); err != nil {
			t.Fatal(err)
		}
	}
	return h, devices
}

func TestUnreadableHistoryGoesWithItsNetwork(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime) // whose indexes are checked at the end
	h, devices := addSpoilt(t, db, 1764000000)
	update(t, db, func(tx *store.Tx) error {
		list, err := tx.Detections(store.DetectionQuery{Home: h.ID, Sensor: devices[0].ID, Last: 10})
		if len(list) != 0 {
			t.Errorf("an unreadable detection is listed: %+v", list)
		}
		return errors.Join(err, tx.DeleteNetwork(h.ExternalID))
	})
	if n := layoutKeys(t, db, "events", "events_by_id", "events_by_dedupe", "detections", "detections_by_sensor"); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// layoutKeys returns how many keys some buckets hold.
func layoutKeys(t *testing.T, db *store.DB, names ...string) (n int) {
	t.Helper()
	layout, err := db.Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range layout.Buckets {
		for _, name := range names {
			if b.Name == name {
				n += b.Keys
			}
		}
	}
	return n
}

func TestUnreadableHistoryIsNoDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	addSpoilt(t, db, motion.TimeOf(time.Now()))
	if _, err := db.Backup(t.Context()); err != nil {
		t.Errorf("it cannot be backed up: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, recovery, err := store.OpenOrRecover(t.Context(), store.Options{Path: path})
	if recovery != nil || err != nil {
		t.Fatalf("a start finds damage: %+v, %v", recovery, err)
	}
	if n := db.Health().Unreadable; n != 2 {
		t.Errorf("%d records counted, want 2", n)
	}
	if err := store.PutStaleEntry(db, "events_by_id"); err != nil {
		t.Fatal(err)
	}
	if db.Check(t.Context()) == nil {
		t.Error("a stale entry beside an unreadable record is not found")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestUnreadableHistoryGoesWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	keep := short()
	keep.Detections = 10 * time.Hour
	s, start := newAging(t, keep)
	addSpoilt(t, s.db, motion.Time(base+start))
	s.add(start, 0.5)
	s.flush(start + 3600*40)
	if n := layoutKeys(t, s.db, "events", "events_by_id", "events_by_dedupe", "detections", "detections_by_sensor"); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func TestUnreadableCommandKeepsNothingFromBeingStored(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, short())
	var all [3]command.Command
	update(t, s.db, func(tx *store.Tx) (err error) {
		for i := range all {
			all[i], err = tx.CreateCommand(command.Command{NetworkID: s.network, NodeID: 1, State: command.Done, CreatedAt: motion.Time(base), UpdatedAt: motion.Time(base)})
		}
		return err
	})
	if err := store.SpoilFirst(s.db, "commands", true); err != nil {
		t.Fatal(err)
	}
	s.add(start, 0.5)
	s.flush(start + 3600*40)
	view(t, s.db, func(tx *store.Tx) error {
		if _, err := tx.Command(all[2].ID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("one that can be read is still there: %v", err)
		}
		return nil
	})
	if err := store.SpoilFirst(s.db, "commands", false); err != nil { // for the check at the end
		t.Fatal(err)
	}
}

func TestPersonIsForgottenWithUnreadableEvents(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network := newNetwork(t, db, "g")
	addEvent(t, db, motion.Event{NetworkID: network, TS: 1764000000, Data: motion.Document{"sub": "person-1"}}, "about")
	if err := store.SpoilFirst(db, "events", true); err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *store.Tx) error { return tx.ForgetInEvents(home.User{ID: 1, Sub: "person-1"}) })
	if found := storetest.Scan(t, db, "person-1"); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
}

func TestUnreadableEventIsAddedAnew(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime) // whose indexes are checked at the end
	network := newNetwork(t, db, "g")
	for name, again := range map[string]func(stored motion.Event) (motion.Event, string){
		"with its origin": func(e motion.Event) (motion.Event, string) { e.ID = ""; return e, "origin" },
		"with its id":     func(e motion.Event) (motion.Event, string) { return e, "" },
	} {
		stored, _ := addEvent(t, db, motion.Event{Category: motion.CategorySystem, Event: motion.MemberArrivedEvent, NetworkID: network, TS: 1764000000}, "origin")
		if err := store.SpoilFirst(db, "events", true); err != nil {
			t.Fatal(err)
		}
		event, dedupe := again(stored)
		if _, isNew := addEvent(t, db, event, dedupe); !isNew {
			t.Errorf("%s: it is not new", name)
		}
		if n := layoutKeys(t, db, "events"); n != 1 {
			t.Errorf("%s: %d events, want 1", name, n)
		}
		update(t, db, func(tx *store.Tx) error {
			_, err := tx.DeleteEventsBefore(motion.Time(1764000001), 10)
			return err
		})
	}
}
