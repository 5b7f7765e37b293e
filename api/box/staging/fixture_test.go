package staging

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"sensegate/api/box/passphrase"
	"sensegate/motion"
	"sensegate/store"
)

const (
	words  = "correct horse battery staple"
	minute = time.Minute
)

// jo stages and applies.
var jo = Person{Kind: "account", UserID: 1, Name: "jo@example.com", From: "192.168.1.20"}

// stand is a state directory with an open database and its Staging.
type stand struct {
	*Staging
	t        *testing.T
	dir      string
	db       *store.DB
	now      time.Time
	free     int64 // bytes, as the Staging is told
	restarts int
	starts   error // with which it would not start
}

// newStand makes a state directory whose database has the network.
func newStand(t *testing.T, guardian string) *stand {
	t.Helper()
	s := &stand{t: t, dir: t.TempDir(), now: time.Now(), free: 1 << 40}
	s.open()
	err := s.db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.CreateNetwork(motion.Network{GuardianID: guardian})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *stand) database() string { return filepath.Join(s.dir, "sensegate.db") }

// options are those with which the database is opened.
func (s *stand) options() store.Options {
	return store.Options{Path: s.database(), LockTimeout: time.Millisecond, Now: func() time.Time { return s.now }}
}

// open opens the database, as a start does, with a Staging.
func (s *stand) open() {
	s.t.Helper()
	db, err := store.Open(s.options())
	if err != nil {
		s.t.Fatal(err)
	}
	s.db = db
	s.Staging = New(Options{
		DB: db, Directory: Directory(s.dir), MinFree: 1 << 20, MaxSize: 64 << 20, Now: func() time.Time { return s.now },
		Free: func(string) (int64, error) { return s.free, nil },
	})
	s.Restartable(func() error { return s.starts }, func() { s.restarts++ })
}

// startAgain closes the database and starts as the appliance does.
func (s *stand) startAgain() {
	s.t.Helper()
	if err := s.db.Close(); err != nil {
		s.t.Fatal(err)
	}
	if err := Place(s.t.Context(), Directory(s.dir), s.options()); err != nil {
		s.t.Error(err)
	}
	s.open()
}

// guardian names the network of the database.
func (s *stand) guardian() string {
	s.t.Helper()
	networks, err := store.Read(s.t.Context(), s.db, (*store.Tx).Networks)
	if err != nil || len(networks) != 1 {
		s.t.Fatalf("networks %v, %v", networks, err)
	}
	return networks[0].GuardianID
}

// backup returns a backup of the database.
func (s *stand) backup(words string) []byte {
	s.t.Helper()
	d, err := s.Backup(s.t.Context(), words)
	if err != nil {
		s.t.Fatal(err)
	}
	var out bytes.Buffer
	n, err := d.WriteTo(&out)
	if err := errors.Join(err, d.Close()); err != nil || n != d.Size {
		s.t.Fatalf("%d bytes were sent, %d were said: %v", n, d.Size, err)
	}
	return out.Bytes()
}

// stage uploads a backup.
func (s *stand) stage(data []byte) Staged {
	s.t.Helper()
	staged, err := s.Stage(s.t.Context(), Upload{Body: bytes.NewReader(data), By: jo})
	if err != nil {
		s.t.Fatal(err)
	}
	return staged
}

// apply orders the restore.
func (s *stand) apply() {
	s.t.Helper()
	if err := s.Apply(jo, 0); err != nil {
		s.t.Fatal(err)
	}
}

// outcome returns what came of the last order.
func (s *stand) outcome() Outcome {
	s.t.Helper()
	last, err := s.Last()
	if err != nil || last == nil {
		s.t.Fatalf("outcome %v, %v", last, err)
	}
	return *last
}

// files names what lies in the directory.
func (s *stand) files() (list []string) {
	s.t.Helper()
	entries, err := os.ReadDir(Directory(s.dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}

// newer returns a backup as a program with a schema from the future makes it.
func newer(t *testing.T, backup []byte) []byte {
	t.Helper()
	const seal = len("sensegate backup 1\n") + sha256.Size
	path := filepath.Join(t.TempDir(), "newer.db")
	if err := os.WriteFile(path, backup[:len(backup)-seal], 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte("99")) })
	pages, readErr := os.ReadFile(path)
	if err := errors.Join(err, db.Close(), readErr); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(pages)
	return append(append(pages, "sensegate backup 1\n"...), sum[:]...)
}

// encryptedWith returns a text that is encrypted with a passphrase.
func encryptedWith(t *testing.T, words string, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := passphrase.Encrypt(&out, words)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
