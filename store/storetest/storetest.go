// Package storetest opens databases for tests: real files, verified when the
// test ends. It is used by tests only and knows nothing of what is stored.
package storetest

import (
	"context"
	"path/filepath"
	"testing"

	"sensegate/store"
)

// Open returns a new database in a directory of its own. When the test ends,
// every page and index is checked and the database closed. The options can be
// changed before it is opened.
func Open(t testing.TB, change ...func(*store.Options)) *store.DB {
	t.Helper()
	options := store.Options{Path: filepath.Join(t.TempDir(), "sensegate.db")}
	for _, c := range change {
		c(&options)
	}
	db, err := store.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Close(t, db) })
	return db
}

// Close checks every page and index of db and closes it.
func Close(t testing.TB, db *store.DB) {
	t.Helper()
	if err := db.Check(context.Background()); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
