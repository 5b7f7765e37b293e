package moving_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"sensegate/api/box/moving"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// packed returns text as a file.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// unpacked returns the text of a file.
func unpacked(t *testing.T, file []byte) string {
	t.Helper()
	text, err := unpack(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func unpack(file []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// same reports whether a file has a text.
func same(file []byte, text string) bool {
	got, err := unpack(file)
	return err == nil && got == text
}

// wantNothing fails when a box has anything of what it was to take in.
func (b box) wantNothing(t *testing.T) {
	t.Helper()
	layout, err := b.Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, bucket := range layout.Buckets {
		if bucket.Name != "meta" && bucket.Keys > 0 {
			t.Errorf("%d keys in %s, want none", bucket.Keys, bucket.Name)
		}
	}
}

func TestFileThatIsNotWholeLeavesNothing(t *testing.T) {
	t.Parallel()
	from, to := newBox(t, 0), newBox(t, 0)
	file := from.export(t, from.live(t))
	text := unpacked(t, file)
	newer := strings.Replace(text, `"version":3`, `"version":4`, 1)
	fewer := strings.Replace(text, `"sha256":"`, `"sha256":"00`, 1)
	unset := strings.Replace(text, `"moves":false`, `"moves":false,"clock_unset":true`, 1)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":               {nil, "the file is empty"},
		"another file":          {[]byte("SQLite format 3\x00 and more of it"), "is no network of sensegate"},
		"another packed file":   {packed(t, "hello\n"), "is no network of sensegate"},
		"of a newer program":    {packed(t, newer), "written by a newer program (version 4, this one knows 3)"},
		"other records":         {packed(t, fewer), "other records than were written"},
		"a clock was not set":   {packed(t, unset), "clock of the box that wrote the file was not set"},
		"more after it":         {append(bytes.Clone(file), 1), "goes on after its end"},
		"more packed after it":  {packed(t, text+"{}\n"), "goes on after its end"},
		"without its last line": {packed(t, text[:strings.LastIndex(text, `{"end"`)]), "cut off"},
	} {
		_, err := to.take(t.Context(), c.file)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.want)
		}
	}
	for cut := 1; cut < len(file); cut += 1 + len(file)/50 {
		if _, err := to.take(t.Context(), file[:cut]); fault.KindOf(err) != fault.Invalid {
			t.Errorf("cut off after %d of %d bytes: error %v, want Invalid", cut, len(file), err)
		}
		changed := bytes.Clone(file)
		changed[cut] ^= 1
		if same(changed, text) {
			continue // a bit that says nothing, such as a time or one that fills a byte
		}
		if _, err := to.take(t.Context(), changed); err == nil {
			t.Errorf("byte %d of %d changed: it was taken in", cut, len(file))
		}
	}
	to.wantNothing(t)
}

func TestNetworkThatDoesNotFitTheDiskIsRefusedBefore(t *testing.T) {
	t.Parallel()
	from, to := newBox(t, 0), newBox(t, 0)
	text := unpacked(t, from.export(t, from.live(t)))
	_, err := to.take(t.Context(), packed(t, strings.Replace(text, `"bytes":0`, `"bytes":1125899906842624`, 1)))
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "make room first") {
		t.Errorf("error %v, want Unavailable", err)
	}
	to.wantNothing(t)
}

func TestLostConnectionIsNoDamagedFile(t *testing.T) {
	t.Parallel()
	from, to := newBox(t, 0), newBox(t, 0)
	file := from.export(t, from.live(t))
	lost := errors.New("connection lost")
	_, err := moving.Stage(t.Context(), to.DB, io.MultiReader(bytes.NewReader(file[:len(file)/2]), iotest.ErrReader(lost)), nil)
	if !errors.Is(err, lost) {
		t.Errorf("error %v, want %v", err, lost)
	}
	to.wantNothing(t)
}

func TestNetworkIsTakenInOnce(t *testing.T) {
	t.Parallel()
	from, to := newBox(t, 0), newBox(t, 1)
	id := from.live(t)
	file := from.export(t, id)
	first, err := to.take(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := to.take(t.Context(), file)
	if err != nil || !again.Again || again.Network != first.Network || again.Arrival.Receipt != "receipt" {
		t.Errorf("the second time: %+v, %v, want what the first time has brought about", again, err)
	}
	_, err = to.take(t.Context(), from.export(t, id))
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(details(err), "sensegate network delete 2") {
		t.Errorf("another copy: error %v, want a Conflict that says what to do", err)
	}
	if n := len(to.events(t, first.Network)); n != 4 {
		t.Errorf("%d events, want 4", n)
	}
}

// details returns the words of an error with all that it names.
func details(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	text := f.Message
	for _, d := range f.Details {
		text += "; " + d.Message
	}
	return text
}

// TestAccountOfAnotherGetsNoHome has somebody register an address on the new box before its holder comes.
func TestAccountOfAnotherGetsNoHome(t *testing.T) {
	t.Parallel()
	from := newBox(t, 0)
	file := from.export(t, from.live(t))
	confirmed := motion.Stamp(now * 1000)
	for name, c := range map[string]struct {
		confirmed *motion.Stamp
		proof     store.AddressProof
		join      []string
		joins     bool
	}{
		"not confirmed": {nil, store.AddressProof{Vouched: true}, nil, false},
		"confirmed by what another owner could read": {&confirmed, store.AddressProof{By: []home.ID{1}}, nil, false},
		"confirmed, nobody knows how":                {&confirmed, store.AddressProof{}, nil, false},
		"confirmed by the mail of a mail server":     {&confirmed, store.AddressProof{Vouched: true}, nil, true},
		"the administrator says so":                  {nil, store.AddressProof{}, []string{"OLGA@example.com"}, true},
		"the administrator says so of another":       {nil, store.AddressProof{}, []string{"max@example.com"}, false},
	} {
		to := newBox(t, 1)
		var here home.User
		to.update(t, func(tx *store.Tx) (err error) {
			if here, err = tx.CreateUser(home.User{Email: "Olga@Example.com", Sub: "here", ConfirmedAt: c.confirmed}); err != nil {
				return err
			}
			return errors.Join(tx.SetPassword(here.ID, "hash of here"), tx.SetAddressProof(here.ID, c.proof))
		})
		taken, err := to.take(t.Context(), file, c.join...)
		if !c.joins {
			if fault.KindOf(err) != fault.Conflict || !strings.Contains(details(err), "olga@example.com has an account on this box") {
				t.Errorf("%s: error %v, want a Conflict", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, details(err))
			continue
		}
		to.view(t, func(tx *store.Tx) error {
			m, ok, err := tx.MembershipOf(taken.Home, here.ID)
			hash, err2 := tx.Password(here.ID)
			if !ok || m.Role != home.OwnerRole || hash != "hash of here" {
				t.Errorf("%s: membership %+v, password %q, want the owner with the password of this box", name, m, hash)
			}
			return errors.Join(err, err2)
		})
	}
}

// busy adds so many events to a network that an import stores them in several commits.
func (b box) busy(t *testing.T, id motion.NetworkID) {
	t.Helper()
	b.update(t, func(tx *store.Tx) error {
		for i := range 3000 {
			if _, _, err := tx.AddEvent(motion.Event{Event: motion.MotionDetectedEvent, NetworkID: id, TS: motion.Time(now - 5000 + i)}, ""); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestUnfinishedImportGoesAtTheNextStart ends a box while a network is being taken in.
func TestUnfinishedImportGoesAtTheNextStart(t *testing.T) {
	t.Parallel()
	from := newBox(t, 0)
	id := from.live(t)
	from.busy(t, id)
	file := from.export(t, id)
	path := t.TempDir() + "/sensegate.db"
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := moving.Stage(t.Context(), db, bytes.NewReader(file), nil); err != nil { // and no Commit
		t.Fatal(err)
	}
	if _, err := moving.Stage(t.Context(), db, bytes.NewReader(file), nil); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another import meanwhile: error %v, want Conflict", err)
	}
	err = db.View(t.Context(), func(tx *store.Tx) error {
		list, err := tx.Networks()
		if len(list) > 0 {
			t.Errorf("networks %+v before the end, want none", list)
		}
		return err
	})
	if layout, err := db.Layout(t.Context()); err != nil || keysOf(layout, "events") == 0 {
		t.Errorf("nothing is staged: %v", err)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = store.Open(store.Options{Path: path}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	box{DB: db}.wantNothing(t)
}

// TestImportThatEndsEarlyLeavesNothing ends the context after some records.
func TestImportThatEndsEarlyLeavesNothing(t *testing.T) {
	t.Parallel()
	from, to := newBox(t, 0), newBox(t, 0)
	id := from.live(t)
	from.busy(t, id)
	file := from.export(t, id)
	ctx, cancel := context.WithCancel(t.Context())
	half := io.MultiReader(bytes.NewReader(file[:len(file)/2]), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil }), bytes.NewReader(file[len(file)/2:]))
	if _, err := moving.Stage(ctx, to.DB, half, nil); err == nil {
		t.Error("it was taken in")
	}
	to.wantNothing(t)
}

// keysOf returns how many keys a bucket has.
func keysOf(l store.Layout, bucket string) int {
	for _, b := range l.Buckets {
		if b.Name == bucket {
			return b.Keys
		}
	}
	return 0
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
