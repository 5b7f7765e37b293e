package store

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDamageMetWhileRunningFailsTheStore overwrites the flags and counts of every page but
// those of the file itself while the database is open, which makes bbolt panic. Reading,
// writing and checking meet it in turn.
func TestDamageMetWhileRunningFailsTheStore(t *testing.T) {
	t.Parallel()
	data := filled(t)
	read := func(db *DB) error {
		return db.View(t.Context(), func(tx *Tx) error { _, err := tx.Events(EventQuery{Network: 7}); return err })
	}
	for name, meet := range map[string]func(*DB) error{
		"reading": read,
		"writing": func(db *DB) error {
			return db.Update(t.Context(), func(tx *Tx) error { return tx.DeleteNetwork(7) })
		},
		"checking": func(db *DB) error { return db.Check(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "sensegate.db")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := Open(testOptions(path))
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(read(db), db.Writable()); err != nil {
				t.Fatalf("before the damage: %v", err)
			}
			overwriteHeaders(t, path)
			if err := meet(db); err == nil {
				t.Error("the damage is not met")
			}
			if err := read(db); !errors.Is(err, ErrDamaged) {
				t.Errorf("reading afterwards: %v, want ErrDamaged", err)
			}
			select {
			case <-db.Failed():
			default:
				t.Error("Failed is not closed")
			}
			if !errors.Is(db.Writable(), ErrDamaged) {
				t.Errorf("writable: %v, want ErrDamaged", db.Writable())
			}
			closing := time.AfterFunc(time.Minute, func() { panic("closing hangs") })
			_ = db.Close() // of a damaged file nothing is owed but an end
			closing.Stop()
			if _, err := Open(testOptions(path)); !errors.Is(err, ErrDamaged) {
				t.Errorf("opened again: %v, want ErrDamaged", err)
			}
		})
	}
}

// overwriteHeaders changes flags and count of all pages but the meta pages.
func overwriteHeaders(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	wrong := binary.LittleEndian.AppendUint32(nil, 0xffffffff)
	for id := int64(2); id < info.Size()/4096; id++ {
		if _, err := file.WriteAt(wrong, id*4096+8); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPanicOfACallerGoesOn(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	defer func() {
		if met := recover(); met != "a mistake" {
			t.Errorf("recovered %v, want the caller's panic", met)
		}
		if err := db.Err(); err != nil {
			t.Errorf("the store has failed: %v", err)
		}
	}()
	_ = db.View(t.Context(), func(tx *Tx) error {
		return tx.bucket(metaBucket).ForEach(func([]byte, []byte) error { panic("a mistake") }) // bbolt calls it
	})
}
