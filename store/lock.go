package store

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

// lock takes the lock that bbolt uses, the advisory lock of the whole file, and
// so before bbolt reads the first page. It is held until file is closed; bbolt
// taking it again on the same handle is no second lock.
func lock(file *os.File, timeout time.Duration) error {
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
	file, err := os.OpenFile(pidPath(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
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

// holder returns ", process 123" when it is known who holds the lock.
func holder(path string) string {
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
