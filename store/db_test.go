package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// testDB opens a new database that is checked and closed with the test.
func testDB(t *testing.T, change ...func(*Options)) *DB {
	t.Helper()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	for _, c := range change {
		c(&options)
	}
	db, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Check(context.Background()), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestUpdateThatFailsOrPanicsWritesNothing(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	reason := errors.New("reason")
	hooks := 0
	err := db.Update(t.Context(), func(tx *Tx) error {
		tx.OnCommit(func() { hooks++ })
		_, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		return errors.Join(err, reason)
	})
	if !errors.Is(err, reason) {
		t.Errorf("error %v, want %v", err, reason)
	}
	func() {
		defer func() { recover() }()
		_ = db.Update(t.Context(), func(tx *Tx) error {
			_, _ = tx.CreateNetwork(motion.Network{GuardianID: "g"})
			panic("met")
		})
	}()
	err = db.View(t.Context(), func(tx *Tx) error {
		list, err := tx.Networks()
		if len(list) != 0 || hooks != 0 {
			t.Errorf("%d networks and %d hooks, want none", len(list), hooks)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOnCommitRunsInOrderAfterTheCommit(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	var seen []string
	err := db.Update(t.Context(), func(tx *Tx) error {
		for _, word := range []string{"first", "second"} {
			tx.OnCommit(func() {
				err := db.View(context.Background(), func(tx *Tx) error {
					_, err := tx.Network(1)
					return err
				})
				seen = append(seen, fmt.Sprint(word, " ", err))
			})
		}
		_, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		return err
	})
	if want := []string{"first <nil>", "second <nil>"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("saw %q, error %v, want %q", seen, err, want)
	}
}

func TestUpdateThatChangesNothingCostsNoCommit(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	put := func(name string) int {
		t.Helper()
		var id int
		err := db.Update(t.Context(), func(tx *Tx) error {
			id = tx.bolt.ID()
			n, err := tx.NetworkByGuardian("g")
			if fault.KindOf(err) == fault.NotFound {
				n, err = tx.CreateNetwork(motion.Network{GuardianID: "g"})
			}
			n.Meta = motion.Document{"name": name}
			return errors.Join(err, tx.PutNetwork(n))
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := put("a")
	if same := put("a"); same != first+1 {
		t.Fatalf("transaction %d after %d", same, first)
	}
	if after := put("b"); after != first+1 {
		t.Errorf("storing the same again took transaction %d, want none between %d and %d", first+1, first, after)
	}
	if last := put("c"); last != first+2 {
		t.Errorf("a change took no transaction: %d after %d", last, first+1)
	}
}

func TestCancelledContextRunsNothing(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	refuse := func(*Tx) error { t.Error("ran"); return nil }
	if err := errors.Join(db.View(ctx, refuse), db.Update(ctx, refuse)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestFullFileIsUnavailableAndWorksAgain(t *testing.T) {
	t.Parallel()
	db := testDB(t, func(o *Options) { o.MaxSize = 1 << 20 })
	state := bytes.Repeat([]byte("7"), 400<<10)
	var last error
	for i := range 10 {
		last = db.Update(t.Context(), func(tx *Tx) error {
			n, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprint(i)})
			return errors.Join(err, tx.PutDetectorState(n.ID, state))
		})
		if last != nil {
			break
		}
	}
	if fault.KindOf(last) != fault.Unavailable || db.Err() != nil {
		t.Fatalf("error %v, failure %v, want a fault Unavailable and no failure", last, db.Err())
	}
	err := db.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.DeleteNetwork(1))
	})
	if err != nil {
		t.Errorf("after the disk was full: %v", err)
	}
}
