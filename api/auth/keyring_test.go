package auth

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sensegate/motion"
	"sensegate/motion/home"
)

const day = 24 * 3600

func ringAt(t *testing.T, path string, now motion.Time) *Keyring {
	t.Helper()
	k, err := OpenKeyring(path, now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// signAt returns a refresh token that was issued at a time.
func signAt(t *testing.T, k *Keyring, now motion.Time) string {
	t.Helper()
	k.rotateIfDue(now)
	token, err := k.sign(claims{}.stamp(home.User{ID: 1, Sub: "s"}, forRefresh, "id", now.Second(), now.Add(refreshLife.Seconds())))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestKeyChangeEndsNoToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signing.json")
	start := motion.Time(1764000000)
	k := ringAt(t, path, start)
	ids := map[string]bool{}
	for n := range 200 { // days
		now := start.Add(float64(n) * day)
		token := signAt(t, k, now)
		ids[k.newest().ID] = true
		for _, later := range []float64{0, 10 * day, 30*day - 1} {
			if _, err := k.read(token, forRefresh, now.Add(later)); err != nil {
				t.Fatalf("token of day %d after %g days: %v", n, later/day, err)
			}
		}
		if n%17 == 0 {
			k = ringAt(t, path, now) // a restart
		}
		if len(k.keys) > 3 {
			t.Fatalf("day %d: %d keys are kept", n, len(k.keys))
		}
	}
	if len(ids) != 7 {
		t.Errorf("%d keys in 200 days, want one each 30", len(ids))
	}
	old := signAt(t, k, start.Add(200*day))
	for n := 200; n < 275; n++ {
		signAt(t, k, start.Add(float64(n)*day))
	}
	if _, err := k.read(old, forRefresh, start.Add(201*day)); err == nil {
		t.Error("the key of a token that ended long ago is kept")
	}
}

func TestKeyFileIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signing.json")
	ringAt(t, path, 1764000000)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	ringAt(t, path, 1764000000)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) != 1 {
		t.Errorf("%d files, want the keys alone", len(left))
	}
}

func TestDamagedKeyFileIsMovedAsideAndMadeAnew(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty": "", "cut": `{"keys":[{"kid":"a","secr`, "no keys": `{"keys":[]}`, "zeros": "\x00\x00\x00\x00",
		"short secret": `{"keys":[{"kid":"a","secret":"AAAA","since":1}]}`, "no id": `{"keys":[{"secret":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","since":1}]}`,
	} {
		path := filepath.Join(t.TempDir(), "signing.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		k, err := OpenKeyring(path, 1764000000, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil || k.newest().ID == "" || !strings.Contains(log.String(), "log in again") {
			t.Errorf("%s: %v; log: %s", name, err, log.String())
			continue
		}
		aside, err := filepath.Glob(path + ".damaged-*")
		if err != nil || len(aside) != 1 {
			t.Errorf("%s: aside are %q, %v", name, aside, err)
			continue
		}
		if kept, _ := os.ReadFile(aside[0]); string(kept) != content {
			t.Errorf("%s: aside lies %q", name, kept)
		}
		if again := ringAt(t, path, 1764000001); again.newest().ID != k.newest().ID {
			t.Errorf("%s: the new key is not kept", name)
		}
	}
}

func TestKeyThatCannotBeWrittenDoesNotSign(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "in", "signing.json")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	k := ringAt(t, path, 1764000000)
	before := k.newest().ID
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	now := motion.Time(1764000000 + 31*day)
	token := signAt(t, k, now)
	if _, err := k.read(token, forRefresh, now); err != nil || k.newest().ID != before {
		t.Errorf("the old key does not go on: %v", err)
	}
	if _, err := OpenKeyring(path, now, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("keys that cannot be kept were made")
	}
}

func TestOneKeyIsMadeForManyWhoSign(t *testing.T) {
	t.Parallel()
	k := ringAt(t, filepath.Join(t.TempDir(), "signing.json"), 1764000000)
	now := motion.Time(1764000000 + 31*day)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { k.rotateIfDue(now) })
	}
	all.Wait()
	if len(k.keys) != 2 || k.newest().Since != now {
		t.Errorf("%d keys, the newest since %v", len(k.keys), k.newest().Since)
	}
}
