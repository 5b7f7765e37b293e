package crashtest

import (
	"context"
	"testing"

	"sensegate/api/appliance/box"
	"sensegate/store"
)

// start runs a command line that ends in the product on the state in dir.
func start(t *testing.T, dir string, line ...string) *box.Process {
	t.Helper()
	return box.Start(t, box.Setup{Dir: dir, Line: line})
}

// inspect opens the database at path with the product's store, which must find it
// clean, and has check look at it.
func inspect(ctx context.Context, path string, check func(*store.DB) error) error {
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Check(ctx); err != nil {
		return err
	}
	return check(db)
}
