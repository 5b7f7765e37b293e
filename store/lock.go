package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
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

// writePID records that this process holds the database.
func writePID(path string) error {
	text := strconv.Itoa(os.Getpid()) + "\n"
	if err := os.WriteFile(pidPath(path), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the process id: %w", err)
	}
	return nil
}

// removePID takes the record back.
func removePID(path string) error {
	if err := os.Remove(pidPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
