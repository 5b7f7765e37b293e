package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// checksumSize is how many bytes follow the text of a value.
const checksumSize = 4

// errChecksum says that a value or its key is not what was written.
var errChecksum = errors.New("its checksum is wrong")

// recordError says which record cannot be read.
type recordError struct {
	table string
	key   []byte
	err   error
}

func (e *recordError) Error() string {
	return fmt.Sprintf("read record %x of %s: %v", e.key, e.table, e.err)
}

func (e *recordError) Unwrap() error { return e.err }

// summed returns the value that is stored for a text at a key: the text, and CRC32C u32,
// little-endian, of the key and the text.
func summed(key, text []byte) []byte {
	return binary.LittleEndian.AppendUint32(text, checksumOf(key, text))
}

// verified returns the text of a stored value, or errChecksum.
func verified(key, value []byte) ([]byte, error) {
	end := len(value) - checksumSize
	if end < 0 || binary.LittleEndian.Uint32(value[end:]) != checksumOf(key, value[:end]) {
		return nil, errChecksum
	}
	return value[:end], nil
}

// castagnoli is the polynomial that processors compute.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksumOf(key, text []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, text)
}

// recordsPerTx is how many records one transaction of a migration, or of salvaging, looks at.
const recordsPerTx = 2000

// addChecksums gives every record and every fact about the file its checksum, where schema
// 2 had none. Values that have one are left alone, so that it can go on after a power cut.
func (db *DB) addChecksums(ctx context.Context) error {
	names := []string{metaBucket}
	for _, t := range allTables() {
		names = append(names, t.name)
	}
	for _, name := range names {
		for next := []byte{}; next != nil; {
			err := db.Update(ctx, func(tx *Tx) (err error) {
				next, err = tx.addSome(name, next)
				return err
			})
			if err != nil {
				return fmt.Errorf("add checksums to %s: %w", name, err)
			}
		}
	}
	return nil
}

// addSome gives checksums to up to recordsPerTx values of a bucket, if it is there, from a key on. It
// returns where to go on; nil: it came to the end.
func (tx *Tx) addSome(name string, from []byte) (next []byte, err error) {
	bucket := tx.bolt.Bucket([]byte(name))
	if bucket == nil {
		return nil, nil // made by a later migration
	}
	type value struct{ key, text []byte }
	var found []value
	looked := 0
	cursor := bucket.Cursor()
	for key, data := cursor.Seek(from); key != nil; key, data = cursor.Next() {
		if looked++; looked > recordsPerTx {
			next = bytes.Clone(key)
			break
		}
		if name == metaBucket && string(key) == schemaKey {
			continue
		}
		if _, err := verified(key, data); err != nil {
			found = append(found, value{bytes.Clone(key), bytes.Clone(data)})
		}
	}
	for _, v := range found {
		if err := bucket.Put(v.key, summed(v.key, v.text)); err != nil {
			return nil, err
		}
	}
	return next, nil
}
