package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sensegate/store/durable"
)

// NewPath names the database at path while it is being made.
func NewPath(path string) string { return path + ".new" }

// Remove removes a file that may be there.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// SalvagePath names the file that what can be read of the database at path is copied to.
func SalvagePath(path string) string { return path + ".salvage" }

// AsidePath names a former database for what became of it and when. The name is free: two
// in a second get a number.
func AsidePath(path, what string, at time.Time) string {
	first := fmt.Sprintf("%s.%s-%s", path, what, at.UTC().Format(backupTime))
	for name, n := first, 2; ; name, n = fmt.Sprintf("%s-%d", first, n), n+1 {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}

// Asides returns the files that AsidePath has named, by the time in their names.
func Asides(path, what string) (list []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(path)) // in the order of names
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), filepath.Base(path)+"."+what+"-") {
			list = append(list, filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
	return list, err
}

// Replace gives the candidate the name path, and the file that had it the name aside
// ("" = none is kept). A power cut leaves one of the two at path. The name aside is durable
// before the other one changes hands: without it nothing would name the former file.
func Replace(path, candidate, aside string) error {
	if aside != "" {
		err := os.Link(path, aside)
		if errors.Is(err, fs.ErrExist) && sameFile(path, aside) {
			err = nil // a power cut came after this
		}
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

// sameFile reports whether two paths name one file.
func sameFile(path, other string) bool {
	first, err := os.Stat(path)
	if err != nil {
		return false
	}
	second, err := os.Stat(other)
	return err == nil && os.SameFile(first, second)
}

// Restore puts the backup that it reads from in place of the file at o.Path, or where there
// is none, once check has accepted the copy. The former file is kept under the name aside;
// "" = .replaced and the time. It returns that name, "" when there was none.
func Restore(ctx context.Context, o Options, aside string, from io.Reader, check func(candidate string) error) (kept string, err error) {
	candidate := NewPath(o.Path)
	kept, err = supersede(o, aside, candidate, func() error {
		if err := Receive(ctx, o, candidate, from); err != nil {
			return err
		}
		return check(candidate)
	})
	if err != nil {
		err = errors.Join(err, Remove(candidate))
	}
	return kept, err
}

// Place is Restore of a file that was received before, at a path of the same file system.
// When it is refused it stays where it is. It can be done again after a power cut, under the
// same name aside.
func Place(o Options, aside, received string, check func(received string) error) (kept string, err error) {
	kept, err = supersede(o, aside, received, func() error { return check(received) })
	if err != nil {
		return kept, err
	}
	return kept, durable.SyncDirectory(filepath.Dir(received))
}

// supersede gives the candidate the name o.Path once ready has returned nil. The file that
// has the name is locked meanwhile.
func supersede(o Options, aside, candidate string, ready func() error) (kept string, err error) {
	if err := makeDirectory(filepath.Dir(o.Path)); err != nil {
		return "", err
	}
	former, err := lockPresent(o)
	if err != nil {
		return "", err
	}
	defer former.Close() // of nil it fails, and does nothing
	if err := ready(); err != nil {
		return "", err
	}
	if former != nil {
		kept = cmp.Or(aside, AsidePath(o.Path, "replaced", o.Now()))
	}
	return kept, Replace(o.Path, candidate, kept)
}

// lockPresent opens and locks the file at o.Path until it is closed; nil: there is none.
func lockPresent(o Options) (*os.File, error) {
	file, err := os.OpenFile(o.Path, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := Lock(file, o.LockTimeout); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Receive writes a backup to the file at path and verifies its seal. Its lock keeps a
// starting program from making a database there.
func Receive(ctx context.Context, o Options, path string, from io.Reader) error {
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

// lost returns an error that wraps ErrLost when the database is missing or empty and was
// not before: a backup of it, or what else a former run leaves, is there.
func lost(o Options) error {
	info, err := os.Stat(o.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	if o.Candidate || !missing && (err != nil || !info.Mode().IsRegular() || info.Size() > 0) {
		return nil // opening it tells what is wrong
	}
	backups, err := Backups(o.Path)
	if err != nil {
		return err
	}
	if len(backups) > 0 {
		return fmt.Errorf("%w, and there are backups of it in %s", ErrLost, BackupDirectory(o.Path))
	}
	for _, path := range o.Beside {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%w, and %s shows that it was there", ErrLost, path)
		}
	}
	return nil
}
