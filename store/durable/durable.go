// Package durable writes files that survive a power cut. It knows the file system and
// nothing of what the files hold.
package durable

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// WriteFile replaces the file at path, whole or not at all, and readable by its owner
// only: what it returns nil for has survived a power cut. One call at a time for a path.
func WriteFile(path string, data []byte) error {
	if err := replace(path, data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func replace(path string, data []byte) error {
	temporary := path + ".new"
	if err := write(temporary, os.O_TRUNC, data); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	return SyncDirectory(filepath.Dir(path))
}

// CreateFile is WriteFile where nothing is at path: what is there stays, and the error wraps fs.ErrExist. It writes
// by way of temporary, a path in the same directory that nothing has and that an error, or a power cut, may leave.
func CreateFile(path, temporary string, data []byte) error {
	err := write(temporary, os.O_EXCL, data)
	if err == nil {
		err = place(temporary, path)
	}
	if err == nil {
		err = SyncDirectory(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// place gives a file another name, unless something has it.
func place(temporary, path string) error {
	err := os.Link(temporary, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, os.Remove(temporary))
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) { // of file systems without links
		return errors.Join(cmp.Or(err, fs.ErrExist), os.Remove(temporary))
	}
	return os.Rename(temporary, path)
}

// write writes a file that its owner alone can read. It waits for no reader of a pipe.
func write(path string, flag int, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK|flag, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Chmod(0o600), file.Sync(), file.Close())
}

// MoveAside gives a damaged file another name, which it returns.
func MoveAside(path string, now time.Time) (aside string, err error) {
	aside = path + ".damaged-" + now.UTC().Format("20060102T150405.000Z")
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("move damaged file aside: %w", err)
	}
	return aside, SyncDirectory(filepath.Dir(path))
}

// SyncDirectory makes the names in a directory durable.
func SyncDirectory(directory string) error {
	handle, err := os.Open(directory)
	if err != nil {
		return err
	}
	return errors.Join(handle.Sync(), handle.Close())
}
