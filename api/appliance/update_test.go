package appliance

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	"sensegate/api/update"
	"sensegate/motion"
	"sensegate/store"
)

// sumOf returns the SHA-256 of a file, in hex.
func sumOf(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// note leaves the note of an update in the state directory, as one that this program finds.
func note(t *testing.T, c *Config, left *update.Trial) {
	t.Helper()
	raw, err := json.Marshal(left)
	if err == nil {
		err = os.WriteFile(filepath.Join(c.StateDir, "update.json"), raw, 0o600)
	}
	if err == nil {
		c.Trial, err = update.Begin(c.StateDir)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// database makes a database with a network and a backup, and returns the name of that.
func database(t *testing.T, c *Config) (backup string) {
	t.Helper()
	c.StateDir = t.TempDir()
	db, err := store.Open(store.Options{Path: admin.Database(c.StateDir)})
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
	made, err := db.Backup(t.Context())
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(made.Path)
}

// setSchema leaves the database as a program of another schema does.
func setSchema(t *testing.T, c *Config, schema string) {
	t.Helper()
	other, err := bolt.Open(admin.Database(c.StateDir), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = other.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte(schema)) })
	if err := errors.Join(err, other.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestFormerProgramGetsItsDatabaseBack: what a newer program has migrated gives way to the backup from
// before, when that program went back, once; otherwise it is refused.
func TestFormerProgramGetsItsDatabaseBack(t *testing.T) {
	t.Parallel()
	c := Defaults()
	backup, log := database(t, &c), slog.New(slog.DiscardHandler)
	setSchema(t, &c, "999")
	if _, err := c.openDatabase(t.Context(), log); err == nil {
		t.Fatal("a newer database was opened")
	}
	self := sumOf(t, "/proc/self/exe")
	note(t, &c, &update.Trial{New: "00", Former: self, State: update.Back, Why: "it ended", Backup: backup})
	db, err := c.openDatabase(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	networks, err := store.Read(t.Context(), db, (*store.Tx).Networks)
	if err != nil || len(networks) != 1 || networks[0].GuardianID != "a41f" {
		t.Errorf("%+v %v", networks, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if aside, err := store.Replaced(admin.Database(c.StateDir)); err != nil || len(aside) != 1 {
		t.Errorf("the newer database is not kept: %v %v", aside, err)
	}
	last, err := update.Last(c.StateDir)
	if err != nil || last.State != update.Back || last.Backup != "" {
		t.Errorf("%+v %v", last, err)
	}
	for name, left := range map[string]*update.Trial{
		"got back before":          last,
		"an update that is over":   {New: "00", Former: self, State: update.Returned, Backup: backup},
		"an update that was taken": {New: "00", Former: self, State: update.Taken, Backup: backup},
		"one of other programs":    {New: "00", Former: "11", State: update.Back, Backup: backup},
	} {
		setSchema(t, &c, "999")
		note(t, &c, left)
		if _, err := c.openDatabase(t.Context(), log); err == nil {
			t.Errorf("%s: the backup took the place of a newer database", name)
		}
		if aside, err := store.Replaced(admin.Database(c.StateDir)); err != nil || len(aside) != 1 {
			t.Errorf("%s: %v %v", name, aside, err)
		}
	}
}

// TestProgramOnTrialMigratesWithABackupAlone: without room for one it would have no way back.
func TestProgramOnTrialMigratesWithABackupAlone(t *testing.T) {
	t.Parallel()
	c := Defaults()
	c.StateDir = t.TempDir()
	former, err := os.ReadFile("../../store/testdata/v6.db")
	if err == nil {
		err = os.WriteFile(admin.Database(c.StateDir), former, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := sumOf(t, admin.Database(c.StateDir))
	note(t, &c, &update.Trial{New: sumOf(t, "/proc/self/exe"), Former: "00", State: update.OnTrial})
	enough := c.Store.MinFree
	c.Store.MinFree = 1 << 60
	if _, err = c.openDatabase(t.Context(), slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "MiB must stay free") || sumOf(t, admin.Database(c.StateDir)) != before {
		t.Errorf("without room: %v", err)
	}
	if err := c.tryProgram("/bin/true"); err == nil || !strings.Contains(err.Error(), "MiB must stay free") {
		t.Errorf("before the update: %v", err)
	}
	c.Store.MinFree = enough
	db, err := c.openDatabase(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if last, err := update.Last(c.StateDir); err != nil || !strings.HasSuffix(last.Backup, "-schema6.backup") {
		t.Errorf("%+v %v", last, err)
	}
}

// releases are programs that are signed with a key.
type releases struct {
	t       *testing.T
	public  minisign.PublicKey
	private minisign.PrivateKey
}

// build builds a program of a version, signed.
func (r releases) build(version string) (path string) {
	r.t.Helper()
	path = filepath.Join(r.t.TempDir(), "sensegate")
	flags := fmt.Sprintf("-X sensegate/api/update.publicKey=%s -X sensegate/api/box.version=%s", r.public.String(), version)
	cmd := exec.CommandContext(r.t.Context(), "go", "build", "-ldflags", flags, "-o", path, "sensegate")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	r.sign(path)
	return path
}

// sign signs a program.
func (r releases) sign(path string) {
	r.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	signed := minisign.NewReader(bytes.NewReader(raw))
	if _, err := io.Copy(io.Discard, signed); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path+".minisig", signed.Sign(r.private), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// refused runs a command that is refused, and returns why.
func refused(t *testing.T, program, dir string, setting string, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, words...)
	cmd.Env = box.Environment(dir, setting)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("%v is not refused: %s", words, out)
	}
	return string(out)
}

// TestUpdateRunsTheNewProgram updates the real binary while it runs and while it does not.
func TestUpdateRunsTheNewProgram(t *testing.T) {
	t.Parallel()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := releases{t, public, private}
	first, next, dir := r.build("v1.0.0"), r.build("v1.1.0"), t.TempDir()
	program := filepath.Join(t.TempDir(), "sensegate")
	raw, err := os.ReadFile(first)
	if err == nil {
		err = os.WriteFile(program, raw, 0o755)
	}
	stranger := filepath.Join(t.TempDir(), "sensegate")
	script := `#!/bin/sh
case $1 in
version) echo sensegate v2.0.0;;
config) echo "mistakes: $*: $SENSEGATE_LOG_FORMAT is no format" >&2; exit 2;;
esac
`
	if err == nil {
		err = os.WriteFile(stranger, []byte(script), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.sign(stranger)
	p := box.Start(t, box.Setup{Dir: dir, Line: []string{program, "serve"}})
	if said := refused(t, program, dir, "SENSEGATE_LOG_FORMAT=other", "update", stranger); !strings.Contains(said, "mistakes: config check: json is no format") {
		t.Errorf("a program that refuses the configuration: %s", said)
	}
	if said := refused(t, first, dir, "", "update", next); !strings.Contains(said, "runs another program than "+first) {
		t.Errorf("another program's command: %s", said)
	}
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
	p.Stop()

	if said := refused(t, program, dir, "SENSEGATE_STORE_MIN_FREE=1000000GiB", "update", first); !strings.Contains(said, "MiB must stay free") {
		t.Errorf("without room: %s", said)
	}
	if said := box.Administer(t, program, dir, "update", first); !strings.Contains(said, "v1.0.0 is installed") {
		t.Errorf("update says %q", said)
	}
	if said := refused(t, program, dir, "", "user", "list"); !strings.Contains(said, "v1.0.0 is on trial") {
		t.Errorf("on trial: %s", said)
	}
	p, ready := box.Try(t, box.Setup{Dir: dir, Line: []string{program, "serve"}, Environment: []string{"SENSEGATE_LOG_FORMAT=other"}})
	if last, err := update.Last(dir); ready || err != nil || last.State != update.Back || sumOf(t, program) != sumOf(t, next) {
		t.Errorf("a program that refuses the configuration stays: %+v %v\n%s", last, err, p.Log())
	}
	p = box.Start(t, box.Setup{Dir: dir, Line: []string{program, "serve"}})
	if !strings.Contains(p.Log(), "the update failed") {
		t.Errorf("the log does not say that the update failed:\n%s", p.Log())
	}
	p.Stop()
}
