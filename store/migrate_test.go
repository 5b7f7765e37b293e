package store

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
)

var updateFixture = flag.Bool("update", false, "rewrite testdata/v1.db from the present schema")

const fixture = "testdata/v1.db"

// testOptions returns options for a file and a fixed time.
func testOptions(path string) Options {
	return Options{Path: path, Now: func() time.Time { return time.Unix(1764000000, 0) }}.withDefaults()
}

// writeFixture makes the file that every later version must be able to open.
func writeFixture(t *testing.T) {
	t.Helper()
	if err := os.Remove(fixture); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	db, err := Open(testOptions(fixture))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "a41f00c2d97b4e5580136c2e", Meta: motion.Document{"guardian_env": "local"}})
		if err != nil {
			return err
		}
		node, err := tx.PutNode(motion.Node{NetworkID: n.ID, Name: "GWA1000133", DeviceID: "csi-a-02aa00000110"})
		if err != nil {
			return err
		}
		if _, err := tx.PutLeaf(motion.Leaf{NetworkID: n.ID, MAC: motion.MAC{2, 0xbb, 0, 0, 0, 0x31}, NodeID: node.ID}); err != nil {
			return err
		}
		_, _, err = tx.AddEvent(motion.Event{
			ID: "019ab6a4-7000-7b61-8a52-3b1f0c6d2e11", NetworkID: n.ID, Category: motion.CategoryMotion,
			Event: motion.MotionDetectedEvent, TS: 1764000000.5,
		}, "first")
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fixture, usedPages(t, fixture), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFixtureOfSchema1Opens(t *testing.T) {
	t.Parallel()
	if *updateFixture {
		writeFixture(t)
	}
	data, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sensegate.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(t.Context(), func(tx *Tx) error {
		n, err := tx.NetworkByGuardian("a41f00c2d97b4e5580136c2e")
		if err != nil {
			return err
		}
		if n.Meta.Text("guardian_env") != "local" {
			t.Errorf("network %+v lost its meta", n)
		}
		e, err := tx.Event(n.ID, "019ab6a4-7000-7b61-8a52-3b1f0c6d2e11")
		if e.TS != 1764000000.5 {
			t.Errorf("event %+v, want ts 1764000000.5", e)
		}
		return err
	})
	if err := errors.Join(err, db.Check(context.Background()), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// withStep returns the present migrations and one more.
func withStep(apply func(*Tx) error) []migration {
	steps := migrations()
	next := steps[len(steps)-1].version + 1
	return append(steps, migration{version: next, buckets: []string{"added"}, apply: apply})
}

func TestMigrationCopiesTheFileFirst(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	openAndClose(t, options, migrations())
	openAndClose(t, options, withStep(func(tx *Tx) error {
		return tx.bucket("added").Put([]byte("key"), []byte("1"))
	}))

	db, err := open(options, withStep(nil))
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(t.Context(), func(tx *Tx) error {
		if value := tx.bucket("added").Get([]byte("key")); string(value) != "1" {
			t.Errorf("the migration left %q, want 1", value)
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}

	if err := os.Remove(options.Path); err != nil {
		t.Fatal(err)
	}
	made, err := RestoreLast(t.Context(), options)
	steps := migrations()
	before := fmt.Sprintf("-schema%d.backup", steps[len(steps)-1].version)
	if err != nil || !strings.HasSuffix(made.Path, before) {
		t.Fatalf("restored %v, %v; want the copy from before the migration", made, err)
	}
	openAndClose(t, options, migrations())
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	openAndClose(t, options, migrations())
	reason := errors.New("reason")
	if _, err := open(options, withStep(func(*Tx) error { return reason })); !errors.Is(err, reason) {
		t.Fatalf("error %v, want %v", err, reason)
	}
	openAndClose(t, options, migrations())
}

func TestNewerFileIsRefused(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	openAndClose(t, options, withStep(nil))
	_, err := Open(options)
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), options.Path) || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("error %v, want one that names the file and the newer program", err)
	}
}

func TestMissingBucketIsDamage(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	db, err := open(options, migrations())
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error { return tx.bolt.DeleteBucket([]byte("links")) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(options); !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v, want ErrDamaged", err)
	}
}

// openAndClose opens a file with the given migrations.
func openAndClose(t *testing.T, options Options, steps []migration) {
	t.Helper()
	db, err := open(options, steps)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMigrationThatPanicsLeavesTheDatabase as it was, and not in use.
func TestMigrationThatPanicsLeavesTheDatabase(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	options.LockTimeout = time.Millisecond
	openAndClose(t, options, migrations())
	_, err := open(options, withStep(func(*Tx) error { panic("oops") }))
	if err == nil || !strings.Contains(err.Error(), "oops") {
		t.Error(err)
	}
	openAndClose(t, options, migrations())
}
