package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// compactStep is how many bytes of keys and values are copied in one transaction.
const compactStep = 1 << 20

// Compacted says how long the file was and is, in bytes.
type Compacted struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// Compact writes what the database at o.Path holds into a new file without free pages,
// checks that and puts it in place of the old one. It is refused while another process
// holds the database. A power cut leaves one of the two, whole.
func Compact(ctx context.Context, o Options) (done Compacted, err error) {
	db, err := Open(o)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	done.Before = db.fileSize()
	candidate := newPath(o.Path)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("compact %s: %w", o.Path, err), remove(candidate))
		}
	}()
	if err := db.requireRoom(filepath.Dir(o.Path), backupReserve); err != nil {
		return done, err
	}
	if err := db.compactTo(candidate); err != nil {
		return done, err
	}
	made, err := examine(ctx, o.withDefaults(), candidate)
	if err != nil {
		return done, err
	}
	done.After = made.Size
	return done, replace(o.Path, candidate, "")
}

// compactTo writes the database into a new file at path; each commit is synced.
func (db *DB) compactTo(path string) error {
	if err := remove(path); err != nil {
		return err
	}
	to, err := bolt.Open(path, 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	to.AllocSize = growStep
	return errors.Join(bolt.Compact(to, db.bolt, compactStep), to.Close())
}
