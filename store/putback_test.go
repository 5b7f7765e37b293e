package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// TestDatabaseFromBeforeAMigrationIsPutBack, without a copy, also after each step that it may be killed at.
func TestDatabaseFromBeforeAMigrationIsPutBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		done func(path, backup string) error // before
		want error
	}{
		"nothing":              {func(string, string) error { return nil }, nil},
		"kept aside":           {func(path, _ string) error { return os.Link(path, path+".replaced-20250101T000000Z") }, nil},
		"renamed":              {func(path, backup string) error { return os.Rename(backup, path) }, nil},
		"the newer one is off": {func(path, _ string) error { return os.Remove(path) }, nil},
		"gone":                 {func(_, backup string) error { return os.Remove(backup) }, fs.ErrNotExist},
		"damaged":              {func(_, backup string) error { return os.Truncate(backup, 9000) }, ErrDamaged},
		"cut to its pages":     {func(_, backup string) error { return os.Truncate(backup, 32<<10) }, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
			openAndClose(t, options, migrations())
			var backup string
			newer := options
			newer.Migrate = func(backUp func() (string, error), migrate func() error) (err error) {
				if backup, err = backUp(); err != nil {
					return err
				}
				return migrate()
			}
			openAndClose(t, newer, withStep(nil))
			if err := c.done(options.Path, backup); err != nil {
				t.Fatal(err)
			}
			for range 2 { // what is done is done once
				_, err := PutBack(options, filepath.Base(backup))
				if want := c.want; !errors.Is(err, want) {
					t.Fatalf("%v, want %v", err, want)
				}
				if c.want != nil {
					openAndClose(t, options, withStep(nil)) // as it was
					return
				}
				openAndClose(t, options, migrations())
				c.want = fs.ErrNotExist
			}
			kept, err := Replaced(options.Path)
			if want := name == "nothing" || name == "kept aside"; err != nil || (len(kept) == 1) != want {
				t.Errorf("%v are kept, %v", kept, err)
			}
			for _, path := range kept {
				aside := options
				aside.Path = path
				openAndClose(t, aside, withStep(nil))
			}
		})
	}
}

// TestDatabaseInUseIsNotPutBack waits for who has the newer one.
func TestDatabaseInUseIsNotPutBack(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	options.LockTimeout = 1
	db, err := open(options, migrations())
	if err != nil {
		t.Fatal(err)
	}
	made, err := db.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := PutBack(options, filepath.Base(made.Path)); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := PutBack(options, filepath.Base(made.Path)); err != nil {
		t.Error(err)
	}
}

// TestMigrationIsLeftToWhoAsksForIt: when that refuses, nothing is changed.
func TestMigrationIsLeftToWhoAsksForIt(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	openAndClose(t, options, migrations())
	refused := errors.New("no room")
	newer := options
	newer.Migrate = func(func() (string, error), func() error) error { return refused }
	if _, err := open(newer, withStep(nil)); !errors.Is(err, refused) {
		t.Error(err)
	}
	openAndClose(t, options, migrations())
}

// TestProgramOnTrialMendsNothing: what it cannot read may be its own mistake.
func TestProgramOnTrialMendsNothing(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	openAndClose(t, options, migrations())
	other, err := bolt.Open(options.Path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = other.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte(leafs.name)).Put([]byte("key"), []byte("no record")) })
	if err := errors.Join(err, other.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := OpenWhole(t.Context(), options); err == nil {
			t.Error("it is whole")
		}
	}
	db, recovery, err := OpenOrRecover(t.Context(), options)
	if err != nil || recovery == nil {
		t.Fatal(recovery, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if db, err = OpenWhole(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
