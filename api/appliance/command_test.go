package appliance

import (
	"bytes"
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
	err := admin.Run(t.Context(), r.config.StateDir, []string{"apikey", "create", "phone"}, io.Discard, io.Discard)
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
		if err := admin.Run(t.Context(), dir, []string{"user", "list"}, &out, &said); err != nil || !strings.Contains(out.String(), "owner@example.com") {
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
	err = admin.Run(t.Context(), r.config.StateDir, []string{"backup", "-o", path}, &bytes.Buffer{}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("over a file that is there: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, first) {
		t.Errorf("the file has changed: %v", err)
	}
}
