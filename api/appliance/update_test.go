package appliance

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"sensegate/api/admin"
	"sensegate/motion"
	"sensegate/store"
)

// TestFormerProgramGetsItsDatabaseBack: what a newer program has migrated gives way to the backup from
// before, when that program went back; otherwise it is refused.
func TestFormerProgramGetsItsDatabaseBack(t *testing.T) {
	t.Parallel()
	c := Defaults()
	c.StateDir = t.TempDir()
	options := store.Options{Path: admin.Database(c.StateDir)}
	db, err := store.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.CreateNetwork(motion.Network{GuardianID: "a41f"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	newer, err := bolt.Open(options.Path, 0o600, nil) // as a newer program leaves it
	if err != nil {
		t.Fatal(err)
	}
	err = newer.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte("999")) })
	if err != nil {
		t.Fatal(err)
	}
	if err := newer.Close(); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if _, err := c.openDatabase(t.Context(), log); err == nil {
		t.Fatal("a newer database was opened")
	}
	note := []byte(`{"version":"v2","program":"/usr/bin/sensegate","sha256":"00","state":"back","why":"it ended"}`)
	if err := os.WriteFile(filepath.Join(c.StateDir, "update.json"), note, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err = c.openDatabase(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	networks, err := store.Read(t.Context(), db, (*store.Tx).Networks)
	if err != nil || len(networks) != 1 || networks[0].GuardianID != "a41f" {
		t.Errorf("%+v %v", networks, err)
	}
	if aside, err := store.Replaced(options.Path); err != nil || len(aside) != 1 {
		t.Errorf("the newer database is not kept: %v %v", aside, err)
	}
}
