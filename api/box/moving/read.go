package moving

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"sensegate/motion/fault"
	"sensegate/store"
)

// Bounds of a line, in bytes: of the second one, which holds all devices and people, and of a
// record of the history.
const (
	longestLine   = 64 << 20
	longestRecord = 4 << 20
)

// Reader reads a file.
type Reader struct {
	Header  Header
	Network store.NetworkCopy

	packed   *bufio.Reader
	unpacked *bufio.Reader
	sum      hash.Hash
	records  int
}

// Open reads the beginning of a file. Invalid: it is none, or one of a newer program.
func Open(r io.Reader) (*Reader, error) {
	packed := bufio.NewReaderSize(r, 64<<10)
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, noFile(err)
	}
	unpacked.Multistream(false)
	reader := &Reader{packed: packed, unpacked: bufio.NewReaderSize(unpacked, 64<<10), sum: sha256.New()}
	first, err := reader.next(longestRecord)
	if err != nil {
		return nil, err
	}
	reader.count(first)
	if err := json.Unmarshal(first, &reader.Header); err != nil || reader.Header.Format != Format {
		return nil, fault.New(fault.Invalid, "the file is no network of sensegate")
	}
	if v := reader.Header.Version; v > Version {
		return nil, fault.New(fault.Invalid, "the file was written by a newer program (version %d, this one knows %d): update this box first", v, Version)
	}
	second, err := reader.next(longestLine)
	if err != nil {
		return nil, err
	}
	reader.count(second)
	if err := json.Unmarshal(second, &reader.Network); err != nil {
		return nil, fault.New(fault.Invalid, "the file is damaged: %v", err)
	}
	return reader, nil
}

// noFile says what a file is instead.
func noFile(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return fault.New(fault.Invalid, "the file is empty")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.Invalid, "the file is no network of sensegate: want what sensegate network export has written")
	}
	return fmt.Errorf("read the file: %w", err)
}

// Each calls take with each record of the history. Invalid: the file is cut off, damaged, or goes
// on after its end; what take was given does not count then.
func (r *Reader) Each(ctx context.Context, take func(store.HistoryRecord) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := r.next(longestRecord)
		if err != nil {
			return err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return fault.New(fault.Invalid, "the file is damaged: record %d: %v", r.records, err)
		}
		if l.End != nil {
			return r.end(*l.End)
		}
		r.count(text)
		r.records++
		if err := take(l.HistoryRecord); err != nil {
			return err
		}
	}
}

// end checks the last line, and that nothing follows it.
func (r *Reader) end(e end) error {
	if e.Records != r.records || e.SHA256 != hex.EncodeToString(r.sum.Sum(nil)) {
		return fault.New(fault.Invalid, "the file is damaged: it has other records than were written")
	}
	_, err := r.unpacked.ReadByte()
	if errors.Is(err, io.EOF) { // the checksum of gzip is right
		_, err = r.packed.ReadByte()
	}
	switch {
	case err == nil:
		return fault.New(fault.Invalid, "the file is damaged: it goes on after its end")
	case errors.Is(err, io.EOF):
		return nil
	}
	return broken(err)
}

// count adds a line to the sum.
func (r *Reader) count(text []byte) {
	r.sum.Write(text) // never fails
	r.sum.Write([]byte("\n"))
}

// next returns the next line, which has at most so many bytes, without its end.
func (r *Reader) next(most int) ([]byte, error) {
	var text []byte
	for {
		part, err := r.unpacked.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > most:
			return nil, fault.New(fault.Invalid, "the file is damaged: a record is longer than any can be")
		case err == nil:
			return bytes.TrimSuffix(text, []byte("\n")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, broken(err)
		}
	}
}

// broken says what an error of reading means.
func broken(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.Invalid, "the file is cut off: nothing of it was taken in")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt):
		return fault.New(fault.Invalid, "the file is damaged: nothing of it was taken in")
	}
	return fmt.Errorf("read the file: %w", err)
}
