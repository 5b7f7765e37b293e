package appliance

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sensegate/api/admin"
	"sensegate/motion"
	"sensegate/store"
)

// A key is made with the least that is asked for.
func TestKeyOpensTheNetworkThatIsNamedOrTheOnlyOne(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	network := func(guardian string) {
		t.Helper()
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.CreateNetwork(motion.Network{GuardianID: guardian})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	network("a41f")
	r.command("apikey", "create", "laptop")
	network("b52f")
	err := admin.Run(t.Context(), r.config.StateDir, nil, []string{"apikey", "create", "phone"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "there are 2 networks: add -network ID") {
		t.Errorf("without a network: %v", err)
	}
	r.command("apikey", "create", "phone", "-network", "2")
	r.command("apikey", "create", "rack", "-all-networks", "-write")
	list := r.command("apikey", "list")
	for _, line := range []string{`laptop +core:read +1 `, `phone +core:read +2 `, `rack +core:read,core:write +all `} {
		if !regexp.MustCompile(line).MatchString(list) {
			t.Errorf("no %q in\n%s", line, list)
		}
	}
}

func TestHintOfANewKeyWorks(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string]string{"beside the rest": "", "on a listener of its own": "0.0.0.0:0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, func(c *Config) { c.Core.Listen = listen })
			said := r.command("apikey", "create", "laptop")
			hint := regexp.MustCompile(`curl -H '(Authorization): (Bearer sg_[^']+)' (http://127\.0\.0\.1:\d+/core/networks)\n`).FindStringSubmatch(said)
			if hint == nil {
				t.Fatalf("no hint in %s", said)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, hint[3], nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set(hint[1], hint[2])
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("the hint is answered %d", answer.StatusCode)
			}
		})
	}
}

func TestCredentialsOfOneInterfaceOpenNothingInTheOther(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	word := filepath.Join(t.TempDir(), "word")
	if err := os.WriteFile(word, []byte("an invented password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.command("user", "create", "jdoe@example.com", "-password-file", word)
	session := r.claim()
	key, _, _ := strings.Cut(r.command("apikey", "create", "rack", "-all-networks", "-write"), "\n")
	for path, want := range map[string]struct{ session, key int }{
		"/core/networks": {401, 200},
		"/core/api/v1/universal-alert?network_id=1": {401, 200},
		"/api/v1/networks":                          {200, 401},
		"/api/v1/universal-alert":                   {200, 401},
	} {
		bySession, _, _ := r.answer(http.MethodGet, path, session, "")
		byKey, _, _ := r.answer(http.MethodGet, path, key, "")
		if bySession != want.session || byKey != want.key {
			t.Errorf("%s: %d with a session, %d with a key; want %d and %d", path, bySession, byKey, want.session, want.key)
		}
	}
}

// Commands without a running appliance open its database themselves.
func TestOfflineCommandSaysWhatItDoesToTheDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, err := os.ReadFile("../../store/testdata/v2.db")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sensegate.db"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, told := range []bool{true, false} {
		var out, said bytes.Buffer
		if err := admin.Run(t.Context(), dir, nil, []string{"user", "list"}, &out, &said); err != nil || !strings.Contains(out.String(), "owner@example.com") {
			t.Fatalf("%v: %s", err, out.String())
		}
		if strings.Contains(said.String(), "database migrated") != told || !told && said.Len() > 0 {
			t.Errorf("it says %q, want something of a migration: %t", said.String(), told)
		}
	}
}

func TestBackupReplacesNoFile(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	path := filepath.Join(t.TempDir(), "home.backup")
	r.command("backup", "-o", path)
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	err = admin.Run(t.Context(), r.config.StateDir, nil, []string{"backup", "-o", path}, &bytes.Buffer{}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("over a file that is there: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, first) {
		t.Errorf("the file has changed: %v", err)
	}
}

// stopper ends a command when it has written something.
type stopper struct {
	bytes.Buffer
	stop func()
}

func (s *stopper) Write(p []byte) (int, error) {
	s.stop()
	return s.Buffer.Write(p)
}

// TestInterruptedRecordingIsComplete, and can be fetched and deleted.
func TestInterruptedRecordingIsComplete(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	err := r.db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.CreateNetwork(motion.Network{GuardianID: "a41f"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out := &stopper{stop: cancel}
	if err := admin.Run(ctx, r.config.StateDir, nil, []string{"record", "-label", "still"}, out, io.Discard); err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(\d{8}-\d{6}-1): 0 frames of 0 files, 0 dropped, 0.0 MB \(stopped\)`).FindStringSubmatch(out.String())
	if name == nil {
		t.Fatalf("said %s", out)
	}
	if list := r.command("record", "list"); !regexp.MustCompile(name[1] + ` +1 +0:00 +0 +0 +0.0 MB +0 +stopped`).MatchString(list) {
		t.Errorf("the list is\n%s", list)
	}
	into := filepath.Join(t.TempDir(), "here")
	r.command("record", "get", name[1], into)
	if info, err := os.Stat(into); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	r.command("record", "delete", name[1])
	if left, err := os.ReadDir(filepath.Join(r.config.StateDir, "recordings")); err != nil || len(left) != 0 {
		t.Errorf("%v are left: %v", left, err)
	}
	var actions []string
	for _, l := range r.auditLines(t) {
		if l.About != name[1] || l.Who.Kind != store.ByTerminal || l.Who.Name == "" {
			t.Errorf("the audit log has %+v", l)
		}
		actions = append(actions, l.Action)
	}
	if got := strings.Join(actions, " "); got != "recording_deleted recording_read recording_started" {
		t.Errorf("the audit log has %s", got)
	}
}
