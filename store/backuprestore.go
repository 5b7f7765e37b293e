package store

import (
	"cmp"
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
	"sensegate/store/durable"
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
	done, err := restore(ctx, o.withDefaults(), from)
	switch {
	case err == nil:
		return done, nil
	case errors.Is(err, ErrLocked):
		return done, sentence(o.Path, err)
	case errors.Is(err, ErrDamaged):
		return done, fmt.Errorf("the backup is damaged or no backup, nothing was replaced: %w", err)
	case errors.Is(err, ErrNewer):
		return done, fmt.Errorf("the backup was %w: restore it with that program; nothing was replaced", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return done, fmt.Errorf("the disk is full, nothing was replaced: %w", err)
	}
	return done, fmt.Errorf("restore: %w", err)
}

func restore(ctx context.Context, o Options, from io.Reader) (done Restored, err error) {
	if err := makeDirectory(filepath.Dir(o.Path)); err != nil {
		return done, err
	}
	former, err := os.OpenFile(o.Path, os.O_RDWR, 0)
	switch {
	case err == nil:
		defer former.Close() // and with it the lock
		if err := lock(former, o.LockTimeout); err != nil {
			return done, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return done, err
	}
	candidate := newPath(o.Path)
	defer func() {
		if err != nil {
			err = errors.Join(err, remove(candidate))
		}
	}()
	if err := receive(ctx, o, candidate, from); err != nil {
		return done, err
	}
	if done, err = examine(ctx, o, candidate); err != nil {
		return done, err
	}
	if former != nil {
		done.Aside = cmp.Or(o.aside, asidePath(o.Path, "replaced", o.Now()))
	}
	return done, replace(o.Path, candidate, done.Aside)
}

// asidePath names a former database for what became of it and when. The name is free: two
// in a second get a number.
func asidePath(path, what string, at time.Time) string {
	first := fmt.Sprintf("%s.%s-%s", path, what, at.UTC().Format(backupTime))
	for name, n := first, 2; ; name, n = fmt.Sprintf("%s-%d", first, n), n+1 {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}

// newPath names the database at path while it is being made.
func newPath(path string) string { return path + ".new" }

// remove removes a file that may be there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// receive writes a backup to the file at path and verifies its seal. Its lock keeps a
// starting program from making a database there.
func receive(ctx context.Context, o Options, path string, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if file, _, err = locked(file, true, o.LockTimeout); err != nil {
		return err
	}
	err = file.Truncate(0)
	if err == nil {
		_, err = io.Copy(writer{ctx, file}, from)
	}
	if err == nil {
		err = unseal(file)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// examine opens a received database, which migrates it, and checks all of it.
func examine(ctx context.Context, o Options, path string) (done Restored, err error) {
	o.Path, o.candidate = path, true
	db, err := open(o, migrations())
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Check(ctx); err != nil {
		return done, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	done.Size = db.fileSize()
	return done, db.View(ctx, func(tx *Tx) error {
		if done.InstalledAt, err = tx.InstalledAt(); err != nil {
			return err
		}
		done.Networks = tx.bucket(networks.name).Stats().KeyN
		done.Users = tx.bucket(users.name).Stats().KeyN
		done.leftOut.Records = db.unreadable.count()
		done.leftOut.Samples, err = tx.damagedSamples()
		return err
	})
}

// replace gives the candidate the name path, and the file that had it the name aside
// ("" = none is kept). A power cut leaves one of the two at path. The name aside is durable
// before the other one changes hands: without it nothing would name the former file.
func replace(path, candidate, aside string) error {
	if aside != "" {
		err := os.Link(path, aside)
		if err == nil {
			err = durable.SyncDirectory(filepath.Dir(aside))
		}
		if err != nil {
			return fmt.Errorf("keep the former database: %w", err)
		}
	}
	if err := os.Rename(candidate, path); err != nil {
		return fmt.Errorf("name the new database: %w", err)
	}
	return durable.SyncDirectory(filepath.Dir(path))
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
