package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// fixtureV2 is what schema 2 left behind, written by a program over the store of commit
// cf30a96, which ended at second 1764001144. Its users are owner, member (without a
// password, with an account at an identity provider), early (not confirmed), second, first
// and alone. Home 1 is owned by owner, who is present and has two phones, with member;
// home 2 has lost its owner, and early, first (present, with a phone) and second joined it
// in this order; home 3 has lost its owner and has no members, but a name, meta and a
// location; home 4 was found and never owned. Of two devices that wait the one with the
// deviceId csi-f-02aa00000610 is approved, the adoption window ends at second 1764001744.
const fixtureV2 = "testdata/v2.db"

// openV2 opens a copy of the file of schema 2, at second 1764001200.
func openV2(t *testing.T) *DB {
	t.Helper()
	data, err := os.ReadFile(fixtureV2)
	if err != nil {
		t.Fatal(err)
	}
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	options.Now = func() time.Time { return time.Unix(1764001200, 0) }
	if err := os.WriteFile(options.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // t.Context has ended
		if err := errors.Join(db.Check(context.Background()), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestFixtureOfSchema2Opens(t *testing.T) {
	t.Parallel()
	db := openV2(t)
	err := db.View(t.Context(), func(tx *Tx) error {
		users, err := tx.Users()
		waiting, also := tx.PendingDevices()
		if len(users) != 6 || len(waiting) != 2 {
			t.Errorf("%d users and %d devices that wait, want 6 and 2", len(users), len(waiting))
		}
		return errors.Join(err, also)
	})
	if err != nil {
		t.Error(err)
	}
}
