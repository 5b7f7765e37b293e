package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/store"
)

func TestDamagedIndexIsRebuiltAndNothingIsLost(t *testing.T) {
	t.Parallel()
	const index = "events_by_id"
	for name, damage := range map[string]func(*store.DB) error{
		"an entry that leads nowhere": func(db *store.DB) error { return store.PutStaleEntry(db, index) },
		"no entries":                  func(db *store.DB) error { return store.ClearIndex(db, index) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			o := store.Options{Path: filepath.Join(t.TempDir(), "sensegate.db"), Logger: slog.New(slog.NewTextHandler(&log, nil))}
			db, err := store.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			network := newNetwork(t, db, "g")
			var ids []string
			for i := range 50 {
				stored, _ := addEvent(t, db, motion.Event{
					Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, NetworkID: network, TS: motion.Time(1764000000 + i),
				}, fmt.Sprint(i))
				ids = append(ids, stored.ID)
			}
			if err := damage(db); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db, recovery, err := store.OpenOrRecover(t.Context(), o)
			if err != nil || recovery != nil {
				t.Fatalf("opened with %v, recovered %+v; want the same file", err, recovery)
			}
			view(t, db, func(tx *store.Tx) error {
				for _, id := range ids {
					if _, err := tx.Event(network, id); err != nil {
						return err
					}
				}
				return nil
			})
			if err := db.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(log.String(), "nothing is lost") {
				t.Errorf("the log does not tell: %s", log.String())
			}
		})
	}
}

func TestUnreadableAdoptionWindowIsFoundAndDropped(t *testing.T) {
	t.Parallel()
	o := store.Options{Path: filepath.Join(t.TempDir(), "sensegate.db")}
	db, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	network := newNetwork(t, db, "g")
	update(t, db, func(tx *store.Tx) error { return tx.SetAdoptionUntil(network, 1764000000) })
	if err := store.SpoilFirst(db, "adoption_windows", true); err != nil {
		t.Fatal(err)
	}
	if err := db.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "adoption_windows") {
		t.Errorf("the check returns %v, want the adoption window", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, recovery, err := store.OpenOrRecover(t.Context(), o)
	if err != nil || recovery == nil || recovery.Lost != "1 of adoption_windows" {
		t.Fatalf("opened with %v, recovered %+v; want the adoption window lost", err, recovery)
	}
	if err := errors.Join(db.Check(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
}
