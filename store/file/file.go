// Package file opens a database file of bbolt and looks after it: its lock, its pages, the
// room on its disk, its backups, and what takes its place.
//
// It knows the format of bbolt's pages and which files lie beside a database. It must not
// know a bucket, a record or a schema: who opens a file says how it is made ready, and
// checks a copy.
package file

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/store/durable"
)

// What can be wrong with a database file, for errors.Is.
var (
	ErrLocked  = errors.New("in use by another process")
	ErrDamaged = errors.New("damaged")
	ErrLost    = fmt.Errorf("%w: it is missing or empty", ErrDamaged) // and was not before
	ErrNoRoom  = errors.New("not enough room on the disk")            // for a copy
)

// Damaged returns an error that wraps ErrDamaged.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

// GrowStep is how many bytes the file grows by, at the cost of a sync: with 50 networks a few
// times an hour until retention is reached.
const GrowStep = 1 << 16

// Options say where a file is and how it is opened. All but MaxSize, MinFree and Beside
// are to be given.
type Options struct {
	Path        string // its directory is made when missing
	Now         func() time.Time
	Logger      *slog.Logger
	LockTimeout time.Duration // how long to wait for another process
	MmapSize    int           // bytes of address space mapped at start
	MaxSize     int           // bytes that the file may grow to; 0: unlimited
	MinFree     int64         // bytes of the disk that are left to others; 0: none
	Beside      []string      // what a former run leaves: where it or a backup is there, a missing or empty file is ErrLost
	Candidate   bool          // the file is a copy that is being checked
	Keep        func() string // name of a backup that stays though it is older than the last ones, "" for none; nil: none

	Measure func(directory string) (int64, error) // bytes free at a directory; nil: FreeBytes
}

// File is an open database file. Its methods may be called concurrently.
type File struct {
	Bolt      *bolt.DB
	IsUnclean bool // the process that held it before ended without closing it

	isNew   bool // it was made
	path    string
	keep    func() string
	now     func() time.Time
	logger  *slog.Logger
	handle  *os.File // that bolt writes to and that holds the lock
	readers readers
	writes  writes
	backing sync.Mutex // held while a backup is made
	space   *space

	failOnce sync.Once
	failed   chan struct{}
	failure  error // set before failed is closed
}

// Open opens the file at o.Path, or makes one, verifies every page and calls prepare with
// it. A new file has its name afterwards: a power cut leaves none, or one that is prepared.
func Open(o Options, prepare func(*File) error) (*File, error) {
	if err := makeDirectory(filepath.Dir(o.Path)); err != nil {
		return nil, err
	}
	if err := lost(o); err != nil {
		return nil, err
	}
	handle, isNew, err := openLocked(o)
	if err != nil {
		return nil, err
	}
	if !isNew && !o.Candidate { // what an update of the file has left that was cut off
		if err := errors.Join(Remove(NewPath(o.Path)), Remove(SalvagePath(o.Path))); err != nil {
			return nil, errors.Join(err, handle.Close())
		}
	}
	f := &File{
		isNew: isNew, IsUnclean: !isNew && unclean(o.Path),
		path: o.Path, keep: o.Keep, now: o.Now, logger: o.Logger, handle: handle, space: newSpace(o), failed: make(chan struct{}),
	}
	f.writes.since = motion.TimeOf(o.Now())
	if err := f.start(o, prepare); err != nil {
		_ = handle.Close() // bbolt may have closed it
		return nil, err
	}
	return f, nil
}

// start verifies, maps and prepares the locked file. It turns a panic of bbolt, which is
// how it meets damage, into an error.
func (f *File) start(o Options, prepare func(*File) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if met := recover(); met != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, met)
			if f.Bolt != nil {
				err = errors.Join(err, f.abandon()) // its mapping holds the lock
			}
		}
	}()
	if !f.isNew {
		if err := verify(f.handle); err != nil {
			return err
		}
	}
	f.Bolt, err = bolt.Open(f.handle.Name(), 0o600, &bolt.Options{
		Timeout:         o.LockTimeout,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: o.MmapSize,
		MaxSize:         o.MaxSize,
		OpenFile:        f.opener(),
	})
	if err != nil {
		return fmt.Errorf("map the file: %w", err)
	}
	f.Bolt.AllocSize = GrowStep
	err = prepare(f)
	if err == nil && f.isNew {
		err = f.name()
	}
	if err == nil {
		err = writePID(f.path)
	}
	if err != nil {
		return errors.Join(err, f.Bolt.Close())
	}
	return nil
}

// opener returns how bbolt opens files: at first it gets the handle that is
// locked and verified. Later, to copy the database, it asks for the name the
// file had then, which a new file has changed since.
func (f *File) opener() func(string, int, os.FileMode) (*os.File, error) {
	first := true
	return func(name string, flag int, mode os.FileMode) (*os.File, error) {
		if first {
			first = false
			return f.handle, nil
		}
		if name == f.handle.Name() {
			name = f.path
		}
		return os.OpenFile(name, flag, mode)
	}
}

// name gives a new file its name.
func (f *File) name() error {
	if err := os.Rename(f.handle.Name(), f.path); err != nil {
		return fmt.Errorf("name the new file: %w", err)
	}
	return durable.SyncDirectory(filepath.Dir(f.path))
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Size returns the length of the file, 0 when it cannot be told.
func (f *File) Size() int64 {
	info, err := f.handle.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// Close waits for open transactions and releases the file. It must be called once, when
// nothing uses the file any more. After a failed commit the process id stays beside the
// file, so that the next start knows.
func (f *File) Close() error {
	if f.Err() != nil {
		return f.abandon()
	}
	err := removePID(f.path)
	if closed := f.Bolt.Close(); closed != nil {
		err = errors.Join(err, fmt.Errorf("close %s: %w", f.path, closed))
	}
	return err
}

// abandonTime is how long closing a failed database may take.
const abandonTime = 2 * time.Second

// abandon closes a file that has failed. A panic may have left a lock of bbolt held:
// then only the lock of the file is released, and the process ends with the rest.
func (f *File) abandon() error {
	closed := make(chan error, 1)
	go func() { closed <- f.Bolt.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(abandonTime):
		return f.handle.Close()
	}
}

// Stats say what a file costs the disk.
type Stats struct {
	Since   motion.Time `json:"since"`   // when the database was opened
	Commits int64       `json:"commits"` // since then
	Bytes   int64       `json:"bytes"`   // written since then, whole pages
	Syncs   int64       `json:"syncs"`   // fdatasync and fsync calls since then
	Size    int64       `json:"size"`    // of the file, bytes
	Free    int64       `json:"free"`    // of the file system, bytes that the process may use
}

// Stats returns what the file costs the disk.
func (f *File) Stats() (stats Stats, err error) {
	f.writes.mu.Lock()
	stats = Stats{Since: f.writes.since, Commits: f.writes.commits, Bytes: f.writes.bytes, Syncs: f.writes.syncs}
	f.writes.mu.Unlock()
	stats.Size = f.Size()
	stats.Free, err = FreeBytes(filepath.Dir(f.path))
	return stats, err
}

// writes counts what was written since the database was opened.
type writes struct {
	mu                    sync.Mutex
	since                 motion.Time
	commits, bytes, syncs int64
}

// count adds one commit: bbolt writes and syncs the pages, then the meta page, and
// syncs a third time when it has made the file longer.
func (w *writes) count(pages int64, pageSize int, grew bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits++
	w.bytes += pages + int64(pageSize)
	w.syncs += 2
	if grew {
		w.syncs++
	}
}

// wiped adds free pages that were overwritten, and their sync.
func (w *writes) wiped(bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes += bytes
	w.syncs++
}
