package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/store/durable"
)

// What can be wrong with a database file, for errors.Is. The errors that Open
// returns are sentences for the person who runs the program: they name the file
// and say what to do.
var (
	ErrLocked  = errors.New("in use by another process")
	ErrDamaged = errors.New("damaged")
	ErrNewer   = errors.New("written by a newer program")
	ErrLost    = fmt.Errorf("%w: it is missing or empty", ErrDamaged) // and was not before
)

// growStep is how many bytes the file grows by, at the cost of a sync: a few times a day
// until retention is reached.
const growStep = 1 << 18

// Options say where the database is and how it is opened.
type Options struct {
	Path        string           // of the database file; its directory is made when missing
	Now         func() time.Time // nil: time.Now
	Logger      *slog.Logger     // nil: nothing is logged
	LockTimeout time.Duration    // how long to wait for another process; 0: 3 s
	MmapSize    int              // bytes of address space mapped at start, more than the file will need; 0: 128 MiB (32 bit: 64 MiB)
	MaxSize     int              // bytes that the file may grow to; 0: unlimited (32 bit: 512 MiB)
	MinFree     int64            // bytes of the disk that are left to others: with less free nothing is stored; 0: none. See DB.Watch
	Retention   Retention        // what is kept how long; zero: all of it for ever
	EventShare  int64            // bytes of events that a network may have before its oldest go, a sixteenth of the disk at most; 0: any number
	Beside      []string         // files and directories that a former run leaves: where one of them, or a backup, is there, a missing or empty database is ErrLost

	candidate bool   // the file is a copy that is being checked
	aside     string // what a restore calls the former file; "" = .replaced and the time
}

// withDefaults fills in what was left out.
func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = 3 * time.Second
	}
	if o.MmapSize == 0 {
		o.MmapSize = 64 << 20
		if strconv.IntSize == 64 {
			o.MmapSize = 128 << 20
		}
	}
	if o.MaxSize == 0 && strconv.IntSize == 32 {
		o.MaxSize = 512 << 20
	}
	return o
}

// Open opens the database at o.Path, makes it when there is none, and migrates
// it to the schema of this program. Every page is verified before the file is
// used, so that damage is reported here and not met later. A database that was there
// before and is missing or empty now is not made anew: that is ErrLost. The caller closes
// the database.
func Open(o Options) (*DB, error) {
	db, err := open(o.withDefaults(), migrations())
	if err != nil {
		return nil, sentence(o.Path, err)
	}
	return db, nil
}

// open is Open with a given list of migrations.
func open(o Options, steps []migration) (*DB, error) {
	if err := makeDirectory(filepath.Dir(o.Path)); err != nil {
		return nil, err
	}
	if err := lost(o); err != nil {
		return nil, err
	}
	file, isNew, err := openLocked(o)
	if err != nil {
		return nil, err
	}
	if !isNew && !o.candidate { // what an update of the file has left that was cut off
		if err := errors.Join(remove(newPath(o.Path)), remove(salvagePath(o.Path))); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	db := &DB{path: o.Path, now: o.Now, logger: o.Logger, retention: o.Retention, candidate: o.candidate, file: file, deleted: make(chan struct{}, 1), failed: make(chan struct{})}
	db.writes.since, db.space = motion.TimeOf(o.Now()), newSpace(o.Path, o.MinFree)
	db.share = newEventShare(filepath.Dir(o.Path), o.EventShare)
	if err := db.start(o, steps, isNew); err != nil {
		_ = file.Close() // bbolt may have closed it
		return nil, err
	}
	return db, nil
}

// start verifies and maps the locked file and brings it to the last schema. It
// turns a panic of bbolt, which is how it meets damage, into an error.
func (db *DB) start(o Options, steps []migration, isNew bool) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if met := recover(); met != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, met)
		}
	}()
	if !isNew {
		if err := verifyPages(db.file); err != nil {
			return err
		}
	}
	db.bolt, err = bolt.Open(db.file.Name(), 0o600, &bolt.Options{
		Timeout:         o.LockTimeout,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: o.MmapSize,
		MaxSize:         o.MaxSize,
		OpenFile:        db.opener(),
	})
	if err != nil {
		return fmt.Errorf("map the file: %w", err)
	}
	db.bolt.AllocSize = growStep
	if err := db.prepare(steps, isNew); err != nil {
		return errors.Join(err, db.bolt.Close())
	}
	return nil
}

// opener returns how bbolt opens files: at first it gets the handle that is
// locked and verified. Later, to copy the database, it asks for the name the
// file had then, which a new file has changed since.
func (db *DB) opener() func(string, int, os.FileMode) (*os.File, error) {
	first := true
	return func(name string, flag int, mode os.FileMode) (*os.File, error) {
		if first {
			first = false
			return db.file, nil
		}
		if name == db.file.Name() {
			name = db.path
		}
		return os.OpenFile(name, flag, mode)
	}
}

// prepare migrates the mapped file and, when it is new, gives it its name.
func (db *DB) prepare(steps []migration, isNew bool) error {
	if err := db.migrate(steps); err != nil {
		return err
	}
	if err := db.requireBuckets(steps); err != nil {
		return err
	}
	if isNew {
		if err := os.Rename(db.file.Name(), db.path); err != nil {
			return fmt.Errorf("name the new file: %w", err)
		}
		if err := durable.SyncDirectory(filepath.Dir(db.path)); err != nil {
			return err
		}
	}
	if !db.candidate {
		db.lookAtSpace()
		if err := db.noteHealth(!isNew && unclean(db.path), nil); err != nil {
			return err
		}
	}
	return writePID(db.path)
}

// openLocked returns the database file with its lock held. A file that does
// not exist is made under another name, which it keeps until it is complete: a
// power cut leaves either no database or a whole one.
func openLocked(o Options) (file *os.File, isNew bool, err error) {
	file, err = os.OpenFile(o.Path, os.O_RDWR, 0)
	if err == nil {
		return lockedAt(o.Path, file, o.LockTimeout)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	file, err = os.OpenFile(o.Path+".new", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	if file, _, err = locked(file, true, o.LockTimeout); err != nil {
		return nil, false, err
	}
	if _, err := os.Lstat(o.Path); err == nil {
		return nil, false, errors.Join(ErrLocked, file.Close()) // another process was faster
	}
	if err := file.Truncate(0); err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	return file, true, nil
}

// locked locks file, or closes it.
func locked(file *os.File, isNew bool, timeout time.Duration) (*os.File, bool, error) {
	if err := lock(file, timeout); err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	return file, isNew, nil
}

// lockedAt locks the file that was opened at path, or closes it. Whoever held the lock
// may have put another file in its place meanwhile: then this is not the database.
func lockedAt(path string, file *os.File, timeout time.Duration) (*os.File, bool, error) {
	if _, _, err := locked(file, false, timeout); err != nil {
		return nil, false, err
	}
	opened, err := file.Stat()
	if err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	if present, err := os.Stat(path); err != nil || !os.SameFile(opened, present) {
		return nil, false, errors.Join(ErrLocked, err, file.Close())
	}
	return file, false, nil
}

// makeDirectory makes the directory and those above it, and makes their names
// durable.
func makeDirectory(directory string) error {
	info, err := os.Stat(directory)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "open", Path: directory, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(directory)
	if err := makeDirectory(parent); err != nil {
		return err
	}
	if err := os.Mkdir(directory, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncDirectory(parent)
}

// sentence says what went wrong with opening the database at path and what to
// do about it.
func sentence(path string, err error) error {
	say := func(format string, args ...any) error {
		return fmt.Errorf("database %s "+format, append([]any{path}, args...)...)
	}
	switch {
	case errors.Is(err, ErrLocked):
		return say("is %w%s: stop that one first, or use another state directory", ErrLocked, holder(path))
	case errors.Is(err, ErrLost):
		return say("is %w: restore a backup (sensegate restore FILE); to begin anew on purpose, and lose accounts, settings and history, move everything in %s aside first", err, filepath.Dir(path))
	case errors.Is(err, ErrDamaged):
		return say("is damaged: sensegate serve salvages what can be read, with the newest whole backup (in %s) for the rest; where that is too little, restore one from elsewhere (sensegate restore FILE); to begin anew on purpose, and lose accounts, settings and history, move everything in %s aside first (%w)", BackupDirectory(path), filepath.Dir(path), err)
	case errors.Is(err, ErrNewer):
		return say("was %w: run the newer program, or restore the backup from before its update (in %s)", err, BackupDirectory(path))
	case errors.Is(err, syscall.EISDIR):
		return say("is a directory: name a file (%w)", err)
	case errors.Is(err, syscall.ENOTDIR):
		return say("cannot be opened: something on the way to it is a file, not a directory (%w)", err)
	case errors.Is(err, fs.ErrPermission):
		return say("cannot be opened: give the user that runs sensegate the right to read and write it and its directory (%w)", err)
	case errors.Is(err, syscall.EROFS):
		return say("cannot be opened: the file system is read-only; use a state directory that can be written (%w)", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return say("cannot be opened: the disk is full; make room (%w)", err)
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EOPNOTSUPP):
		return say("cannot be opened: its file system cannot lock or map files; use a state directory on a local disk (%w)", err)
	case errors.Is(err, syscall.ENOMEM):
		return say("cannot be mapped: there is not enough address space or memory (%w)", err)
	}
	return say("cannot be opened: %w", err)
}
