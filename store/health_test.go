package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/series"
)

// spaceInterval is the time between two looks at the room on the disk.
const spaceInterval = 2 * time.Second

// roomOf returns a measure of the room on the disk that the test sets.
func roomOf(bytes *atomic.Int64) func(string) (int64, error) {
	return func(string) (int64, error) { return bytes.Load(), nil }
}

func TestWithTooLittleRoomNothingIsStoredUntilThereIsEnough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var free atomic.Int64
		free.Store(1 << 40)
		db := testDB(t, func(o *Options) { o.MinFree, o.measure = 800, roomOf(&free) })
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = db.Watch(ctx) }()
		put := func() error {
			return db.Update(t.Context(), func(tx *Tx) error {
				n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
				return errors.Join(err, tx.DeleteNetwork(n.ID))
			})
		}
		for _, step := range []struct {
			free    int64
			written bool
		}{{800, true}, {799, false}, {0, false}, {850, false}, {900, true}, {800, true}, {10, false}, {1 << 40, true}} {
			free.Store(step.free)
			time.Sleep(2*spaceInterval + time.Millisecond)
			err := put()
			if step.written {
				if err != nil || db.Health().ReadOnly != "" {
					t.Errorf("with %d bytes free: %v, %q, want it to be written", step.free, err, db.Health().ReadOnly)
				}
				continue
			}
			var full *fault.Error
			if !errors.As(err, &full) || full.Kind != fault.Unavailable || full.RetryAfter <= 0 || db.Health().ReadOnly == "" {
				t.Errorf("with %d bytes free: %v, want a fault that asks to come back", step.free, err)
			}
			if err := db.View(t.Context(), func(tx *Tx) error { _, err := tx.Networks(); return err }); err != nil {
				t.Errorf("with %d bytes free, reading: %v", step.free, err)
			}
		}
		free.Store(1 << 40)
		time.Sleep(2 * spaceInterval)
	})
}

func TestSamplesGivenUpAreCounted(t *testing.T) {
	t.Parallel()
	var free atomic.Int64
	db := testDB(t, func(o *Options) { o.MinFree, o.measure = 800, roomOf(&free) })
	samples, err := OpenSamples(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for day := range 30 {
		for minute := range 24 * 60 {
			second := motion.Time(1764000000 + day*24*3600 + minute*60)
			samples.Add(1, second, []Value{{ID: series.Network, Value: 0.5}})
		}
	}
	if lost := db.Health().SamplesLost; lost == 0 || lost%600 != 0 {
		t.Errorf("%d s lost, want some blocks of 600", lost)
	}
}

func TestDatabaseOpensAndClosesOnAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	for range 2 {
		options := testOptions(path)
		options.MinFree = 1 << 60
		db, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		if db.Health().ReadOnly == "" {
			t.Error("it is not read-only")
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUncleanStopsAreCounted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	cut := func() { // the lock is given back, as when a process ends
		t.Helper()
		db, err := Open(testOptions(path))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.file.Bolt.Close(); err != nil {
			t.Fatal(err)
		}
	}
	stop := func(want int64) {
		t.Helper()
		db, err := Open(testOptions(path))
		if err != nil {
			t.Fatal(err)
		}
		if got := db.Health(); got.UncleanStops != want || got.LastUnclean.IsZero() == (want > 0) {
			t.Errorf("health %+v, want %d unclean stops", got, want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + ".pid"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the process id is still there: %v", err)
		}
	}
	stop(0)
	stop(0)
	cut()
	stop(1)
	stop(1)
	cut()
	cut()
	stop(3)
}
