package appliance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sensegate/api/admin"
	"sensegate/api/appliance/box"
	"sensegate/api/auth"
	"sensegate/api/box/preflight"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// provisioned is what the file of an integrator asks for in these tests.
func provisioned(t *testing.T) string {
	t.Helper()
	hash, err := auth.NewPasswords(auth.Argon{Memory: 7168, Passes: 1, Threads: 1}).Hash(t.Context(), "an invented password")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("sg_of-the-integrator"))
	return fmt.Sprintf(`accounts:
  - email: service@example.com
    password: another invented one
    administrator: true
  - email: jdoe@example.com
    password_hash: %q
api_keys:
  - name: engine
    write: true
    sha256: %s
  - name: installer
    file: installer.key
mqtt_users:
  - name: bridge
    file: bridge.key
uplinks:
  - name: engine
    url: mqtt://127.0.0.1:9
    username: box
    password: turm-geheimnis
    use: [events]
`, hash, hex.EncodeToString(sum[:]))
}

// put writes the file of the state directory.
func put(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, ownProvision), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// held says what a database has of what was asked for, and what the audit log says of it.
func held(t *testing.T, tx *store.Tx) string {
	t.Helper()
	users, err := tx.Users()
	keys, again := tx.APIKeys()
	programs, more := tx.IntegrationUsers()
	uplinks, most := tx.Uplinks()
	administrators, last := tx.Administrators()
	if err := errors.Join(err, again, more, most, last); err != nil {
		t.Fatal(err)
	}
	lines, _ := tx.AuditPage(0, 100)
	made := 0
	for _, l := range lines {
		if l.Who.Name == "provision.yaml" && l.Who.Kind == store.ByTerminal {
			made++
		}
	}
	return fmt.Sprintf("%d accounts, %d administrators, %d keys, %d MQTT users, %d uplinks, %d lines", len(users), len(administrators), len(keys), len(programs), len(uplinks), made)
}

const (
	nothingHeld = "0 accounts, 0 administrators, 0 keys, 0 MQTT users, 0 uplinks, 0 lines"
	allHeld     = "2 accounts, 1 administrators, 2 keys, 1 MQTT users, 1 uplinks, 7 lines"
)

func heldIn(t *testing.T, db *store.DB) (text string) {
	t.Helper()
	err := db.View(t.Context(), func(tx *store.Tx) error {
		text = held(t, tx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// opened opens an appliance on a state directory, calls look, and closes it.
func opened(t *testing.T, dir string, change func(*Config), look func(running)) (log string, err error) {
	t.Helper()
	c := Defaults()
	c.StateDir, c.HTTP.Listen, c.MQTT.Listen, c.HTTP.TLSListen, c.MQTT.TLSListen = dir, "127.0.0.1:0", "127.0.0.1:0", "off", "off"
	change(&c)
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := Open(ctx, c, slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		return out.String(), err
	}
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	look(running{Appliance: a, t: t})
	cancel()
	err = <-ended
	return out.String(), err
}

func TestFirstStartMakesWhatTheIntegratorAsksFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, provisioned(t))
	log, err := opened(t, dir, func(*Config) {}, func(r running) {
		if got := heldIn(t, r.db); got != allHeld {
			t.Errorf("it has %s", got)
		}
		for path, want := range map[string]string{"installer.key": "sg_", "bridge.key": ""} {
			raw, err := os.ReadFile(filepath.Join(dir, path))
			info, again := os.Stat(filepath.Join(dir, path))
			if err := errors.Join(err, again); err != nil || len(raw) < 40 || !strings.HasPrefix(string(raw), want) || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %d bytes", path, err, len(raw))
			}
		}
		installer, _ := os.ReadFile(filepath.Join(dir, "installer.key"))
		for key, want := range map[string]int{"sg_of-the-integrator": 200, strings.TrimSpace(string(installer)): 200, "sg_of-nobody": 401} {
			if status, _, _ := r.answer(http.MethodGet, "/core/networks", key, ""); status != want {
				t.Errorf("key %s is answered %d", key, status)
			}
		}
		for email, word := range map[string]string{"service@example.com": "another invented one", "jdoe@example.com": "an invented password"} {
			var session struct{ Token string }
			r.call("", http.MethodPost, "/sessions", `{"email":"`+email+`","password":"`+word+`"}`, &session)
			if session.Token == "" {
				t.Errorf("%s has no session", email)
			}
		}
		if said := r.command("uplink", "list", "-json"); !strings.Contains(said, `"name":"engine"`) || !strings.Contains(said, `"has_password":true`) || strings.Contains(said, "turm") {
			t.Errorf("uplinks are %s", said)
		}
		if said := r.command("audit"); !strings.Contains(said, "terminal provision.yaml") {
			t.Errorf("the audit log is\n%s", said)
		}
	})
	if err != nil || !strings.Contains(log, "made what was asked for at the first start") || strings.Contains(log, "invented") || strings.Contains(log, "jdoe@") {
		t.Fatalf("%v\n%s", err, log)
	}
	if _, err := os.Stat(filepath.Join(dir, ownProvision)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there still: %v", err)
	}
	note, err := os.ReadFile(filepath.Join(dir, ownProvision+".applied"))
	if err != nil || strings.Contains(string(note), "invented") || !strings.Contains(string(note), "sensegate audit") {
		t.Errorf("%v: %s", err, note)
	}
}

// A second start makes nothing: not of the same file, which a power cut has left, nor of another one.
func TestSecondStartMakesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := provisioned(t)
	for i, again := range []string{text, text, strings.Replace(text, "service@", "other@", 1), "not: [yaml"} {
		put(t, dir, again)
		log, err := opened(t, dir, func(*Config) {}, func(r running) {
			if got := heldIn(t, r.db); got != allHeld {
				t.Errorf("start %d: it has %s", i, got)
			}
		})
		_, gone := os.Stat(filepath.Join(dir, ownProvision))
		if err != nil || strings.Contains(log, "is left as it is") != (i > 1) || errors.Is(gone, os.ErrNotExist) != (i < 2) {
			t.Errorf("start %d: %v, %v\n%s", i, err, gone, log)
		}
	}
	c := Defaults()
	c.StateDir = dir
	if found := c.lookAtProvision(); len(found) != 1 || found[0].Grade != preflight.Warning {
		t.Errorf("doctor says %v", found)
	}
	// Nor is one carried out on an appliance that somebody has used.
	dir = t.TempDir()
	if _, err := opened(t, dir, func(*Config) {}, func(r running) { r.command("apikey", "create", "laptop") }); err != nil {
		t.Fatal(err)
	}
	put(t, dir, text)
	log, err := opened(t, dir, func(*Config) {}, func(r running) {
		if got := heldIn(t, r.db); !strings.HasPrefix(got, "0 accounts, 0 administrators, 1 keys") {
			t.Errorf("it has %s", got)
		}
	})
	if err != nil || !strings.Contains(log, "is left as it is") {
		t.Errorf("%v\n%s", err, log)
	}
}

func TestWrongFileIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, `accounts:
  - email: nobody
    password: short
  - email: a@example.com
    password: an invented password
    password_hash: $argon2id$v=19$m=1$x$y
  - email: A@example.com
    pasword: x
    password_hash: md5
api_keys:
  - name: engine
  - name: engine
    sha256: 12ab
mqtt_users:
  - name: ""
    sha256: 0000000000000000000000000000000000000000000000000000000000000000
  - name: all
    prefix: "#"
    file: signing.json
  - name: again
    file: a.key
  - name: once more
    file: a.key
uplinks:
  - name: taken
    url: mqtt://h
    use: [events]
  - name: x
    url: gopher://h
    use: []
`)
	configured := func(c *Config) {
		c.Uplinks = []uplink.Config{{Name: "taken", URL: "mqtt://127.0.0.1:9", Use: []uplink.Use{uplink.Live}}}
	}
	_, err := opened(t, dir, configured, func(running) { t.Error("it starts") })
	if err == nil {
		t.Fatal("no error")
	}
	wanted := []string{
		":2: accounts.0.email: want an address", ":3: accounts.0.password: ", ":5: accounts.1.password: want it or its hash", "accounts.1.password_hash: want argon2id",
		":7: accounts.2.email: is that of entry 1, too", ":8: accounts.2.pasword: no such key; did you mean accounts.2.password?", "accounts.2.password_hash: want argon2id",
		"api_keys.0.sha256: want that of the secret, or file", "api_keys.1.name: is that of entry 0, too", "api_keys.1.sha256: want 64", "mqtt_users.0.name: ", ":18: mqtt_users.1.prefix: \"#\" cannot be a user's", ":19: mqtt_users.1.file: want a name that ends in .key", ":23: mqtt_users.3.file: is that of entry 2, too",
		"mqtt_users.0.sha256: want 64",
		"uplinks.0.name: ", "uplinks.1.url: ", "uplinks.1.use: ",
	}
	for _, want := range wanted {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "short") || strings.Contains(err.Error(), "md5") {
		t.Errorf("it shows secrets: %v", err)
	}
	db, err := store.Open(store.Options{Path: admin.Database(dir)})
	if err != nil {
		t.Fatal(err)
	}
	if got := heldIn(t, db); got != nothingHeld {
		t.Errorf("it has %s", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(admin.Database(dir)); err != nil { // as before the first start
		t.Fatal(err)
	}
	c := Defaults()
	c.StateDir = dir
	configured(&c)
	if found := c.lookAtProvision(); len(found) < len(wanted) || preflight.Worst(found) != preflight.Wrong {
		t.Errorf("doctor says %v", found)
	}
}

// What only the database knows to be wrong leaves nothing either; once it is put right all is made.
func TestWhatCannotBeMadeLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := provisioned(t)
	put(t, dir, strings.Replace(text, "file: bridge.key", "file: missing/bridge.key", 1))
	_, err := opened(t, dir, func(*Config) {}, func(running) { t.Error("it starts") })
	if err == nil || !strings.Contains(err.Error(), "mqtt_users.0.file: ") {
		t.Fatalf("it says %v", err)
	}
	put(t, dir, text)
	_, err = opened(t, dir, func(*Config) {}, func(r running) {
		if got := heldIn(t, r.db); got != allHeld {
			t.Errorf("it has %s", got)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// A file that the configuration names stays where it is, has to be there at the first start, and need not
// be later.
func TestNamedFileStays(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	named := func(c *Config) { c.Provision = filepath.Join(elsewhere, "box.yaml") }
	if _, err := opened(t, dir, named, func(running) { t.Error("it starts") }); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("without the file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(elsewhere, "box.yaml"), []byte(provisioned(t)), 0o400); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		log, err := opened(t, dir, named, func(r running) {
			if got := heldIn(t, r.db); got != allHeld {
				t.Errorf("it has %s", got)
			}
		})
		if err != nil || strings.Contains(log, "is left as it is") {
			t.Fatalf("%v\n%s", err, log)
		}
	}
	if err := os.Remove(filepath.Join(elsewhere, "box.yaml")); err != nil {
		t.Fatal("it did not stay:", err)
	}
	if _, err := opened(t, dir, named, func(running) {}); err != nil {
		t.Errorf("once it was carried out: %v", err)
	}
}

// A box that is killed at its first start, at whatever moment, has nothing or all, and all after the next.
func TestKilledFirstStartLeavesNothingOrAll(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := provisioned(t)
	// first starts an appliance and kills it after a time, or when it has carried all out, and returns how long that was.
	first := func(dir string, after time.Duration) time.Duration {
		put(t, dir, text)
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = box.Environment(dir, restorableVariable+"=1")
		cmd.Stderr = io.Discard
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		began, done := time.Now(), false
		for time.Since(began) < after && !done {
			_, err := os.Stat(filepath.Join(dir, ownProvision+".applied"))
			done = err == nil
			time.Sleep(time.Millisecond)
		}
		took := time.Since(began)
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		return took
	}
	whole, found := first(t.TempDir(), box.Patience), map[string]int{}
	const kills = 24
	for i := range kills {
		dir := t.TempDir()
		after := first(dir, whole*time.Duration(4*(i+1))/(3*kills))
		if _, err := os.Stat(admin.Database(dir)); err == nil {
			db, err := store.Open(store.Options{Path: admin.Database(dir), Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			got := heldIn(t, db)
			if got != nothingHeld && got != allHeld {
				t.Errorf("after %s it has %s", after, got)
			}
			found[got]++
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		_, err := opened(t, dir, func(*Config) {}, func(r running) {
			if got := heldIn(t, r.db); got != allHeld {
				t.Errorf("after %s and another start it has %s", after, got)
			}
		})
		if _, gone := os.Stat(filepath.Join(dir, ownProvision)); err != nil || !errors.Is(gone, os.ErrNotExist) {
			t.Errorf("after %s: %v, %v", after, err, gone)
		}
	}
	t.Logf("a first start takes %s; %d kills: %v", whole, kills, found)
}

// Of a link, what it leads to would stay with its secrets; a pipe may never end.
func TestFileThatIsNoFileIsRefused(t *testing.T) {
	t.Parallel()
	for what, place := range map[string]func(dir, path string) error{
		"is a link": func(dir, path string) error {
			real := filepath.Join(dir, "elsewhere.yaml")
			return errors.Join(os.WriteFile(real, []byte(provisioned(t)), 0o600), os.Symlink(real, path))
		},
		"is no regular file": func(_, path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, ownProvision)
		if err := place(dir, path); err != nil {
			t.Fatal(err)
		}
		c := Defaults()
		c.StateDir = dir
		if found := c.lookAtProvision(); len(found) != 1 || found[0].Grade != preflight.Wrong || !strings.Contains(found[0].Says, what) {
			t.Errorf("doctor says %v", found)
		}
		if _, err := opened(t, dir, func(*Config) {}, func(running) { t.Error("it starts") }); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: it is gone: %v", what, err)
		}
	}
	// One that the configuration names may be a link, as mounted secrets are.
	dir, elsewhere := t.TempDir(), t.TempDir()
	link := filepath.Join(elsewhere, "link")
	if err := errors.Join(os.WriteFile(filepath.Join(elsewhere, "real"), []byte(provisioned(t)), 0o600), os.Symlink("real", link)); err != nil {
		t.Fatal(err)
	}
	if _, err := opened(t, dir, func(c *Config) { c.Provision = link }, func(running) {}); err != nil {
		t.Error(err)
	}
	dir = t.TempDir()
	put(t, dir, strings.Replace(provisioned(t), "password: another invented one", "password_file: "+filepath.Join(dir, "pipe"), 1))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := opened(t, dir, func(*Config) {}, func(running) { t.Error("it starts") }); err == nil || !strings.Contains(err.Error(), "accounts.0.password_file: ") {
		t.Errorf("of a pipe with a password: %v", err)
	}
}

// A new secret takes the place of nothing, and where one may not be written none is.
func TestNewSecretTakesThePlaceOfNothing(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	kept := filepath.Join(elsewhere, "kept.key")
	if err := errors.Join(os.WriteFile(kept, []byte("of somebody else"), 0o600), os.Symlink("nowhere", filepath.Join(elsewhere, "link.key"))); err != nil {
		t.Fatal(err)
	}
	for name, word := range map[string]string{
		"DIR/sensegate.db": "want a name that ends in .key", "DIR/signing.json": "want a name that ends in .key", "DIR/provision.yaml": "want a name that ends in .key", "DIR/../NAME/recordings/a.key": "want a name that ends in .key",
		"DIR/none/server.key": "no such file or directory", "LINK/sensegate.db": "want a name that ends in .key",
		kept: "is there already", filepath.Join(elsewhere, "link.key"): "is there already",
		filepath.Join(elsewhere, "none", "a.key"): "no such file or directory", "DIR/installer.key": "is that of an API key, too", "LINK/installer.key": "is that of an API key, too",
	} {
		dir := t.TempDir()
		link := filepath.Join(t.TempDir(), "link")
		if err := errors.Join(os.Symlink(dir, link), os.Mkdir(filepath.Join(dir, "recordings"), 0o700)); err != nil {
			t.Fatal(err)
		}
		path := strings.NewReplacer("DIR", dir, "NAME", filepath.Base(dir), "LINK", link).Replace(name)
		put(t, dir, strings.Replace(provisioned(t), "file: bridge.key", "file: "+path, 1))
		c := Defaults()
		c.StateDir = dir
		if found := c.lookAtProvision(); preflight.Worst(found) != preflight.Wrong || !strings.Contains(found[0].Says, "provision.yaml:15: mqtt_users.0.file: ") || !strings.Contains(found[0].Says, word) {
			t.Errorf("%s: doctor says %v", name, found)
		}
		_, err := opened(t, dir, func(*Config) {}, func(running) { t.Errorf("%s: it starts", name) })
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "installer.key")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: another secret is written: %v", name, err)
		}
	}
	if raw, err := os.ReadFile(kept); err != nil || string(raw) != "of somebody else" {
		t.Errorf("it is %s now, %v", raw, err)
	}
}

// What a try has written that came to no end, the next one writes anew; it knows it by its content.
func TestSecretOfATryThatCameToNoEndIsWrittenAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, dir, provisioned(t))
	c := Defaults()
	c.StateDir = dir
	db, err := c.openDatabase(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	noted := func(name string) string {
		sum := sha256.Sum256([]byte("sg_of-the-former-try\n"))
		return fmt.Sprintf(`{"path": %q, "temporary": %q, "sha256": "%x"}`, at(name), at(".provision-"+name), sum)
	}
	err = errors.Join(db.Close(), os.WriteFile(at("installer.key"), []byte("sg_of-the-former-try\n"), 0o600), os.WriteFile(at("bridge.key"), []byte("of somebody else"), 0o600),
		os.WriteFile(at(".provision-bridge.key"), []byte("sg_of-th"), 0o600), os.WriteFile(at("provision.begun"), []byte(`{"files": [`+noted("installer.key")+", "+noted("bridge.key")+"]}"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	const taken = "provision.yaml:15: mqtt_users.0.file: "
	if found := c.lookAtProvision(); len(found) != 1 || found[0].Grade != preflight.Wrong || !strings.Contains(found[0].Says, taken+at("bridge.key")+" is there already") {
		t.Errorf("doctor says %v", found)
	}
	if _, err := opened(t, dir, func(*Config) {}, func(running) { t.Error("it starts") }); err == nil || !strings.Contains(err.Error(), taken) {
		t.Fatalf("it says %v", err)
	}
	if raw, err := os.ReadFile(at("bridge.key")); err != nil || string(raw) != "of somebody else" {
		t.Fatalf("that of somebody else holds %s, %v", raw, err)
	}
	if err := os.Remove(at("bridge.key")); err != nil {
		t.Fatal(err)
	}
	_, err = opened(t, dir, func(*Config) {}, func(r running) {
		if got := heldIn(t, r.db); got != allHeld {
			t.Errorf("it has %s", got)
		}
	})
	if raw, again := os.ReadFile(at("installer.key")); err != nil || again != nil || strings.Contains(string(raw), "former") {
		t.Errorf("%v, %v: %s", err, again, raw)
	}
	for _, name := range []string{".provision-bridge.key", "provision.begun"} {
		if _, err := os.Stat(at(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A name that another secret could have had while it is written is one as well.
func TestSecretsWithNearNamesAreBothWritten(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	first, second := filepath.Join(elsewhere, "a.new"), filepath.Join(elsewhere, "a")
	put(t, dir, strings.NewReplacer("installer.key", first, "bridge.key", second).Replace(provisioned(t)))
	_, err := opened(t, dir, func(*Config) {}, func(r running) {
		raw, err := os.ReadFile(first)
		if _, wrong := r.db.CheckAPIKey(t.Context(), strings.TrimSpace(string(raw))); err != nil || wrong != nil {
			t.Errorf("%v, %v: %s", err, wrong, raw)
		}
		raw, err = os.ReadFile(second)
		wrong := r.db.View(t.Context(), func(tx *store.Tx) error {
			_, err := tx.CheckIntegrationUser("bridge", strings.TrimSpace(string(raw)))
			return err
		})
		if err != nil || wrong != nil {
			t.Errorf("%v, %v: %s", err, wrong, raw)
		}
	})
	if entries, again := os.ReadDir(elsewhere); err != nil || again != nil || len(entries) != 2 {
		t.Errorf("%v, %v: %v", err, again, entries)
	}
}

// After a first start that failed, doctor says what was wrong, although there is a database.
func TestDoctorKnowsAFirstStartThatFailed(t *testing.T) {
	t.Parallel()
	for what, named := range map[string]bool{"of the state directory": false, "that is named": true} {
		dir, path := t.TempDir(), filepath.Join(t.TempDir(), "box.yaml")
		c := Defaults()
		c.StateDir = dir
		if !named {
			path = filepath.Join(dir, ownProvision)
		} else {
			c.Provision = path
		}
		change := func(n *Config) { n.Provision = c.Provision }
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		says := func(when string, grade preflight.Grade, word string) {
			t.Helper()
			if found := c.lookAtProvision(); len(found) != 1 || found[0].Grade != grade || !strings.Contains(found[0].Says, word) {
				t.Errorf("%s, %s doctor says %v", what, when, found)
			}
		}
		write(strings.Replace(provisioned(t), "jdoe@example.com", "nobody", 1))
		if _, err := opened(t, dir, change, func(running) { t.Error("it starts") }); err == nil {
			t.Fatal("it starts")
		}
		says("after a failed start", preflight.Wrong, path+":5: accounts.1.email: ")
		write(provisioned(t))
		broken := func(n *Config) { // later than the database
			change(n)
			n.Auth.Providers = []auth.ProviderConfig{{Name: "a", JWKSFile: filepath.Join(dir, "none")}}
		}
		if _, err := opened(t, dir, broken, func(running) { t.Error("it starts") }); err == nil {
			t.Fatal("it starts")
		}
		says("after another failed start", preflight.Fine, "the first start makes 2 accounts")
		if _, err := opened(t, dir, change, func(running) {}); err != nil {
			t.Fatal(err)
		}
		if found := c.lookAtProvision(); len(found) > 0 {
			t.Errorf("%s, after a start, doctor says %v", what, found)
		}
	}
}

// Where a secret cannot be written, doctor says so before the first start.
func TestDoctorLooksWhetherSecretsCanBeWritten(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	put(t, dir, strings.Replace(provisioned(t), "bridge.key", filepath.Join(elsewhere, "bridge.key"), 1))
	c := Defaults()
	c.StateDir = dir
	grade, word := preflight.Wrong, "provision.yaml:15: mqtt_users.0.file: this user ("
	if os.Geteuid() == 0 { // who can write everywhere, but not for the user of the service
		grade, word = preflight.Warning, "bridge.key is to be made: user nobody, to whom "+dir+" belongs, cannot make a file in "+elsewhere+": permission denied"
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(elsewhere, 0o500); err != nil {
		t.Fatal(err)
	}
	if found := c.lookAtProvision(); preflight.Worst(found) != grade || !strings.Contains(found[len(found)-1].Says, word) {
		t.Errorf("doctor says %v", found)
	}
	if err := os.Chmod(elsewhere, 0o777); err != nil {
		t.Fatal(err)
	}
	for above := filepath.Dir(elsewhere); above != os.TempDir() && os.Geteuid() == 0; above = filepath.Dir(above) {
		if err := os.Chmod(above, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if found := c.lookAtProvision(); preflight.Worst(found) != preflight.Fine {
		t.Errorf("doctor says %v", found)
	}
}

// The file that docs/operation.md shows is right.
func TestDocumentedFileIsRight(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\naccounts:")
	block, _, _ = strings.Cut(block, "```")
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hash, err := auth.NewPasswords(auth.Argon{Memory: 7168, Passes: 1, Threads: 1}).Hash(t.Context(), "an invented password")
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, strings.NewReplacer("/run/secrets/engine", secret, "$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH", hash).Replace("accounts:"+block))
	c := Defaults()
	c.StateDir = dir
	if found := c.lookAtProvision(); len(found) != 1 || found[0].Says != "the first start makes 2 accounts, 2 API keys, 1 MQTT users and 1 uplinks" {
		t.Errorf("doctor says %v", found)
	}
}
