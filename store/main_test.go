package store_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// update runs fn in an Update that must succeed.
func update(t testing.TB, db *store.DB, fn func(*store.Tx) error) {
	t.Helper()
	if err := db.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// view runs fn in a View that must succeed.
func view(t testing.TB, db *store.DB, fn func(*store.Tx) error) {
	t.Helper()
	if err := db.View(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// wantKind fails unless err is a fault of the kind.
func wantKind(t testing.TB, err error, kind fault.Kind) {
	t.Helper()
	if fault.KindOf(err) != kind {
		t.Errorf("error %v has fault kind %d, want %d", err, fault.KindOf(err), kind)
	}
}

// newNetwork stores a network and returns its id.
func newNetwork(t testing.TB, db *store.DB, guardianID string) (id motion.NetworkID) {
	t.Helper()
	update(t, db, func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: guardianID})
		id = n.ID
		return err
	})
	return id
}
