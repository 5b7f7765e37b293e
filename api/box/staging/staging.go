// Package staging carries backups out of the appliance and back in: it sends a copy of the
// database, encrypted or not, keeps one uploaded backup that was found whole, and puts that in
// place of the database when the appliance starts anew.
//
// It knows the files of one directory beside the database, which outlive a power cut. It must
// not know HTTP, who may restore, how the appliance is started anew, or what a record means.
//
// # On disk
//
// The directory is restore in the state directory; it is made when it is needed.
//
//	upload        a backup that is being received and checked; a start removes it
//	staged.json   the one that is whole: record. It names its file
//	ID.db         that file, a database of bbolt like the appliance's own
//	order.json    it is to take the database's place: order
//	last.json     what came of the last order: Outcome
//
// A file of JSON is replaced in one step. staged.json is written after ID.db is complete, and
// order.json says all that staged.json does, so that each step of a restore leaves the former
// database or the restored one, and the next start goes on.
package staging

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/durable"
)

// Kept is how long a staged backup waits for somebody to apply it.
const Kept = 24 * time.Hour

// lookInterval is the time between two looks at whether that is over.
const lookInterval = 10 * time.Minute

// The names of files in the directory.
const (
	uploadName = "upload"
	stagedName = "staged.json"
	orderName  = "order.json"
	lastName   = "last.json"
)

// Directory returns where a state directory has what is staged.
func Directory(stateDir string) string { return filepath.Join(stateDir, "restore") }

// Options say what a Staging works on. Free, Now and Log may be left out.
type Options struct {
	DB        *store.DB
	Directory string // see the package's function of that name
	MinFree   int64  // bytes of the disk that stay free
	MaxSize   int64  // bytes that an upload may have; 0: see Staging.Stage

	Free func(directory string) (int64, error) // bytes free; nil: as the system says
	Now  func() time.Time                      // nil: time.Now
	Log  *slog.Logger                          // nil: nothing is logged
}

// Person is who stages or applies a backup. The account is one of the database that was in
// use then: in the restored one its id may be that of somebody else.
type Person struct {
	Kind   string `json:"kind"`              // account, terminal or box
	UserID int64  `json:"user_id,omitempty"` // of an account
	Name   string `json:"name"`              // e-mail address of the account, or the user of the system
	From   string `json:"from,omitempty"`    // IP address; "": the appliance itself
}

// Staged is a backup that was uploaded, found whole and can be applied.
type Staged struct {
	store.Contents
	UploadedAt motion.Time `json:"uploaded_at"`
	By         Person      `json:"by"`
}

// record is what staged.json says.
type record struct {
	ID     string `json:"id"`     // of the upload: 26 letters and digits
	SHA256 string `json:"sha256"` // of the file, hex
	Staged
}

// file names the database of a staged backup.
func (r record) file() string { return r.ID + ".db" }

// Staging keeps the staged backup of an appliance. Its methods may be called concurrently.
type Staging struct {
	o        Options
	deriving sync.Mutex // held while a key is made of a passphrase, which takes memory
	upload   sync.Mutex // held by an upload

	mu      sync.Mutex   // held while the directory is changed, but for what an upload writes
	starts  func() error // why the appliance would not start again, nil when it would
	restart func()       // nil: nobody would start the appliance anew
	kept    time.Time    // when this process staged the backup; zero: another one has
}

// Restartable lets Apply work: restart asks the appliance to stop and start anew, and returns
// at once; starts returns why it would not start again, such as a mistake that its
// configuration has by now.
func (s *Staging) Restartable(starts func() error, restart func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts, s.restart = starts, restart
}

// New returns the Staging of a running appliance, after Place. What an upload has left that
// was cut off, and a backup that was staged too long ago, are removed.
func New(o Options) *Staging {
	if o.Free == nil {
		o.Free = store.FreeBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Staging{o: o}
	if err := errors.Join(s.expire(), s.clean()); err != nil {
		o.Log.Warn("leftovers of backups not removed", "err", err)
	}
	return s
}

// Run drops the staged backup when its time is over, until ctx ends.
func (s *Staging) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := s.expire(); err != nil {
			s.o.Log.Warn("staged backup not dropped", "err", err)
		}
	}
}

// expire drops a backup that was staged too long ago, by the clock that runs on when the time
// is set, or after a restart by that time. While it is behind the upload, it is wrong, and
// nothing is dropped.
func (s *Staging) expire() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	staged, err := read[record](s.o.Directory, stagedName)
	if err != nil || staged == nil {
		return err
	}
	since := staged.UploadedAt.Std()
	if !s.kept.IsZero() {
		since = s.kept
	}
	if s.o.Now().Sub(since) < Kept {
		return nil
	}
	if s.ordered() != nil {
		return nil
	}
	s.o.Log.Info("staged backup dropped: nobody has applied it for a day")
	return remove(s.o.Directory, stagedName, staged.file())
}

// clean removes what belongs to nothing.
func (s *Staging) clean() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := os.ReadDir(s.o.Directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	staged, also := read[record](s.o.Directory, stagedName)
	if err := errors.Join(err, also); err != nil {
		return err
	}
	keep := []string{stagedName, orderName, lastName}
	if staged != nil {
		keep = append(keep, staged.file())
	}
	if order, err := read[order](s.o.Directory, orderName); err == nil && order != nil {
		keep = append(keep, order.file())
	}
	var left []string
	for _, entry := range entries {
		if name := entry.Name(); !slices.Contains(keep, name) && !entry.IsDir() {
			left = append(left, name)
		}
	}
	return remove(s.o.Directory, left...)
}

// Staged returns the backup that can be applied, nil when there is none.
func (s *Staging) Staged() (*Staged, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	staged, err := read[record](s.o.Directory, stagedName)
	if err != nil || staged == nil {
		return nil, err
	}
	return &staged.Staged, nil
}

// Drop removes the staged backup; that there is none is no error. One that is being put in
// place is a Conflict.
func (s *Staging) Drop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	staged, err := read[record](s.o.Directory, stagedName)
	if err != nil || staged == nil {
		return err
	}
	if err := s.ordered(); err != nil {
		return err
	}
	return remove(s.o.Directory, stagedName, staged.file())
}

// ordered returns a Conflict when the staged backup is to take the database's place.
func (s *Staging) ordered() error {
	if _, err := os.Lstat(filepath.Join(s.o.Directory, orderName)); err != nil {
		return nil
	}
	return &fault.Error{Kind: fault.Conflict, Code: "restoring", Message: "a backup is being put in place: wait until the appliance has started anew"}
}

// read returns what a file of JSON says, nil when there is none. One that cannot be read is
// left out, as if it were not there: it was written whole, so the disk has changed it.
func read[T any](directory, name string) (*T, error) {
	data, err := os.ReadFile(filepath.Join(directory, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	value := new(T)
	if json.Unmarshal(data, value) != nil {
		return nil, nil
	}
	return value, nil
}

// write makes a file of JSON durable in the directory, which is made when it is missing.
func write(directory, name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := makeDirectory(directory); err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(directory, name), data)
}

// makeDirectory makes the directory, for its owner alone.
func makeDirectory(directory string) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	return durable.SyncDirectory(filepath.Dir(directory))
}

// remove removes files that may be there, durably.
func remove(directory string, names ...string) error {
	for _, name := range names {
		if err := os.Remove(filepath.Join(directory, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	return durable.SyncDirectory(directory)
}
