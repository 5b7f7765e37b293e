package admin

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sensegate/store"
)

// foreignDir returns a state directory of another user, in which nothing runs.
func foreignDir(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can")
	}
	dir := t.TempDir()
	if err := os.WriteFile(Database(dir), make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%v %v", left, err)
		}
	})
	return dir
}

// TestRootMakesNoFilesOfOthers: what root made in the state directory of a service, that could not open.
func TestRootMakesNoFilesOfOthers(t *testing.T) {
	t.Parallel()
	dir := foreignDir(t)
	for _, words := range [][]string{{"db", "compact"}, {"restore", "file"}, {"db", "check"}} {
		err := Run(t.Context(), dir, nil, words, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "runuser -u nobody --") {
			t.Errorf("%q: %v", words, err)
		}
	}
}

// Root is told of the stopped appliance of a service what can be told, and how to get the rest.
func TestRootIsToldThatTheBoxOfAnotherDoesNotRun(t *testing.T) {
	t.Parallel()
	dir := foreignDir(t)
	var out, said bytes.Buffer
	err := Run(t.Context(), dir, nil, []string{"status"}, &out, &said)
	if err != nil || !strings.Contains(out.String(), "it does not run") || !strings.Contains(out.String(), "3.0 MiB") || !strings.Contains(said.String(), "runuser -u nobody -- sensegate status") {
		t.Errorf("%v %s %s", err, &out, &said)
	}
	out.Reset()
	var now stoppedStatus
	if err := Run(t.Context(), dir, nil, []string{"status", "-json"}, &out, io.Discard); err != nil || json.Unmarshal(out.Bytes(), &now) != nil || now.Running || now.Size != 3<<20 || now.Free <= 0 {
		t.Errorf("%v %s", err, &out)
	}
	if err := Run(t.Context(), dir, nil, []string{"status", "-watch"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "nothing to watch") {
		t.Errorf("watched: %v", err)
	}
}

func TestRootGetsABundleOfTheBoxOfAnother(t *testing.T) {
	t.Parallel()
	dir := foreignDir(t)
	var out, said bytes.Buffer
	if err := Run(t.Context(), dir, nil, []string{"support", "-o", "-"}, &out, &said); err != nil || !strings.Contains(said.String(), "with it: runuser -u nobody -- sensegate support") {
		t.Fatal(err, &said)
	}
	archive, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"README.txt":    "status, devices and links are missing; with them: runuser -u nobody -- sensegate support",
		"database.json": "belongs to nobody, who could not open what root makes there: runuser -u nobody -- sensegate …",
	} {
		file, err := archive.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s: %v\n%s", name, want, err, text)
		}
	}
}

// TestSupportDoesNotWaitForever for a box that runs and does not answer.
func TestSupportDoesNotWaitForever(t *testing.T) {
	supportTime = 50 * time.Millisecond
	t.Cleanup(func() { supportTime = 5 * time.Minute })
	dir := t.TempDir()
	listener, err := net.Listen("unix", Socket(dir)) // whose queue takes the connection
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := Run(t.Context(), dir, nil, []string{"support", "-o", "-"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "gives no answer in 50ms: stop it") {
		t.Error(err)
	}
}

// TestUpdateOrGiveUp: not both.
func TestUpdateOrGiveUp(t *testing.T) {
	t.Parallel()
	if err := Run(t.Context(), t.TempDir(), nil, []string{"update", "-cancel", "FILE"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "takes no file") {
		t.Error(err)
	}
}

// TestBackupThatTheServiceCannotTakeBack: what root can read is no way back for the appliance of another user.
func TestBackupThatTheServiceCannotTakeBack(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can")
	}
	const nobody = 65534
	dir := t.TempDir()
	for _, above := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(above, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(store.Options{Path: Database(dir)})
	if err != nil {
		t.Fatal(err)
	}
	made, err := db.Backup(t.Context())
	if err := errors.Join(err, db.Close(), os.Chown(dir, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	u := updating{command: command{stateDir: dir}}
	for _, step := range []struct{ given, says string }{
		{"", "cannot make a file in"},
		{filepath.Dir(made.Path), "cannot read and write"},
		{made.Path, ""},
	} {
		if step.given != "" {
			if err := os.Chown(step.given, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		err := u.usable(filepath.Base(made.Path))
		if step.says == "" && err != nil || step.says != "" && (err == nil || !strings.Contains(err.Error(), step.says) || !strings.Contains(err.Error(), "chown -R nobody "+filepath.Dir(made.Path))) {
			t.Errorf("given %q: %v", step.given, err)
		}
	}
}
