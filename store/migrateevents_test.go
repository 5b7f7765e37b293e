package store

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"sensegate/motion"
)

// TestEventsOfOneTimeArePartedByTheMigration migrates a file of schema 4 with ten events of
// one time, one a microsecond later, and a stop of that time's detection.
func TestEventsOfOneTimeArePartedByTheMigration(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	const at = motion.Time(1764000000)
	db, err := open(options, migrations()[:4])
	if err != nil {
		t.Fatal(err)
	}
	var network motion.Network
	put := func(tx *Tx, kind string, ts, detected motion.Time) error { // as schema 4 did
		id := uuid.New()
		record := eventRecord{Event: motion.Event{ID: id.String(), NetworkID: network.ID, Event: kind, TS: ts, DetectedTS: detected}}
		return events.put(tx, eventKey{network.ID, uint64(ts.Micros()), id}, record)
	}
	err = db.Update(t.Context(), func(tx *Tx) (err error) {
		if network, err = tx.CreateNetwork(motion.Network{GuardianID: "g"}); err != nil {
			return err
		}
		for range 9 {
			err = errors.Join(err, put(tx, motion.LinkCreatedEvent, at, 0))
		}
		return errors.Join(err, put(tx, motion.MotionDetectedEvent, at, 0),
			put(tx, motion.LinkConnectedEvent, at+1e-6, 0), put(tx, motion.MotionStoppedEvent, at+50, at))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing left to do
		if db, err = open(options, migrations()); err != nil {
			t.Fatal(err)
		}
		err = db.View(t.Context(), func(tx *Tx) error {
			list, err := tx.Events(EventQuery{Network: network.ID, Last: 100, Ascending: true})
			for i, e := range list {
				if want := at.Micros() + int64(i); i < 11 && e.TS.Micros() != want {
					t.Errorf("event %d is of %d, want %d", i, e.TS.Micros(), want)
				}
			}
			pairs, _, also := tx.PairPage(EventQuery{Network: network.ID})
			if len(list) != 12 || len(pairs) != 1 {
				t.Errorf("%d events and %d pairs, want 12 and 1", len(list), len(pairs))
			}
			return errors.Join(err, also)
		})
		if err := errors.Join(err, db.Check(t.Context()), db.Close()); err != nil {
			t.Error(err)
		}
	}
}
