// Package regular reads files that a configuration or a person has named, which may be anything: it never waits for
// a pipe or a device, and takes no more memory than such a file needs. It must not know what the files hold.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// most is more than a configuration, a secret or a list of certificates has, in bytes.
const most = 1 << 20

// Read returns what the regular file at path holds, links followed, up to 1 MiB. Errors name the path and say what to do.
func Read(path string) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > most:
		return nil, fmt.Errorf("%s is larger than 1 MiB, which is no file of this kind: name the right one", path)
	}
	return raw, nil
}

// Open opens the regular file at path for reading, links followed.
func Open(path string) (*os.File, error) {
	if err := Mistake(path); err != nil { // opening a device may set it going
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe by now
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = mistake(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Mistake returns why what is at path is no regular file, links followed; nil where nothing is, or it cannot be told.
func Mistake(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return mistake(path, info)
}

func mistake(path string, info fs.FileInfo) error {
	kind := "a device"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s is %s and no regular file: name one that is", path, kind)
}
