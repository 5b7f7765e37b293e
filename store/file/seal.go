package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// A backup is the database's pages followed by a seal: the line below and the SHA-256
// of the pages. It is what tells a changed byte that the structure of pages would not
// show. Without the seal, the pages are a database file of bbolt.
const (
	sealLine = "sensegate backup 1\n"
	sealSize = int64(len(sealLine) + sha256.Size)
)

// BeginSize is how many bytes IsBeginning has a use for: to the second meta page, where a
// page has at most 64 KiB.
const BeginSize = 64<<10 + pageHeader + 4

// IsBeginning reports whether a file of bbolt, or a backup of one, can begin with these
// bytes: one of its two meta pages says so.
func IsBeginning(begin []byte) bool {
	isMeta := func(at int) bool {
		at += pageHeader
		return len(begin) >= at+4 && binary.LittleEndian.Uint32(begin[at:]) == metaMagic
	}
	for at := minPageSize; at < BeginSize; at *= 2 {
		if isMeta(at) {
			return true
		}
	}
	return isMeta(0)
}

// seal appends the seal to the pages in file and returns the size with it.
func seal(file *os.File) (int64, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return 0, err
	}
	n, err := file.WriteAt(sum.Sum([]byte(sealLine)), size)
	return size + int64(n), err
}

// unseal verifies the seal of file and cuts it off. What has none is an error that
// wraps ErrDamaged: it was cut off itself, or is no backup.
func unseal(file *os.File) error {
	size, err := verifySeal(file)
	if err != nil {
		return err
	}
	return file.Truncate(size)
}

// CheckBackup returns why the backup at path cannot be used; what is wrong with its content wraps ErrDamaged.
func CheckBackup(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = verifySeal(file)
	return err
}

// verifySeal verifies the seal of file and returns the size without it.
func verifySeal(file *os.File) (size int64, err error) {
	size, want, err := sealOf(file)
	if err != nil {
		return 0, err
	}
	if want == nil {
		return 0, Damaged("its end is missing, or it is no backup")
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, size)); err != nil {
		return 0, fmt.Errorf("read the pages: %w", err)
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return 0, Damaged("it was changed since it was made")
	}
	return size, nil
}

// sealOf returns the size of file without its seal, and the sum in that; nil: it has none.
func sealOf(file *os.File) (size int64, sum []byte, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, nil, err
	}
	size = info.Size() - sealSize
	if size <= 0 {
		return 0, nil, Damaged("it is too short for a backup: %d bytes", info.Size())
	}
	stored := make([]byte, sealSize)
	if _, err := file.ReadAt(stored, size); err != nil {
		return 0, nil, fmt.Errorf("read the seal: %w", err)
	}
	sum, sealed := bytes.CutPrefix(stored, []byte(sealLine))
	if !sealed {
		return info.Size(), nil, nil
	}
	return size, sum, nil
}
