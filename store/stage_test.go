package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/home"
)

// inhabited makes a database with a home, its owner and a guest, and an event.
func inhabited(t *testing.T, path string, at motion.Time) {
	t.Helper()
	options := testOptions(path)
	options.Now = func() time.Time { return at.Std() }
	db, err := open(options, migrations())
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "a41f"})
		if err != nil {
			return err
		}
		h, err := tx.CreateHome(home.Home{ExternalID: n.ID, Name: "Garden lane"})
		if err != nil {
			return err
		}
		for address, role := range map[string]home.Role{"owner@example.com": home.OwnerRole, "guest@example.com": home.MemberRole} {
			u, err := tx.CreateUser(home.User{Email: address, Sub: address})
			if err == nil {
				_, err = tx.CreateMembership(home.Membership{Home: h.ID, User: u.ID, Role: role})
			}
			if err != nil {
				return err
			}
		}
		_, _, err = tx.AddEvent(motion.Event{NetworkID: n.ID, TS: at + 100, Event: motion.MotionDetectedEvent}, "")
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestStagedBackupTellsWhoseItIsAndOfWhen(t *testing.T) {
	t.Parallel()
	const at = motion.Time(1700000000)
	source := filepath.Join(t.TempDir(), "source.db")
	inhabited(t, source, at)
	for name, c := range map[string]struct{ now, newest motion.Time }{
		"later":                          {at + 1e6, at + 100},
		"where the clock is behind that": {at + 50, at},
		"where the clock is not set":     {1000, 0},
	} {
		options := testOptions(filepath.Join(t.TempDir(), "upload"))
		options.Now = func() time.Time { return c.now.Std() }
		found, err := Stage(t.Context(), options, sealed(t, source))
		info, statErr := os.Stat(options.Path)
		if err := errors.Join(err, statErr); err != nil {
			t.Fatal(err)
		}
		want := Contents{
			InstalledAt: at, NewestAt: c.newest, Size: info.Size(), Networks: 1, Users: 2,
			Homes: []string{"Garden lane"}, Owners: []string{"owner@example.com"},
		}
		if !reflect.DeepEqual(found, want) {
			t.Errorf("%s: staged %+v, want %+v", name, found, want)
		}
	}
}

func TestStagedBackupTakesThePlaceOfTheDatabase(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	source, options := filepath.Join(directory, "source.db"), testOptions(filepath.Join(directory, "sensegate.db"))
	inhabited(t, source, 1700000000)
	openAndClose(t, options, migrations())
	staging := options
	staging.Path = filepath.Join(directory, "upload")
	if _, err := Stage(t.Context(), staging, sealed(t, source)); err != nil {
		t.Fatal(err)
	}
	aside := ReplacedPath(options.Path, time.Now())
	if err := os.Link(options.Path, aside); err != nil { // as a power cut leaves it
		t.Fatal(err)
	}
	done, err := Place(t.Context(), options, staging.Path, aside)
	if err != nil || done.Networks != 1 || done.Aside != aside {
		t.Errorf("placed %+v, %v; want one network and the former database as %s", done, err, aside)
	}
	if _, err := os.Stat(staging.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the staged file is there: %v", err)
	}
	if got, err := os.ReadFile(options.Path); err != nil || len(got) == 0 {
		t.Errorf("the database has %d bytes, %v", len(got), err)
	}
}

func TestRefusedBackupIsNotStagedAndItsErrorSaysWhy(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	file := func(name string) string { return filepath.Join(directory, name) }
	inhabited(t, file("whole.db"), 1700000000)
	openAndClose(t, testOptions(file("newer.db")), withStep(nil))
	etcd, err := bolt.Open(file("etcd.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = etcd.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("meta"))
		if err != nil {
			return err
		}
		return b.Put([]byte("consistent_index"), []byte("12345678"))
	})
	if err := errors.Join(err, etcd.Close()); err != nil {
		t.Fatal(err)
	}
	raw := func(name string) []byte {
		data, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	backup := func(name string) []byte {
		data, err := io.ReadAll(sealed(t, file(name)))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	whole := backup("whole.db")
	changed := bytes.Clone(whole)
	changed[len(changed)/2] ^= 1
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":                          {nil, ErrDamaged},
		"a changed byte":                   {changed, ErrDamaged},
		"a cut end":                        {whole[:len(whole)-1], ErrDamaged},
		"half of it":                       {whole[:len(whole)/2], ErrDamaged},
		"the database, and no backup":      {raw("whole.db"), ErrDamaged},
		"a database of another program":    {raw("etcd.db"), ErrForeign},
		"a database of a newer program":    {backup("newer.db"), ErrNewer},
		"another program's, with our seal": {backup("etcd.db"), ErrForeign},
	} {
		options := testOptions(filepath.Join(t.TempDir(), "upload"))
		if _, err := Stage(t.Context(), options, bytes.NewReader(c.data)); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if left, err := os.ReadDir(filepath.Dir(options.Path)); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left (%v)", name, left, err)
		}
	}
}
