// Package durable writes files that survive a power cut. It knows the file system and
// nothing of what the files hold.
package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	temporary, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	if err := errors.Join(err, temporary.Chmod(0o600), temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return err
	}
	return SyncDirectory(filepath.Dir(path))
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
