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
	"time"

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
func note(t *testing.T, c *Config, left update.Note) {
	t.Helper()
	raw, err := json.Marshal(left)
	if err == nil {
		err = os.WriteFile(filepath.Join(c.StateDir, "update.json"), raw, 0o600)
	}
	if err == nil {
		c.Trial, err = update.Begin(c.StateDir, func() bool { return true }, slog.New(slog.DiscardHandler))
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
// before, when that program has failed, once; otherwise it is refused.
func TestFormerProgramGetsItsDatabaseBack(t *testing.T) {
	t.Parallel()
	c := Defaults()
	backup, log := database(t, &c), slog.New(slog.DiscardHandler)
	setSchema(t, &c, "999")
	if _, err := c.openDatabase(t.Context(), log); err == nil {
		t.Fatal("a newer database was opened")
	}
	self := sumOf(t, "/proc/self/exe")
	note(t, &c, update.Note{New: "00", Former: self, State: update.Failed, Why: "it ended", Backup: backup})
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
	if err != nil || last.State != update.Returned || last.Backup != "" {
		t.Errorf("%+v %v", last, err)
	}
	for name, left := range map[string]update.Note{
		"got back before":          *last,
		"an update that is over":   {New: "00", Former: self, State: update.Returned, Backup: backup},
		"an update that was taken": {New: "00", Former: self, State: update.Taken, Backup: backup},
		"one of other programs":    {New: "00", Former: "11", State: update.Failed, Backup: backup},
		"a backup that is gone":    {New: "00", Former: self, State: update.Failed, Backup: backup},
	} {
		setSchema(t, &c, "999")
		note(t, &c, left)
		if _, err := c.openDatabase(t.Context(), log); err == nil || (name == "a backup that is gone") != strings.Contains(err.Error(), "to take another backup, stop the appliance, remove update.json") {
			t.Errorf("%s: the backup took the place of a newer database, or it is told how: %v", name, err)
		}
		if aside, err := store.Replaced(admin.Database(c.StateDir)); err != nil || len(aside) != 1 {
			t.Errorf("%s: %v %v", name, aside, err)
		}
		if last, err := update.Last(c.StateDir); err != nil || last != nil && (last.State == update.Failed) != (name == "a backup that is gone") { // which keeps the new program
			t.Errorf("%s: %+v %v", name, last, err)
		}
	}
}

// TestUpdateIsOverWhoseProgramIsLost once the former one has opened the database, so that nobody is told later to go back;
// not while it cannot.
func TestUpdateIsOverWhoseProgramIsLost(t *testing.T) {
	t.Parallel()
	c := Defaults()
	backup, log := database(t, &c), slog.New(slog.DiscardHandler)
	left := update.Note{New: "00", Former: sumOf(t, "/proc/self/exe"), State: update.Good, Backup: backup}
	kept, err := os.ReadFile(admin.Database(c.StateDir))
	if err != nil {
		t.Fatal(err)
	}
	setSchema(t, &c, "999")
	note(t, &c, left)
	if _, err := c.openDatabase(t.Context(), log); err == nil {
		t.Error("a newer database was opened")
	}
	if last, err := update.Last(c.StateDir); err != nil || last.State != update.Good || last.Backup != backup {
		t.Errorf("%+v %v", last, err)
	}
	if kept := c.storeOptions(log).Keep(); kept != backup {
		t.Errorf("the nights keep %q, want %q", kept, backup)
	}
	if err := os.WriteFile(admin.Database(c.StateDir), kept, 0o600); err != nil { // as a restore does
		t.Fatal(err)
	}
	db, err := c.openDatabase(t.Context(), log)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if last, err := update.Last(c.StateDir); err != nil || last.State != update.Returned || last.Backup != "" {
		t.Errorf("%+v %v", last, err)
	}
}

// TestUpdateIsRefusedWhereTheDatabaseIsALink, whose place the one from before could not take.
func TestUpdateIsRefusedWhereTheDatabaseIsALink(t *testing.T) {
	t.Parallel()
	c := Defaults()
	database(t, &c)
	elsewhere := filepath.Join(t.TempDir(), "moved.db")
	if err := errors.Join(os.Rename(admin.Database(c.StateDir), elsewhere), os.Symlink(elsewhere, admin.Database(c.StateDir))); err != nil {
		t.Fatal(err)
	}
	if err := c.tryProgram("/nowhere"); err == nil || !strings.Contains(err.Error(), "sensegate.db is a link") {
		t.Error(err)
	}
}

// TestFormerProgramSaysWhatKeepsItsDatabaseFromBeingBack: what is in the way stays as it is, until it is put right.
func TestFormerProgramSaysWhatKeepsItsDatabaseFromBeingBack(t *testing.T) {
	t.Parallel()
	c := Defaults()
	backup, log := database(t, &c), slog.New(slog.DiscardHandler)
	setSchema(t, &c, "999")
	note(t, &c, update.Note{New: "00", Former: sumOf(t, "/proc/self/exe"), State: update.Failed, Why: "it ended", Backup: backup})
	path, elsewhere := admin.Database(c.StateDir), filepath.Join(t.TempDir(), "moved.db")
	if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.openDatabase(t.Context(), log); err == nil || !strings.Contains(err.Error(), "is a link") || !strings.Contains(err.Error(), "move the file back") {
		t.Errorf("a link: %v", err)
	}
	if err := os.Rename(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 { // root can read all
		kept := filepath.Join(store.BackupDirectory(path), backup)
		if err := os.Chmod(kept, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := c.openDatabase(t.Context(), log); err == nil || !strings.Contains(err.Error(), "chown -R") {
			t.Errorf("a backup of another user: %v", err)
		}
		if err := os.Chmod(kept, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := c.openDatabase(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestDoctorTellsOfTheLastUpdate.
func TestDoctorTellsOfTheLastUpdate(t *testing.T) {
	t.Parallel()
	c := Defaults()
	c.StateDir = t.TempDir()
	find := func() (all string) {
		for _, f := range c.Examine() {
			if f.What == "update" {
				all += f.String()
			}
		}
		return all
	}
	if said := find(); said != "" {
		t.Errorf("without an update: %q", said)
	}
	for want, left := range map[string]update.Note{
		"update: v2 is on trial, start 2 of 3.":                {Version: "v2", State: update.Trying, Attempts: 2},
		"update: v2 does not work here (it hung): the forme":   {Version: "v2", State: update.Returned, Why: "it hung"},
		"update: v2 was ready and is not installed yet. if it": {Version: "v2", State: update.Good},
	} {
		raw, err := json.Marshal(left)
		if err == nil {
			err = os.WriteFile(filepath.Join(c.StateDir, "update.json"), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if said := find(); !strings.HasPrefix(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
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

// TestUpdate updates the real binary, to one that works and to one that fails.
func TestUpdate(t *testing.T) {
	t.Parallel()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := releases{t, public, private}
	first, next := r.build("v1.0.0"), r.build("v1.1.0")
	t.Run("works", func(t *testing.T) {
		t.Parallel()
		runsTheNewProgram(t, r, first, next)
	})
	t.Run("fails", func(t *testing.T) {
		t.Parallel()
		goesBackAndOn(t, first, next)
	})
}

// runsTheNewProgram updates an appliance that runs, and refuses what it should.
func runsTheNewProgram(t *testing.T, r releases, first, next string) {
	dir := t.TempDir()
	program := filepath.Join(t.TempDir(), "sensegate")
	copyProgram(t, first, program)
	stranger := filepath.Join(t.TempDir(), "sensegate")
	script := `#!/bin/sh
case $1 in
version) echo sensegate v2.0.0;;
config) echo "mistakes: $*: $SENSEGATE_LOG_FORMAT is no format" >&2; exit 2;;
esac
`
	if err := os.WriteFile(stranger, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	r.sign(stranger)
	command := []string{"update", next}
	if said := refused(t, program, dir, "", command...); !strings.Contains(said, "no appliance in "+dir) {
		t.Errorf("in a directory without an appliance: %s", said)
	}
	p := box.Start(t, box.Setup{Dir: dir, Line: []string{program, "serve"}})
	if said := refused(t, program, dir, "SENSEGATE_LOG_FORMAT=other", "update", stranger); !strings.Contains(said, "mistakes: config check: json is no format") {
		t.Errorf("a program that refuses the configuration: %s", said)
	}
	if said := refused(t, first, dir, "", command...); !strings.Contains(said, "runs another program than "+first) {
		t.Errorf("another program's command: %s", said)
	}
	elsewhere := t.TempDir()
	if err := os.WriteFile(admin.Database(elsewhere), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := refused(t, program, elsewhere, "", command...); !strings.Contains(said, fmt.Sprintf("process %d runs", p.PID())) {
		t.Errorf("in the directory of another appliance: %s", said)
	}
	if said := box.Administer(t, program, dir, command...); !strings.Contains(said, "v1.1.0 is installed") {
		t.Errorf("update says %q", said)
	}
	if !p.Again() {
		t.Fatalf("it does not run:\n%s", p.Log())
	}
	if said := box.Administer(t, program, dir, "status"); !strings.Contains(said, "v1.1.0") || !strings.Contains(said, "ready") || strings.Contains(said, "update") {
		t.Errorf("status says %q", said)
	}
	if said := box.Administer(t, program, dir, "audit"); !strings.Contains(said, "program updated  v1.1.0") {
		t.Errorf("audit says %q", said)
	}
	p.Stop()
	if sumOf(t, program) != sumOf(t, next) || sumOf(t, program+".former") != sumOf(t, first) {
		t.Error("the new program has not taken the place of the former one")
	}

	if said := refused(t, program, dir, "SENSEGATE_STORE_MIN_FREE=1000000GiB", "update", first); !strings.Contains(said, "MiB must stay free") {
		t.Errorf("without room: %s", said)
	}
}

// goesBackAndOn tries a program that fails after its migration: the former one gets its database back. Then it
// tries it once more, where it does not fail.
func goesBackAndOn(t *testing.T, first, next string) {
	dir, program := t.TempDir(), filepath.Join(t.TempDir(), "sensegate")
	copyProgram(t, first, program)
	former, err := os.ReadFile("../../store/testdata/v6.db")
	if err == nil {
		err = os.WriteFile(admin.Database(dir), former, 0o600)
	}
	if err == nil { // the new program cannot read it, once it has migrated the database
		err = os.Mkdir(admin.SigningKeys(dir), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	line := box.Setup{Dir: dir, Line: []string{program, "serve"}}
	if said := box.Administer(t, program, dir, "update", next); !strings.Contains(said, "v1.1.0 is tried at the next start") {
		t.Errorf("update says %q", said)
	}
	if said := refused(t, program, dir, "", "user", "list"); !strings.Contains(said, "v1.1.0 is tried at the next start") {
		t.Errorf("until it is tried: %s", said)
	}
	p, ready := box.Try(t, line)
	last, err := update.Last(dir)
	if ready || err != nil || last.State != update.Failed || !strings.HasSuffix(last.Backup, "-schema6.backup") {
		t.Fatalf("it has not failed after its migration: %+v %v\n%s", last, err, p.Log())
	}
	if said := refused(t, program, dir, "", "user", "list"); !strings.Contains(said, "the next start goes back") {
		t.Errorf("until it is back: %s", said)
	}
	if err := os.Remove(admin.SigningKeys(dir)); err != nil {
		t.Fatal(err)
	}
	p = box.Start(t, line)
	for _, want := range []string{"the update failed", "the database from before the update is back", `"schema":7`} {
		if !strings.Contains(p.Log(), want) {
			t.Errorf("the log does not say %q:\n%s", want, p.Log())
		}
	}
	if said := box.Administer(t, program, dir, "status"); !strings.Contains(said, "v1.0.0") || !strings.Contains(said, "v1.1.0 does not work here") {
		t.Errorf("status says %q", said)
	}
	p.Stop()
	if said := box.Administer(t, program, dir, "update", next); !strings.Contains(said, "v1.1.0 is tried") {
		t.Errorf("update says %q", said)
	}
	p = box.Start(t, line)
	for last, err := update.Last(dir); err == nil && last.State == update.Trying; last, err = update.Last(dir) {
		time.Sleep(time.Millisecond)
	}
	if said := box.Administer(t, program, dir, "status"); !strings.Contains(said, "v1.1.0 was ready and is not installed yet") {
		t.Errorf("status says %q", said)
	}
	p.Stop()
	if said := box.Administer(t, program, dir, "user", "list"); strings.Contains(said, "v1") || sumOf(t, program) == sumOf(t, next) {
		t.Errorf("user list says %q", said)
	}
	if said := box.Administer(t, program, dir, "update"); !strings.Contains(said, "v1.1.0 is installed") || sumOf(t, program) != sumOf(t, next) {
		t.Errorf("update says %q", said)
	}
}
