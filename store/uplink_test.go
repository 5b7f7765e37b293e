package store

import (
	"errors"
	"path/filepath"
	"regexp"
	"testing"

	"sensegate/motion"
)

// TestFileOfSchema6GetsAnInstance migrates a file with an event, whose instance id stays from then on.
func TestFileOfSchema6GetsAnInstance(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	db, err := open(options, migrations()[:6])
	if err != nil {
		t.Fatal(err)
	}
	event := motion.Event{ID: "019ab6a4-7000-7b61-8a52-3b1f0c6d2e11", Event: motion.LinkConnectedEvent, TS: 1764000000}
	err = db.Update(t.Context(), func(tx *Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		event.NetworkID = n.ID
		record := eventRecord{Event: event}
		key, also := record.complete(tx)
		return errors.Join(err, also, events.put(tx, key, record))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	var ids [2]string
	for i := range ids {
		if db, err = open(options, migrations()); err != nil {
			t.Fatal(err)
		}
		err = db.View(t.Context(), func(tx *Tx) error {
			_, err := tx.Event(event.NetworkID, event.ID)
			id, also := tx.Instance()
			ids[i] = id
			return errors.Join(err, also)
		})
		if err := errors.Join(err, db.Check(t.Context()), db.Close()); err != nil {
			t.Error(err)
		}
	}
	if ids[0] != ids[1] || !regexp.MustCompile(`^[0-9a-f]{8}$`).MatchString(ids[0]) {
		t.Errorf("instance ids %v", ids)
	}
}

// numbers returns what an uplink at a number finds.
func numbers(t *testing.T, db *DB, after uint64, limit int) (found []uint64, last uint64) {
	t.Helper()
	err := db.View(t.Context(), func(tx *Tx) error {
		events, at, err := tx.EventsAfter(after, limit)
		for _, e := range events {
			found = append(found, e.Number)
		}
		last = at
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, last
}

func TestEventsAreNumberedWhileAnUplinkWantsThem(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	var network motion.NetworkID
	add := func(n int) {
		t.Helper()
		err := db.Update(t.Context(), func(tx *Tx) error {
			for range n {
				if _, _, err := tx.AddEvent(motion.Event{NetworkID: network, Event: motion.LinkConnectedEvent, TS: tx.Now()}, ""); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	cursor := func(names map[string]bool, change func(tx *Tx) error) {
		t.Helper()
		if err := db.Update(t.Context(), func(tx *Tx) error { return errors.Join(change(tx), tx.KeepUplinkCursors(names)) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Update(t.Context(), func(tx *Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		network = n.ID
		return err
	}); err != nil {
		t.Fatal(err)
	}
	wake := make(chan struct{}, 1)
	defer db.WatchEvents(wake)()
	add(3)
	if found, last := numbers(t, db, 0, 10); len(found) != 0 || last != 0 || len(wake) != 0 {
		t.Errorf("without an uplink: %v up to %d, woken %d", found, last, len(wake))
	}
	wants := func(tx *Tx) error { return tx.PutUplinkCursor(UplinkCursor{Name: "a", Events: new(uint64)}) }
	cursor(map[string]bool{"a": true}, wants)
	add(5)
	if found, last := numbers(t, db, 0, 3); len(found) != 3 || last != 3 || len(wake) != 1 {
		t.Errorf("the first of them: %v up to %d, woken %d", found, last, len(wake))
	}
	if found, last := numbers(t, db, 3, 10); len(found) != 2 || last != 5 {
		t.Errorf("the rest: %v up to %d", found, last)
	}
	cursor(map[string]bool{}, func(*Tx) error { return nil })
	add(2)
	cursor(map[string]bool{"a": true}, wants)
	add(1)
	if found, last := numbers(t, db, 5, 10); len(found) != 1 || found[0] != 6 || last != 6 {
		t.Errorf("after a while without: %v up to %d", found, last)
	}
	if err := db.Update(t.Context(), func(tx *Tx) error { return tx.DeleteNetwork(network) }); err != nil {
		t.Fatal(err)
	}
	if found, last := numbers(t, db, 3, 10); len(found) != 0 || last != 6 {
		t.Errorf("deleted: %v up to %d", found, last)
	}
}

// A rebuilt index has no sequence, and a salvaged file has neither: no number may be given twice.
func TestNumbersGoOnWithoutTheSequence(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	err := db.Update(t.Context(), func(tx *Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		at := uint64(7)
		also := tx.PutUplinkCursor(UplinkCursor{Name: "a", Events: &at})
		_, _, wrong := tx.AddEvent(motion.Event{NetworkID: n.ID, Event: motion.LinkConnectedEvent, TS: tx.Now()}, "")
		rebuilt := events.untyped().rebuild(tx)
		if last, err := tx.LastEventNumber(); last != 8 || err != nil {
			t.Errorf("the last number is %d, %v", last, err)
		}
		return errors.Join(err, also, wrong, rebuilt)
	})
	if err != nil {
		t.Fatal(err)
	}
}
