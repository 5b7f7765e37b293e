package crashtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"sensegate/api/appliance/box"
	"sensegate/api/box/staging"
	"sensegate/store"
)

// chore is what the product does to the whole of its state: a migration, a restore, a
// wipe. Before it and after it the state holds something else, and never anything else
// than one of the two.
//
// Each works in a directory with the state directory in it (stateIn) and another one for
// what is read and written elsewhere (outIn).
type chore struct {
	name  string
	extra bool  // no migration, restore or wipe: its crashes come on top of theirs
	found *disk // what it begins with
	house house // whose state it is, if anybody's

	words func(top string) []string                                            // of the command line; nil: the product serves
	ask   func(ctx context.Context, h *house, address string) (receipt, error) // what the serving product is asked to do; nil: nothing
	wipes bool                                                                 // this program calls store.DB.Wipe

	check func(c *chore, top string, did bool) error // looks further, after the next start; did: it was acknowledged or is done; nil: nothing

	before, after string // what the state says
}

func stateIn(top string) string    { return filepath.Join(top, "state") }
func outIn(top string) string      { return filepath.Join(top, "out") }
func databaseIn(top string) string { return filepath.Join(stateIn(top), box.Database) }

// needle stands in what the home has and nobody else.
const needle = "needle-5f0c2b"

// wipeVariable is the environment variable that makes this program wipe the database that
// it names, as the product does by itself a minute after a deletion.
const wipeVariable = "CRASHTEST_WIPE"

func TestMain(m *testing.M) {
	if path := os.Getenv(wipeVariable); path != "" {
		if err := wipe(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("wiped")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func wipe(path string) error {
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		return err
	}
	return errors.Join(db.Wipe(context.Background()), db.Close())
}

// chores makes all kinds of chores.
func chores(t *testing.T, product string) []*chore {
	t.Helper()
	h, former, full := lived(t, product)
	disown := func(ctx context.Context, h *house, address string) (receipt, error) {
		url, body := fmt.Sprintf("http://%s/api/v1/networks/%d", address, h.home), fmt.Sprintf(`{"current_password": %q}`, h.password)
		header, err := request(ctx, http.DefaultClient, "DELETE", url, h.session, body, nil)
		return ofRequest(header.Get("X-Request-Id")), err
	}
	account := func(ctx context.Context, h *house, _ string) (receipt, error) {
		admin := administrator(h.dir)
		defer admin.CloseIdleConnections()
		_, err := request(ctx, admin, "POST", "http://administration/users/delete", "", fmt.Sprintf(`{"email": %q, "networks": true}`, owner), nil)
		return ofCommand(1), err
	}
	lost := full.clone()
	_, _, database := lost.find("state/" + box.Database)
	delete(lost.files, database)
	bare := full.clone()
	delete(bare.directories[bare.directories[rootInode]["state"]], "tls")
	return []*chore{
		{name: "first start", extra: true, found: emptyTop()},
		{name: "a new authority", extra: true, found: bare},
		{name: "migration from schema 1", found: schema1(t)},
		{name: "migration from schema 2", found: schema2(t)},
		{
			name: "restore", found: full,
			words: func(top string) []string { return []string{"restore", filepath.Join(outIn(top), "former.backup")} },
			check: keptAside,
		},
		{name: "restore of an uploaded backup", found: ordered(t, full), check: keptAside},
		{name: "recovery of a lost database", found: lost, before: former, after: former},
		{name: "compaction", extra: true, found: full, words: func(string) []string { return []string{"db", "compact"} }},
		{
			name: "backup", extra: true, found: full,
			words: func(top string) []string { return []string{"backup", "-o", filepath.Join(outIn(top), "made.backup")} },
			check: wholeBackup,
		},
		{name: "disowning a home", found: full, house: *h, ask: disown},
		{name: "deleting an account", found: full, house: *h, ask: account},
		{name: "wipe", found: disowned(t, h, full, disown), wipes: true, check: wipedAtLast},
	}
}

// lived returns a house that has lived: a backup of before its last events lies among the
// others of the product and in out. It returns what the state said at that backup, too.
func lived(t *testing.T, product string) (h *house, former string, full *disk) {
	t.Helper()
	top := shortDir(t)
	if err := os.MkdirAll(outIn(top), 0o700); err != nil {
		t.Fatal(err)
	}
	h = furnishAt(t, product, stateIn(top))
	writers := h.writers()
	work := func(limit int) {
		v := h.visit(t, start(t, h.dir, product))
		v.want("PUT", fmt.Sprintf("/api/v1/networks/%d", h.home), fmt.Sprintf(`{"name": "%s %d"}`, needle, limit), nil)
		if err := v.work(t.Context(), writers, limit); err != nil {
			t.Fatal(err)
		}
		v.leave()
		v.process.Stop()
	}
	work(20)
	box.Administer(t, product, h.dir, "backup", "-o", filepath.Join(outIn(top), "former.backup"))
	err := inspect(t.Context(), databaseIn(top), func(db *store.DB) error {
		_, err := db.Backup(t.Context())
		return err
	})
	if err == nil {
		former, err = said(databaseIn(top))
	}
	if err != nil {
		t.Fatal(err)
	}
	work(30)
	if full, err = readDisk(top); err != nil {
		t.Fatal(err)
	}
	return h, former, full
}

// ordered returns what is left when the backup in out was uploaded and applied, and the
// product has not started anew yet.
func ordered(t *testing.T, full *disk) *disk {
	t.Helper()
	top := shortDir(t)
	if err := full.write(top); err != nil {
		t.Fatal(err)
	}
	backup, err := os.Open(filepath.Join(outIn(top), "former.backup"))
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close()
	err = inspect(t.Context(), databaseIn(top), func(db *store.DB) error {
		s := staging.New(staging.Options{DB: db, Directory: staging.Directory(stateIn(top))})
		s.Restartable(func() error { return nil }, func() {})
		by := staging.Person{Kind: "account", Name: owner}
		if _, err := s.Stage(t.Context(), staging.Upload{Body: backup, By: by}); err != nil {
			return err
		}
		return s.Apply(by, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	left, err := readDisk(top)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// disowned returns what is left when the home has been disowned, and not wiped yet. A copy
// from before, which a crash in the midst of a backup has left, lies beside the backup.
func disowned(t *testing.T, h *house, full *disk, disown func(context.Context, *house, string) (receipt, error)) *disk {
	t.Helper()
	top := shortDir(t)
	if err := full.write(top); err != nil {
		t.Fatal(err)
	}
	_, _, database := full.find("state/" + box.Database)
	if err := os.WriteFile(filepath.Join(stateIn(top), "backups/new"), full.files[database], 0o600); err != nil {
		t.Fatal(err)
	}
	moved := *h
	moved.dir = stateIn(top)
	p := start(t, moved.dir, h.product)
	if _, err := disown(t.Context(), &moved, p.HTTP); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	left, err := readDisk(top)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// emptyTop is before the first start.
func emptyTop() *disk {
	d := emptyDisk()
	d.inodes = 3
	d.enter(entry{directory: rootInode, name: "state", inode: 2, makes: true})
	d.enter(entry{directory: rootInode, name: "out", inode: 3, makes: true})
	return d
}

// ofSchema returns a state with a database of a former schema alone.
func ofSchema(t *testing.T, path string) *disk {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := emptyTop()
	d.inodes++
	d.enter(entry{directory: 2, name: box.Database, inode: d.inodes})
	d.files[d.inodes] = data
	return d
}

const fixtures = "../../../store/testdata/"

func schema2(t *testing.T) *disk { return ofSchema(t, fixtures+"v2.db") }

// moreEvents is how many events are added to the one of the file of schema 1, so that its
// migration takes several transactions. Each two share a time.
const moreEvents = 3000

// schema1 returns the file of schema 1 with more events.
func schema1(t *testing.T) *disk {
	t.Helper()
	d := ofSchema(t, fixtures+"v1.db")
	path := filepath.Join(t.TempDir(), "v1.db")
	if err := os.WriteFile(path, d.files[d.inodes], 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		events, byID := tx.Bucket([]byte("events")), tx.Bucket([]byte("events_by_id"))
		first, data := events.Cursor().First()
		const networkSize, idSize = 4, 16 // the time is between
		const id, second = "019ab6a4-7000-7b61-8a52-3b1f0c6d2e11", 1764000000
		begin := fmt.Sprintf(`{"_id":"%s",`, id)
		rest, found := strings.CutPrefix(string(data), begin)
		rest, also := strings.CutSuffix(rest, `"_dedupe":"a7937b64b8caa58f03721bb6bacf5c78"}`)
		before, after, timed := strings.Cut(rest, fmt.Sprintf(`"ts":%d.5,`, second))
		if !found || !also || !timed {
			return fmt.Errorf("the event of schema 1 is another one: %s", data)
		}
		for n := range moreEvents {
			key, micros := bytes.Clone(first), n/2*10
			binary.BigEndian.PutUint64(key[networkSize:], second*1e6+uint64(micros))
			binary.BigEndian.PutUint32(key[len(key)-4:], uint32(n))
			record := fmt.Sprintf(`{"_id":"%s%08x",%s"ts":%d.%06d,%s`, id[:len(id)-8], n, before, second, micros, after)
			record = strings.TrimSuffix(record, ",") + "}"
			if err := errors.Join(events.Put(key, []byte(record)), byID.Put(key[len(key)-idSize:], key)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if d.files[d.inodes], err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return d
}

// keptAside wants the former database under another name when a backup was restored.
func keptAside(c *chore, top string, did bool) error {
	aside, err := filepath.Glob(databaseIn(top) + ".replaced-*")
	if err != nil || !did {
		return err
	}
	if len(aside) != 1 {
		return fmt.Errorf("%w: the former database: %d are kept", errLost, len(aside))
	}
	return c.isSaid(c.before, aside[0])
}

// isSaid wants the database at path to say what is wanted.
func (c *chore) isSaid(want, path string) error {
	got, err := said(path)
	if err == nil && got != want {
		err = fmt.Errorf("%w: %s holds something else: %s", errLost, filepath.Base(path), firstDifference(want, got))
	}
	return err
}

// wholeBackup wants the backup to be whole if it is there, and there if it was made.
func wholeBackup(c *chore, top string, did bool) error {
	file, err := os.Open(filepath.Join(outIn(top), "made.backup"))
	if errors.Is(err, os.ErrNotExist) && !did {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	defer file.Close()
	restored := filepath.Join(top, "restored", box.Database)
	if _, err := store.Restore(context.Background(), store.Options{Path: restored}, file); err != nil {
		return err
	}
	return c.isSaid(c.after, restored)
}

// wipedAtLast wants nothing of the home in any file after the wipe; one that was cut off
// is done by the next one.
func wipedAtLast(_ *chore, top string, did bool) error {
	if !did {
		if err := wipe(databaseIn(top)); err != nil {
			return err
		}
	}
	left, err := readDisk(stateIn(top))
	if err != nil {
		return err
	}
	for path, data := range left.paths() {
		if strings.Contains(string(data), needle) {
			return fmt.Errorf("%w: the home is in %s, though wiped", errDoubled, path)
		}
	}
	return nil
}

// eldest is before all events that the chores themselves cause.
var eldest = now()

// said returns what a database says of what people own and of what they did, in lines.
func said(path string) (string, error) {
	var lines strings.Builder
	ctx := context.Background()
	err := inspect(ctx, path, func(db *store.DB) error {
		return db.View(ctx, func(tx *store.Tx) error { return tell(tx, &lines) })
	})
	return lines.String(), err
}

// firstDifference returns the first line that two texts do not share.
func firstDifference(want, got string) string {
	wanted := map[string]int{}
	for line := range strings.Lines(want) {
		wanted[line]++
	}
	for line := range strings.Lines(got) {
		if wanted[line]--; wanted[line] < 0 {
			return "more: " + line
		}
	}
	for line, more := range wanted {
		if more > 0 {
			return "missing: " + line
		}
	}
	return "none"
}
