package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// TestChecksumsAreAddedAfterAPowerCutToo migrates a file without checksums whose migration
// ended between two transactions.
func TestChecksumsAreAddedAfterAPowerCutToo(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	if err := os.WriteFile(options.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cut := errors.New("power cut")
	steps := migrations()
	for i := range steps {
		if steps[i].first != nil {
			steps[i].apply = func(*Tx) error { return cut }
		}
	}
	if _, err := open(options, steps); !errors.Is(err, cut) {
		t.Fatalf("error %v, want the cut", err)
	}
	db, err := open(options, migrations())
	if err != nil {
		t.Fatal(err)
	}
	if n := withoutChecksum(t, db, networks.name, events.name, leafs.name); n != 0 {
		t.Errorf("%d values without a checksum", n)
	}
	if err := errors.Join(db.Check(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
}

// withoutChecksum counts the values of buckets whose checksum is missing or wrong, or
// which have two.
func withoutChecksum(t *testing.T, db *DB, buckets ...string) (n int) {
	t.Helper()
	err := db.file.Bolt.View(func(btx *bolt.Tx) error {
		for _, name := range buckets {
			err := btx.Bucket([]byte(name)).ForEach(func(key, value []byte) error {
				text, err := verified(key, value)
				if _, twice := verified(key, text); err != nil || twice == nil {
					n++
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
