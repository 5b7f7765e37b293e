package appliance

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
	bolt "go.etcd.io/bbolt"

	"sensegate/api/admin"
	"sensegate/api/appliance/box"
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

// TestUpdateRunsTheNewProgram updates the real binary while it runs.
func TestUpdateRunsTheNewProgram(t *testing.T) {
	t.Parallel()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	build := func(version string) string {
		path := filepath.Join(t.TempDir(), "sensegate")
		flags := fmt.Sprintf("-X sensegate/api/update.publicKey=%s -X sensegate/api/box.version=%s", public.String(), version)
		cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags", flags, "-o", path, "sensegate")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	program, next, dir := build("v1.0.0"), build("v1.1.0"), t.TempDir()
	raw, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	signed := minisign.NewReader(bytes.NewReader(raw))
	if _, err := io.Copy(io.Discard, signed); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(next+".minisig", signed.Sign(private), 0o600); err != nil {
		t.Fatal(err)
	}
	p := box.Start(t, box.Setup{Dir: dir, Line: []string{program, "serve"}})
	if said := box.Administer(t, program, dir, "update", next); !strings.Contains(said, "v1.1.0 runs") {
		t.Errorf("update says %q", said)
	}
	if !p.Again() {
		t.Fatalf("it does not run:\n%s", p.Log())
	}
	if said := box.Administer(t, program, dir, "status"); !strings.Contains(said, "v1.1.0") || !strings.Contains(said, "ready") {
		t.Errorf("status says %q", said)
	}
	if said := box.Administer(t, program, dir, "audit"); !strings.Contains(said, "program updated  v1.1.0") {
		t.Errorf("audit says %q", said)
	}
}
