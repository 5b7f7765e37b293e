package auth_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sensegate/api/auth"
	"sensegate/motion"
)

// wordy is an office that writes a log.
func wordy(t *testing.T, path string) (*office, *bytes.Buffer) {
	t.Helper()
	o := newOffice(t)
	var log bytes.Buffer
	keys, err := auth.OpenKeyring(path, motion.TimeOf(o.clock()), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	o.sessions = auth.NewSessions(o.db, keys, func() {})
	o.Accounts = auth.NewAccounts(o.db, o.sessions, auth.NewPasswords(cheap), o.mail)
	return o, &log
}

func TestRefusedLoginIsLoggedWithoutItsAddress(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signing.json")
	o, log := wordy(t, path)
	o.person(email)
	line := regexp.MustCompile(`level=WARN msg="log-in refused" account=([0-9a-f]{16}) address=192\.168\.1\.7 reason=password\n`)
	var accounts []string
	for _, address := range []string{email, strings.ToUpper(email), "unknown@example.com"} {
		log.Reset()
		if err := o.try(address, "a wrong word", 7); err == nil {
			t.Fatal("let in")
		}
		found := line.FindStringSubmatch(log.String())
		if found == nil {
			t.Fatalf("the log: %s", log)
		}
		accounts = append(accounts, found[1])
	}
	if accounts[0] != accounts[1] || accounts[0] == accounts[2] {
		t.Errorf("accounts %v", accounts)
	}
	if err := o.try(email, password, 8); err != nil || strings.Contains(log.String(), ".8 ") {
		t.Errorf("%v, the log: %s", err, log)
	}
	again, log := wordy(t, path) // the key stays
	if err := again.try(email, "a wrong word", 7); err == nil || !strings.Contains(log.String(), accounts[0]) {
		t.Errorf("after a restart: %s", log)
	}
	other, log := wordy(t, filepath.Join(t.TempDir(), "signing.json"))
	if err := other.try(email, "a wrong word", 7); err == nil || strings.Contains(log.String(), accounts[0]) {
		t.Errorf("another installation: %s", log)
	}
}

func TestGuessesFillNoLog(t *testing.T) {
	t.Parallel()
	o, log := wordy(t, filepath.Join(t.TempDir(), "signing.json"))
	for n := range 200 {
		_ = o.try(email, "a wrong word", n%20+1) // refused
	}
	if lines := strings.Count(log.String(), "\n"); lines < 10 || lines > 60 {
		t.Errorf("%d lines", lines)
	}
}

func TestKeyringOfAFormerVersionGetsItsDigestKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signing.json")
	open := func() {
		t.Helper()
		if _, err := auth.OpenKeyring(path, motion.TimeOf(time.Unix(1764000000, 0)), slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	open()
	names := regexp.MustCompile(`,\s*"names": "[^"]{44}"`)
	data, err := os.ReadFile(path)
	if err != nil || !names.Match(data) {
		t.Fatalf("%v: %s", err, data)
	}
	if err := os.WriteFile(path, names.ReplaceAll(data, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	open()
	again, err := os.ReadFile(path)
	if err != nil || !names.Match(again) {
		t.Errorf("%v: %s", err, again)
	}
}
