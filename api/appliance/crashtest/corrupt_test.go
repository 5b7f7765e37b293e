package crashtest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/api/appliance/box"
	"sensegate/store"
	"sensegate/store/storetest"
)

var (
	corruptions = flag.Int("corruptions", 8, "how many databases are damaged at rest")
	corruptLive = flag.Int("corruptions-live", 4, "how many are damaged while the product runs")
)

// estate is what a house left behind: its files, and what may be served of it.
type estate struct {
	*house
	files    map[string][]byte // all but the database and its backup, by name
	data     []byte            // the database
	backup   []byte
	name     string                     // of the backup
	events   map[string]json.RawMessage // as they were served at the end, by id
	settings map[string]bool            // values of a setting, at the backup and later
}

// rounds is how many operations each writer makes before the backup, and as many after it.
const rounds = 25

// revoked is the name of an API key that was revoked after the backup.
const revoked = "revoked-since"

// leaveEstate furnishes a house, backs it up, lives on, revokes a key and stops.
func leaveEstate(t *testing.T, product string) *estate {
	t.Helper()
	e := &estate{house: furnish(t, product), files: map[string][]byte{}, settings: map[string]bool{}}
	writers := e.writers()
	p := start(t, e.dir, product)
	box.Administer(t, product, e.dir, "apikey", "create", revoked, "-network", "1")
	v := e.visit(t, p)
	if err := v.work(t.Context(), writers, rounds); err != nil {
		t.Fatal(err)
	}
	v.leave()
	p.Stop()
	path := filepath.Join(e.dir, box.Database)
	var made store.Backup
	err := inspect(t.Context(), path, func(db *store.DB) (err error) {
		made, err = db.Backup(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p = start(t, e.dir, product)
	revoke(t, product, e.dir)
	v = e.visit(t, p)
	if err := v.work(t.Context(), writers, 2*rounds); err != nil {
		t.Fatal(err)
	}
	for n := range 2*rounds + 2 {
		e.settings[fmt.Sprint(n)] = true
	}
	if e.events = e.served(t, p, e.key); len(e.events) < 2*rounds {
		t.Fatalf("%d events are served", len(e.events))
	}
	v.leave()
	p.Stop()
	e.read(t, path, made.Path)
	return e
}

// revoke revokes the API key.
func revoke(t *testing.T, product, dir string) {
	t.Helper()
	var keys []store.APIKey
	if err := json.Unmarshal([]byte(box.Administer(t, product, dir, "apikey", "list", "-json")), &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if key.Name == revoked {
			box.Administer(t, product, dir, "apikey", "revoke", fmt.Sprint(key.ID))
			return
		}
	}
	t.Fatal("the key is not listed")
}

// read takes the files of the house into memory.
func (e *estate) read(t *testing.T, database, backup string) {
	t.Helper()
	e.name = filepath.Base(backup)
	err := filepath.WalkDir(e.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, relErr := filepath.Rel(e.dir, path)
		switch path {
		case database:
			e.data = raw[:usedSize(raw)]
		case backup:
			e.backup = raw
		default:
			e.files[name] = raw
		}
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// usedSize returns how many bytes of a database were ever used: what lies behind is nothing
// to damage.
func usedSize(raw []byte) uint64 {
	const mark = 16 + 40 // of a meta page: the first page that was never used
	return pageSize * max(binary.LittleEndian.Uint64(raw[mark:]), binary.LittleEndian.Uint64(raw[pageSize+mark:]))
}

// settle writes the files to a directory of their own, with a database and, if asked for,
// the backup.
func (e *estate) settle(t *testing.T, data []byte, backup bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, box.Database)
	put := func(path string, content []byte) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range e.files {
		put(filepath.Join(dir, name), content)
	}
	put(path, data)
	if backup {
		put(filepath.Join(store.BackupDirectory(path), e.name), e.backup)
	}
	return dir
}

// get asks for something with an API key and returns the status.
func get(t *testing.T, p *box.Process, key, path string) (int, []byte, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.HTTP+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return response.StatusCode, raw, err
}

// served returns the events that are served, by id; nil when the product does not answer.
func (e *estate) served(t *testing.T, p *box.Process, key string) map[string]json.RawMessage {
	t.Helper()
	status, raw, err := get(t, p, key, "/core/network/1/events/history?last=1000")
	if err != nil || status >= 500 {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || status != http.StatusOK {
		t.Fatalf("events: %d %.300s", status, raw)
	}
	found := map[string]json.RawMessage{}
	for _, event := range list {
		var named struct {
			ID string `json:"_id"`
		}
		if err := json.Unmarshal(event, &named); err != nil {
			t.Fatal(err)
		}
		found[named.ID] = event
	}
	return found
}

// wantTrue wants every event and setting that is served to be one that was written. It
// returns how many events are.
func (e *estate) wantTrue(t *testing.T, p *box.Process, key, how string) int {
	t.Helper()
	events := e.served(t, p, key)
	for id, event := range events {
		if want, known := e.events[id]; known && !bytes.Equal(event, want) {
			t.Errorf("%s: event %s is %s, want %s", how, id, event, want)
		} else if !known && bytes.Contains(event, []byte("CrashTest_")) {
			t.Errorf("%s: event %s was never written", how, event)
		}
	}
	status, raw, err := get(t, p, key, "/core/network/1/meta")
	if err != nil || status != http.StatusOK {
		return len(events)
	}
	var meta struct{ Crash string }
	if err := json.Unmarshal(raw, &meta); err != nil || !e.settings[meta.Crash] {
		t.Errorf("%s: the setting is %s", how, raw)
	}
	return len(events)
}

// TestDamagedDatabaseIsSalvaged damages the database of a house in many ways, at rest and
// while the product runs on it, with a backup and without. The next start serves what is
// true, or says how to begin anew where nothing is left of who may enter and no backup has
// it; it never ends by a panic, and the start after it finds nothing to do.
func TestDamagedDatabaseIsSalvaged(t *testing.T) {
	t.Parallel()
	t.Logf("-corruptions %d -corruptions-live %d -seed %d", *corruptions, *corruptLive, *seed)
	product := box.Build(t)
	e := leaveEstate(t, product)
	random := rand.New(rand.NewPCG(*seed, 8))
	count := map[string]int{}
	for round := range *corruptions {
		data, how := storetest.Corrupt(e.data, random)
		how = fmt.Sprintf("round %d at rest, backup %v, %s", round, round%2 == 0, how)
		count[e.recovered(t, e.settle(t, data, round%2 == 0), how, round%2 == 0)]++
	}
	for round := range *corruptLive {
		data, how := storetest.Corrupt(e.data, random)
		how = fmt.Sprintf("round %d running, backup %v, %s", round, round%2 == 0, how)
		dir := e.settle(t, e.data, round%2 == 0)
		count["running: "+e.damagedLive(t, dir, data, how)]++
		count[e.recovered(t, dir, how, round%2 == 0)]++
	}
	t.Logf("%d damaged at rest, %d while running: %v", *corruptions, *corruptLive, count)
}

// damagedLive damages the database under a running product, asks and tells it things, and
// stops it.
func (e *estate) damagedLive(t *testing.T, dir string, data []byte, how string) string {
	t.Helper()
	p := start(t, dir, e.product)
	file, err := os.OpenFile(filepath.Join(dir, box.Database), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for at := range data { // what the product has written since its start stays
		if data[at] != e.data[at] {
			if _, err := file.WriteAt(data[at:at+1], int64(at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(data) < len(e.data) {
		err = file.Truncate(int64(len(data)))
	}
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		e.wantTrueOrNothing(t, p, how)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "http://"+p.HTTP+"/core/network/1/meta", strings.NewReader(`{"crash": "7"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", e.key)
		request.Header.Set("Content-Type", "application/json")
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
		}
	}
	ended := "it goes on"
	if strings.Contains(p.Log(), "storing failed") {
		ended = "it ends"
		var exit *exec.ExitError
		if err := p.Ended(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%s: it ended with %v:\n%s", how, err, p.Log())
		}
	} else {
		p.Kill()
	}
	if strings.Contains(p.Log(), "goroutine ") {
		t.Errorf("%s: it panicked:\n%s", how, p.Log())
	}
	return ended
}

// wantTrueOrNothing is wantTrue of a product that may not know the key any more.
func (e *estate) wantTrueOrNothing(t *testing.T, p *box.Process, how string) {
	t.Helper()
	if status, _, err := get(t, p, e.key, "/core/network/find/id/1"); err == nil && status == http.StatusOK {
		e.wantTrue(t, p, e.key, how)
	}
}

// recovered starts the product on a damaged database and returns what became of it.
func (e *estate) recovered(t *testing.T, dir, how string, backup bool) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), e.product, "db", "check")
	cmd.Env = box.Environment(dir)
	if out, _ := cmd.CombinedOutput(); bytes.Contains(out, []byte("goroutine ")) {
		t.Errorf("%s: db check panicked:\n%s", how, out)
	}
	p, ready := box.Try(t, box.Setup{Dir: dir, Line: []string{e.product}})
	log := p.Log()
	if strings.Contains(log, "goroutine ") {
		t.Errorf("%s: it panicked:\n%s", how, log)
	}
	if !ready {
		if backup || !strings.Contains(log, "to begin anew on purpose") {
			t.Errorf("%s: it does not start:\n%s", how, log)
		}
		return "refused"
	}
	key, _, _ := strings.Cut(box.Administer(t, e.product, dir, "apikey", "create", "after", "-network", "1"), "\n")
	log = p.Log()
	whole := strings.Contains(log, "the last backup took its place")
	if list := box.Administer(t, e.product, dir, "apikey", "list"); strings.Contains(list, revoked) && !whole {
		t.Errorf("%s: the revoked key is back:\n%s", how, log)
	}
	if status, raw, err := get(t, p, key, "/core/network/find/id/1"); err != nil || status != http.StatusOK {
		t.Errorf("%s: the network is gone: %d %s %v\n%s", how, status, raw, err, log)
	}
	n := e.wantTrue(t, p, key, how)
	p.Stop()
	outcome := "served as it is"
	switch {
	case whole:
		outcome = "the backup as a whole"
	case strings.Contains(log, "taken from the last backup"):
		outcome = "salvaged, with the backup"
	case strings.Contains(log, "the rest is lost"):
		outcome = "salvaged"
	case strings.Contains(log, "copied into a new file, nothing is lost"):
		outcome = "salvaged, nothing lost"
	case strings.Contains(log, "is lost"):
		outcome = "some records dropped"
	}
	silent := outcome == "served as it is" && !strings.Contains(log, "is left out") || outcome == "salvaged, nothing lost"
	if n < len(e.events) && silent && strings.Contains(how, "at rest") {
		t.Errorf("%s: %d of %d events are served, and nobody is told:\n%s", how, n, len(e.events), log)
	}
	p = start(t, dir, e.product)
	p.Stop()
	if strings.Contains(p.Log(), "damaged") {
		t.Errorf("%s: the next start finds damage:\n%s", how, p.Log())
	}
	return outcome
}
