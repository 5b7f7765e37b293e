package file

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
)

// touched keeps the reading of bytes that nobody uses.
var touched atomic.Uint32

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

// systemPage is the smallest page of a system on which the program runs, in bytes.
const systemPage = 4096

func (m mapping) close() { _ = syscall.Munmap(m) }

// bytes returns size bytes from offset, of which it has read some of each page of the system: one that the disk cannot
// read faults here.
func (m mapping) bytes(offset int64, size int) ([]byte, error) {
	if offset+int64(size) > int64(len(m)) {
		return nil, io.ErrUnexpectedEOF
	}
	data := m[offset:][:size]
	for i := 0; i < size; i += systemPage {
		touched.Store(uint32(data[i]))
	}
	return data, nil
}
