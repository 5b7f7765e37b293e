package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"sensegate/motion/fault"
	"sensegate/store/file"
)

// What can be wrong with a database file, for errors.Is. The errors that Open
// returns are sentences for the person who runs the program: they name the file
// and say what to do.
var (
	ErrLocked  = file.ErrLocked
	ErrDamaged = file.ErrDamaged
	ErrLost    = file.ErrLost // and was not before
	ErrNoRoom  = file.ErrNoRoom
	ErrNewer   = errors.New("written by a newer program")
	ErrForeign = errors.New("not one of sensegate")
)

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
	Keep        func() string    // name of a backup that stays though 7 newer ones are there, "" for none; nil: none
	Beside      []string         // files and directories that a former run leaves: where one of them, or a backup, is there, a missing or empty database is ErrLost

	// Migrate is called when a database is to be brought to the schema of this program, which migrate does, with
	// what backs it up and returns the path of that. When it returns an error, Open fails. nil: a backup is made
	// first, but without room for it the migration goes on, as it is one transaction and refusing to start would
	// help nobody.
	Migrate func(backUp func() (path string, err error), migrate func() error) error

	candidate bool                                  // the file is a copy that is being checked
	measure   func(directory string) (int64, error) // bytes free at a directory; nil: as the system says
	aside     string                                // what a restore calls the former file; "" = .replaced and the time
}

// file returns the options as the package of files takes them.
func (o Options) file() file.Options {
	return file.Options{
		Path: o.Path, Now: o.Now, Logger: o.Logger, LockTimeout: o.LockTimeout, MmapSize: o.MmapSize,
		MaxSize: o.MaxSize, MinFree: o.MinFree, Beside: o.Beside, Candidate: o.candidate, Keep: o.Keep, Measure: o.measure,
	}
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
		o.MaxSize = largest32
	}
	return o
}

// largest32 is how many bytes a file may grow to on 32 bit, where it is mapped as a whole.
const largest32 = 512 << 20

// Largest returns how many bytes a database may have by itself.
func Largest() int64 {
	if strconv.IntSize == 32 {
		return largest32
	}
	return math.MaxInt64
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
	db := &DB{now: o.Now, logger: o.Logger, retention: o.Retention, wrapped: o.Migrate, deleted: make(chan struct{}, 1)}
	_, err := file.Open(o.file(), func(f *file.File) error {
		db.file, db.share = f, newEventShare(filepath.Dir(o.Path), o.EventShare)
		return db.prepare(steps, o.candidate)
	})
	if err != nil {
		return nil, err
	}
	return db, nil
}

// prepare migrates the opened file and notes how the last run ended. candidate: it is a
// copy that is being checked.
func (db *DB) prepare(steps []migration, candidate bool) error {
	if err := db.migrate(steps, candidate); err != nil {
		return err
	}
	if err := db.requireBuckets(steps); err != nil || candidate {
		return err
	}
	db.file.LookAtSpace()
	if err := db.dropStaged(context.Background()); err != nil && fault.KindOf(err) != fault.Unavailable {
		return err
	}
	return db.noteHealth(db.file.IsUnclean, nil)
}

// sentence says what went wrong with opening the database at path and what to
// do about it.
func sentence(path string, err error) error {
	say := func(format string, args ...any) error {
		return fmt.Errorf("database %s "+format, append([]any{path}, args...)...)
	}
	switch {
	case errors.Is(err, ErrLocked):
		return say("is %w%s: stop that one first, or use another state directory", ErrLocked, file.Holder(path))
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
