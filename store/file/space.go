package file

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"sensegate/motion/fault"
)

// How the room on the disk is watched.
const (
	spaceInterval = 2 * time.Second
	fullRetry     = 10 * time.Second // how long a caller is asked to wait when there is no room
)

// space says whether there is room to write. With too little the database is
// read-only: what remains is for the rest of the system, and for the damage that a
// full disk does elsewhere.
type space struct {
	directory string
	least     int64                       // bytes that must be free; 0: whatever
	measure   func(string) (int64, error) // bytes free at a directory

	mu   sync.Mutex
	full bool
}

// look measures the room. changed is true when the database becomes read-only by it,
// or ceases to be: for that an eighth more has to be free, so that it does not waver.
func (s *space) look() (changed bool, free int64, err error) {
	if s.least == 0 {
		return false, 0, nil
	}
	free, err = s.measure(s.directory)
	if err != nil {
		return false, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	least := s.least
	if s.full {
		least += least / 8
	}
	was := s.full
	s.full = free < least
	return s.full != was, free, nil
}

// err returns why nothing can be stored, nil when things can.
func (s *space) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.full {
		return nil
	}
	return full("the appliance is read-only, its disk is nearly full: make room")
}

// full returns a fault of kind Unavailable and code read_only that asks to come back
// soon.
func full(text string) error {
	err := fault.New(fault.Unavailable, "%s", text)
	err.Code, err.RetryAfter = "read_only", fullRetry
	return err
}

// FreeBytes returns the bytes of the file system of a directory that the process may use.
func FreeBytes(directory string) (int64, error) {
	var system syscall.Statfs_t
	if err := syscall.Statfs(directory, &system); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: directory, Err: err}
	}
	return int64(system.Bavail) * int64(system.Bsize), nil
}

// newSpace returns the watch over the file system of a database file.
func newSpace(o Options) *space {
	s := &space{directory: filepath.Dir(o.Path), least: o.MinFree, measure: o.Measure}
	if s.measure == nil {
		s.measure = FreeBytes
	}
	return s
}

// Writable returns nil, the fault of kind Unavailable with which Update refuses while
// the disk has too little room, or the error that closed Failed.
func (f *File) Writable() error {
	if err := f.Err(); err != nil {
		return err
	}
	return f.space.err()
}

// Watch looks at the room on the disk until ctx ends, so that the database becomes
// read-only in time, and writes again soon after there is room. Without it, that
// happens at Open and after a commit for which there was no room.
func (f *File) Watch(ctx context.Context) error {
	ticker := time.NewTicker(spaceInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			f.LookAtSpace()
		}
	}
}

// LookAtSpace measures the room and says when that changes something.
func (f *File) LookAtSpace() {
	changed, free, err := f.space.look()
	switch {
	case err != nil:
		f.logger.Warn("free disk space unknown", "err", err)
	case !changed:
	case f.space.err() != nil:
		f.logger.Error("read-only: the disk is nearly full", "free_bytes", free, "wanted_bytes", f.space.least)
	default:
		f.logger.Info("writing again: there is room on the disk", "free_bytes", free)
	}
}

// noRoom returns the fault of a commit for which there was no room.
func (f *File) noRoom() error {
	f.LookAtSpace()
	if err := f.space.err(); err != nil {
		return err
	}
	return full("the disk is full: nothing can be stored until there is room")
}
