package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"sensegate/motion"
	"sensegate/store/file"
	"sensegate/store/samples"
)

// Restored says what a restore has done.
type Restored struct {
	InstalledAt motion.Time `json:"installed_at"` // when the restored installation was made
	Networks    int         `json:"networks"`
	Users       int         `json:"users"`
	Size        int64       `json:"size"`            // of the database, bytes
	Aside       string      `json:"aside,omitempty"` // where the former database is now; empty: there was none

	leftOut LeftOut
}

// Restore puts the backup that it reads from in place of the database at o.Path, or
// where there is none. The backup is copied beside the database, brought to the schema
// of this program and checked, every page, index and its seal, before anything is
// replaced. The former database is kept under another name. It is refused while
// another process holds the database, with an error that wraps ErrLocked.
func Restore(ctx context.Context, o Options, from io.Reader) (Restored, error) {
	o = o.withDefaults()
	done, err := restore(ctx, o, func(check func(string) error) (string, error) {
		return file.Restore(ctx, o.file(), o.aside, from, check)
	})
	return done, refusal(o, err)
}

// ReplacedPath names the database at path for when it was replaced. The name is free.
func ReplacedPath(path string, at time.Time) string { return file.AsidePath(path, "replaced", at) }

// Replaced returns the databases at path that were replaced, by the time in their names.
func Replaced(path string) ([]string, error) { return file.Asides(path, "replaced") }

// Place is Restore of the database that Stage has made of a backup: the file at staged, on
// the file system of o.Path, takes the database's place. It is checked again before. The
// former database is kept as aside, of ReplacedPath. When it is refused all stays as it is;
// after a power cut it can be done again.
func Place(ctx context.Context, o Options, staged, aside string) (Restored, error) {
	o = o.withDefaults()
	done, err := restore(ctx, o, func(check func(string) error) (string, error) {
		return file.Place(o.file(), aside, staged, check)
	})
	return done, refusal(o, err)
}

// PutBack puts the backup of that name, which a newer program has made of the database at o.Path before it
// changed that, in its place again: without a copy, and so without room, unless the backups have a file system
// of their own. The newer one is kept aside. What a kill has cut off can be done again. It is refused while another process holds the database, with an error
// that wraps ErrLocked; one that wraps ErrDamaged or fs.ErrNotExist says that the backup is no whole one, or
// gone, and that nothing was replaced.
func PutBack(o Options, backup string) (aside string, err error) {
	o = o.withDefaults()
	path := filepath.Join(file.BackupDirectory(o.Path), filepath.Base(backup))
	aside, err = file.PutBack(o.file(), path)
	switch {
	case errors.Is(err, syscall.EXDEV): // backups have a file system of their own
		return aside, restoreFile(context.Background(), o, path)
	case errors.Is(err, ErrLocked):
		err = sentence(o.Path, err)
	}
	return aside, err
}

// refusal says why a backup was not restored.
func refusal(o Options, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrLocked):
		return sentence(o.Path, err)
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("the backup is damaged or no backup, nothing was replaced: %w", err)
	case errors.Is(err, ErrNewer):
		return fmt.Errorf("the backup was %w: restore it with that program; nothing was replaced", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("the disk is full, nothing was replaced: %w", err)
	}
	return fmt.Errorf("restore: %w", err)
}

// restore has replace put a backup in place of the database, and tells what is in it.
func restore(ctx context.Context, o Options, replace func(check func(string) error) (aside string, err error)) (done Restored, err error) {
	aside, err := replace(func(candidate string) (err error) {
		done, err = examine(ctx, o, candidate)
		return err
	})
	done.Aside = aside
	return done, err
}

// examine opens a received database, which migrates it, and checks all of it.
func examine(ctx context.Context, o Options, path string) (Restored, error) {
	return examineAnd(ctx, o, path, func(*Tx) error { return nil })
}

// examineAnd is examine, and lets look at what was found whole.
func examineAnd(ctx context.Context, o Options, path string, look func(*Tx) error) (done Restored, err error) {
	o.Path, o.candidate = path, true
	db, err := open(o, migrations())
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Check(ctx); err != nil {
		return done, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	done.Size = db.file.Size()
	return done, db.View(ctx, func(tx *Tx) error {
		if done.InstalledAt, err = tx.InstalledAt(); err != nil {
			return err
		}
		done.Networks = tx.bucket(networks.name).Stats().KeyN
		done.Users = tx.bucket(users.name).Stats().KeyN
		done.leftOut.Records = db.unreadable.count()
		if done.leftOut.Samples, err = samples.Damaged(tx.bolt); err != nil {
			return err
		}
		return look(tx)
	})
}

// RestoreLast puts the newest backup that is whole in place of the database at o.Path, as
// Restore does, and returns which one that was. Without one, nothing is replaced and the
// error wraps fs.ErrNotExist.
func RestoreLast(ctx context.Context, o Options) (Backup, error) {
	list, err := Backups(o.Path)
	if err != nil {
		return Backup{}, err
	}
	for _, b := range list {
		err := restoreFile(ctx, o, b.Path)
		switch {
		case err == nil:
			return b, nil
		case !isDamage(err) && !errors.Is(err, ErrNewer):
			return Backup{}, err // it is not the backup that is to blame
		}
		o.withDefaults().Logger.Warn("backup cannot be restored", "path", b.Path, "err", err)
	}
	return Backup{}, fmt.Errorf("find a backup that is whole in %s: %w", BackupDirectory(o.Path), fs.ErrNotExist)
}

// restoreFile restores the backup at path.
func restoreFile(ctx context.Context, o Options, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = Restore(ctx, o, file)
	return err
}

// compactStep is how many bytes of keys and values are copied in one transaction.
const compactStep = 1 << 20

// Compacted says how long the file was and is, in bytes.
type Compacted struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// Compact writes what the database at o.Path holds into a new file without free pages,
// checks that and puts it in place of the old one. It is refused while another process
// holds the database. A power cut leaves one of the two, whole.
func Compact(ctx context.Context, o Options) (done Compacted, err error) {
	db, err := Open(o)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	done.Before = db.file.Size()
	candidate := file.NewPath(o.Path)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("compact %s: %w", o.Path, err), file.Remove(candidate))
		}
	}()
	if err := db.file.CompactTo(candidate, compactStep); err != nil {
		return done, err
	}
	made, err := examine(ctx, o.withDefaults(), candidate)
	if err != nil {
		return done, err
	}
	done.After = made.Size
	return done, file.Replace(o.Path, candidate, "")
}
