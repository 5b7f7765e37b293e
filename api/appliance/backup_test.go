package appliance

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sensegate/api/admin"
	"sensegate/motion"
	"sensegate/store"
)

// TestBackupHoldsTheLastMinuteToo: motion that is not written yet goes along.
func TestBackupHoldsTheLastMinuteToo(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) { c.Store.FlushInterval = 10 * time.Minute })
	var id motion.NetworkID
	err := r.db.Update(t.Context(), func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "a41f"})
		id = n.ID
		return err
	})
	if err == nil {
		err = r.engine.Arrived(t.Context(), id)
	}
	if err != nil {
		t.Fatal(err)
	}
	minute := motion.History{TS: motion.TimeOf(time.Now().Add(-2 * time.Minute)), Interval: 500, Count: 120, MKAI: make([]float64, 120)}
	if err := r.engine.Sensing.Import(t.Context(), id, []motion.History{minute}, nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "home.backup")
	r.command("backup", "-o", path)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	options := store.Options{Path: admin.Database(t.TempDir())}
	if _, err := store.Restore(t.Context(), options, file); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	layout, err := db.Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range layout.Buckets {
		if b.Name == "samples_journal" && b.Keys == 0 {
			t.Error("it has no motion of the last minute")
		}
	}
}
