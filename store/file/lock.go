package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sensegate/store/durable"
)

// lockRetry is the time between two attempts at the lock.
const lockRetry = 20 * time.Millisecond

// Lock takes the lock that bbolt uses, the advisory lock of the whole file, and
// so before bbolt reads the first page. It is held until file is closed; bbolt
// taking it again on the same handle is no second lock.
func Lock(file *os.File, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("lock the file: %w", err)
		case time.Now().After(deadline):
			return ErrLocked
		}
		time.Sleep(lockRetry)
	}
}

// pidPath names the file that says which process holds the database.
func pidPath(path string) string { return path + ".pid" }

// writePID records durably that this process holds the database. A full disk does
// not keep it from being read.
func writePID(path string) error {
	file, err := os.OpenFile(pidPath(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o600) // no wait for the reader of a pipe
	if err == nil {
		_, err = fmt.Fprintln(file, os.Getpid())
		err = errors.Join(err, file.Sync(), file.Close(), durable.SyncDirectory(filepath.Dir(path)))
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("write the process id: %w", err)
	}
	return nil
}

// removePID takes the record back, durably.
func removePID(path string) error {
	err := os.Remove(pidPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := errors.Join(err, durable.SyncDirectory(filepath.Dir(path))); err != nil {
		return fmt.Errorf("remove the process id: %w", err)
	}
	return nil
}

// Holder returns " (a sensegate, process 123)" when it is known who holds the lock.
func Holder(path string) string {
	text, err := os.ReadFile(pidPath(path))
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (a sensegate, process %d)", pid)
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
	file, err = os.OpenFile(NewPath(o.Path), os.O_RDWR|os.O_CREATE, 0o600)
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
	if err := Lock(file, timeout); err != nil {
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

// unclean reports whether the process that held the database before has left its
// process id behind: it ended by a power cut, a kill or a crash, or after a commit
// that failed.
func unclean(path string) bool {
	_, err := os.Lstat(pidPath(path))
	return err == nil
}
