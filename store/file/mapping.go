package file

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// mapping are the bytes of a file in memory that the system shares with it. Reading page after page so
// takes no call of the system for each.
type mapping []byte

// mapFile maps the first size bytes of the file, at least one.
func mapFile(file *os.File, size int) (mapping, error) {
	m, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the file: %w", err)
	}
	return m, nil
}

func (m mapping) close() { _ = syscall.Munmap(m) }

// ReadAt copies len(p) bytes from offset, which is not negative. What the disk cannot read, or another
// process has cut off, is an error where faults are panics (debug.SetPanicOnFault).
func (m mapping) ReadAt(p []byte, offset int64) (n int, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			n, err = 0, fmt.Errorf("read at %d: %v", offset, fault)
		}
	}()
	if offset < int64(len(m)) {
		n = copy(p, m[offset:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
