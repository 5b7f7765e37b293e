package appliance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sensegate/api/admin"
	"sensegate/api/appliance/box"
	"sensegate/api/box/staging"
	"sensegate/motion"
	"sensegate/store"
)

// restorableVariable is the environment variable that makes this program an appliance, as
// sensegate serve is, with rows for the tests of restoring.
const restorableVariable = "APPLIANCE_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(restorableVariable) == "" {
		os.Exit(m.Run())
	}
	if err := serveRestorable(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveRestorable runs an appliance as main does, until it is stopped.
func serveRestorable() error {
	ctx, stopped := Stoppable()
	defer stopped()
	c, err := Load("")
	if err != nil {
		return err
	}
	a, err := Open(ctx, c, c.Log.Logger(os.Stderr))
	if err != nil {
		return err
	}
	a.Restartable(func() error { return nil })
	a.http.Handle("/test/restore", http.HandlerFunc(a.testRestore))
	a.http.Handle("/test/hang", a.hangable())
	if err := a.Run(ctx); !errors.Is(err, ErrRestart) {
		return err
	}
	return StartAnew(stopped)
}

// testRestore does what the rows of restoring do.
func (a *Appliance) testRestore(w http.ResponseWriter, r *http.Request) {
	by := staging.Person{Kind: "account", Name: "jo@example.com", From: "127.0.0.1"}
	var answer any
	var err error
	switch r.Method {
	case http.MethodGet:
		answer, err = a.staging.Last()
	case http.MethodPost:
		answer, err = a.staging.Stage(r.Context(), staging.Upload{Body: r.Body, Size: max(0, r.ContentLength), Passphrase: r.Header.Get("Passphrase"), By: by})
	case http.MethodPut:
		if r.Header.Get("Die") != "" {
			a.staging.Restartable(func() error { return nil }, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		}
		err = a.staging.Apply(by, 0)
	}
	if err != nil {
		w.WriteHeader(http.StatusConflict)
		answer = err.Error()
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// boxed is a running appliance of its own process.
type boxed struct {
	*box.Process
	t   *testing.T
	dir string
}

// startBoxed starts this program as an appliance, or another one that stands at line.
func startBoxed(t *testing.T, dir string, line ...string) boxed {
	t.Helper()
	if line == nil {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		line = []string{self}
	}
	setup := box.Setup{Dir: dir, Line: line, Environment: []string{restorableVariable + "=1"}}
	return boxed{box.Start(t, setup), t, dir}
}

// ask calls the row of the tests and wants 200.
func (b boxed) ask(method string, body io.Reader, header ...string) (text string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, "http://"+b.HTTP+"/test/restore", body)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(header) > 0 {
		request.Header.Set(header[0], header[1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s, %v: %s", method, response.Status, err, raw)
	}
	return string(raw)
}

// outcome returns what came of the last order.
func (b boxed) outcome() (o staging.Outcome) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(b.ask(http.MethodGet, http.NoBody)), &o); err != nil {
		b.t.Fatal(err)
	}
	return o
}

// backupOf returns a backup of a database whose network has the guardian.
func backupOf(t *testing.T, guardian string) []byte {
	t.Helper()
	db, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "source.db")})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.CreateNetwork(motion.Network{GuardianID: guardian})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	copied, _, err := db.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(copied)
	if err := errors.Join(err, copied.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

// guardianIn names the network in the database of a state directory that nobody uses.
func guardianIn(t *testing.T, dir string) string {
	t.Helper()
	db, err := store.Open(store.Options{Path: filepath.Join(dir, box.Database)})
	if err != nil {
		t.Fatal(err)
	}
	networks, err := store.Read(t.Context(), db, (*store.Tx).Networks)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range networks {
		names = append(names, n.GuardianID)
	}
	return strings.Join(names, " ")
}

func TestAppliedBackupIsServedByTheSameProcessStartedAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := startBoxed(t, dir)
	keys, err := os.ReadFile(filepath.Join(dir, "signing.json"))
	if err != nil {
		t.Fatal(err)
	}
	for round, guardian := range []string{"a41f", "b52f"} {
		b.ask(http.MethodPost, bytes.NewReader(backupOf(t, guardian)))
		b.ask(http.MethodPut, http.NoBody)
		if !b.Again() {
			t.Fatalf("it has ended:\n%s", b.Log())
		}
		if o := b.outcome(); !o.OK || o.By.Name != "jo@example.com" || o.Aside == "" {
			t.Errorf("outcome %+v", o)
		}
		// The lock of the database names the process.
		pid, err := os.ReadFile(filepath.Join(dir, box.Database+".pid"))
		if err != nil || strings.TrimSpace(string(pid)) != fmt.Sprint(b.PID()) {
			t.Errorf("round %d: process %s serves (%v), was %d", round, pid, err, b.PID())
		}
	}
	b.Stop()
	if got := guardianIn(t, dir); got != "b52f" {
		t.Errorf("the database is that of %q", got)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "signing.json")); err != nil || !bytes.Equal(now, keys) {
		t.Errorf("the signing keys have changed: %v", err)
	}
}

// copyProgram copies a program that is then run. It is not written by this process: another test may start one
// meanwhile, which for a moment has the file open for writing too, and then it cannot be run ("text file busy").
func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	if said, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

func TestApplianceWhoseProgramIsGoneStartsAnew(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced by no such": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("half of an upda"), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, program := t.TempDir(), filepath.Join(t.TempDir(), "sensegate")
			copyProgram(t, self, program)
			b := startBoxed(t, dir, program)
			if err := change(program); err != nil {
				t.Fatal(err)
			}
			b.ask(http.MethodPost, bytes.NewReader(backupOf(t, "a41f")))
			b.ask(http.MethodPut, http.NoBody)
			if !b.Again() || !b.outcome().OK {
				t.Errorf("it did not start anew:\n%s", b.Log())
			}
			b.Stop()
		})
	}
}

// TestApplianceThatIsStoppedWhileItStartsAnewEnds stops it as soon as the restart is ordered:
// it ends, before its program is started again or after, and the order holds.
func TestApplianceThatIsStoppedWhileItStartsAnewEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := startBoxed(t, dir)
	b.ask(http.MethodPost, bytes.NewReader(backupOf(t, "a41f")))
	b.ask(http.MethodPut, http.NoBody)
	b.Signal(syscall.SIGTERM)
	_ = b.Ended() // in order, or by the signal when nothing catches it yet
	again := startBoxed(t, dir)
	if o := again.outcome(); !o.OK {
		t.Errorf("outcome %+v", o)
	}
	again.Stop()
	if got := guardianIn(t, dir); got != "a41f" {
		t.Errorf("the database is that of %q", got)
	}
}

// TestOrderIsCarriedOutByTheNextStart kills an appliance when the order was left, and starts
// the product itself on what is there.
func TestOrderIsCarriedOutByTheNextStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := startBoxed(t, dir)
	b.ask(http.MethodPost, bytes.NewReader(backupOf(t, "a41f")))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+b.HTTP+"/test/restore", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Die", "now")
	if response, err := http.DefaultClient.Do(request); err == nil {
		t.Fatalf("it goes on: %s", response.Status)
	}
	if err := b.Ended(); err == nil {
		t.Fatal("it has ended in order")
	}
	if got := guardianIn(t, dir); got != "" {
		t.Errorf("the database is that of %q before a start", got)
	}
	product := startBoxed(t, dir, box.Build(t))
	product.Stop()
	if got := guardianIn(t, dir); got != "a41f" {
		t.Errorf("the database is that of %q:\n%s", got, product.Log())
	}
	aside, err := filepath.Glob(filepath.Join(dir, box.Database+".replaced-*"))
	if err != nil || len(aside) != 1 {
		t.Errorf("%v are kept, %v", aside, err)
	}
}

func TestRestoreAtTheTerminalWithdrawsTheOrder(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "home.backup")
	db, err := store.Open(store.Options{Path: filepath.Join(dir, box.Database)})
	if err != nil {
		t.Fatal(err)
	}
	s := staging.New(staging.Options{DB: db, Directory: staging.Directory(dir)})
	s.Restartable(func() error { return nil }, func() {})
	_, err = s.Stage(t.Context(), staging.Upload{Body: bytes.NewReader(backupOf(t, "a41f"))})
	if err := errors.Join(err, s.Apply(staging.Person{}, 0), db.Close(), os.WriteFile(file, backupOf(t, "b52f"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := admin.Run(t.Context(), dir, nil, []string{"restore", file}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	b := startBoxed(t, dir)
	if o := b.outcome(); o.OK || !strings.Contains(o.Text, "at the terminal") {
		t.Errorf("outcome %+v", o)
	}
	b.Stop()
	if got := guardianIn(t, dir); got != "b52f" {
		t.Errorf("the database is that of %q, want the one that was restored at the terminal", got)
	}
}

func TestUploadOntoAFullDiskIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	r, disk, _ := serveOnSmallDisk(t)
	by := staging.Person{Kind: "terminal", Name: "root"}
	backup := backupOf(t, "a41f")
	// A file of bbolt that goes on with zeros: 64 MiB onto a disk of 32.
	large := func() io.Reader { return io.MultiReader(bytes.NewReader(backup), io.LimitReader(zeros{}, 64<<20)) }
	for name, size := range map[string]int64{"of a size that is told": 64 << 20, "of a size that is not": 0} {
		var watched io.Reader = &takenFrom{from: large()}
		_, err := r.staging.Stage(t.Context(), staging.Upload{Body: watched, Size: size, By: by})
		if err == nil || !strings.Contains(err.Error(), "does not fit on the disk") {
			t.Errorf("%s: error %v", name, err)
		}
		if taken := watched.(*takenFrom).taken; size > 0 && taken > 0 {
			t.Errorf("%s: %d bytes were taken before it was refused", name, taken)
		}
		if entries, err := os.ReadDir(filepath.Join(disk, "state", "restore")); err != nil || len(entries) > 0 {
			t.Errorf("%s: %v is left, %v", name, entries, err)
		}
		if err := r.db.Writable(); err != nil {
			t.Errorf("%s: the database cannot be written: %v", name, err)
		}
	}
	if _, err := r.staging.Stage(t.Context(), staging.Upload{Body: bytes.NewReader(backup), By: by}); err != nil {
		t.Errorf("one that fits: %v", err)
	}
	balloon := fill(t, disk, 0)
	if err := r.staging.Apply(by, 0); err == nil {
		t.Error("a restore is ordered that nobody would start")
	}
	if err := os.Remove(balloon); err != nil {
		t.Fatal(err)
	}
}

// zeros reads zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// takenFrom counts what is read.
type takenFrom struct {
	from  io.Reader
	taken int64
}

func (t *takenFrom) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	t.taken += int64(n)
	return n, err
}
