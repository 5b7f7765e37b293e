package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"sensegate/store"
	"sensegate/store/storetest"
)

// openError opens path, expects failure, and checks that the message is a
// sentence with the path and the words.
func openError(t *testing.T, path string, words ...string) error {
	t.Helper()
	db, err := store.Open(store.Options{Path: path, LockTimeout: time.Millisecond})
	if err == nil {
		t.Fatal("opened", errors.Join(db.Close()))
	}
	for _, word := range append(words, path) {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("message %q does not say %q", err, word)
		}
	}
	return err
}

func TestOpenMakesDirectoryAndLeavesOnlyTheDatabase(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "a", "state")
	db, err := store.Open(store.Options{Path: filepath.Join(directory, "sensegate.db")})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Close(t, db)
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != "sensegate.db" {
		t.Errorf("directory holds %v, want sensegate.db only", entries)
	}
	info, err := entries[0].Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

func TestOpenStartsAnewAfterPowerCutDuringCreation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	if err := os.WriteFile(path+".new", make([]byte, 9000), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Close(t, db)
}

func TestOpenUsesAnEmptyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Close(t, db)
}

func TestInstallationTimeIsThatOfTheFirstOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	for _, now := range []int64{1764000000, 1765000000} {
		db, err := store.Open(store.Options{Path: path, Now: func() time.Time { return time.Unix(now, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		view(t, db, func(tx *store.Tx) error {
			at, err := tx.InstalledAt()
			if at != 1764000000 {
				t.Errorf("installed at %v, want 1764000000", at)
			}
			return err
		})
		storetest.Close(t, db)
	}
}

func TestOpenNamesTheProcessThatHoldsTheDatabase(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	err := openError(t, db.Path(), fmt.Sprintf("process %d", os.Getpid()), "stop that one")
	if !errors.Is(err, store.ErrLocked) {
		t.Errorf("error %v is not ErrLocked", err)
	}
}

func TestOpenSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	file := filepath.Join(directory, "file")
	if err := os.WriteFile(file, []byte("text that is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(directory, "foreign.db")
	other, err := bolt.Open(foreign, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = other.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("other"))
		return err
	})
	if err := errors.Join(err, other.Close()); err != nil {
		t.Fatal(err)
	}
	openError(t, directory, "is a directory")
	openError(t, filepath.Join(file, "sensegate.db"), "not a directory")
	openError(t, file, "damaged", "backup")
	openError(t, foreign, "not one of sensegate")
}
