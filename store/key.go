package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
)

// key32 returns v as 4 bytes, big-endian, so that keys sort as numbers do.
func key32[T ~uint32](v T) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(v))
}

// key64 returns v as 8 bytes, big-endian.
func key64(v uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, v)
}

// unlessZero returns the key of v, an empty one of 0.
func unlessZero[T ~int64 | ~uint32 | ~uint64](v T, key func(T) []byte) []byte {
	if v == 0 {
		return nil
	}
	return key(v)
}

// keyText returns s as it is: text always stands last in a key.
func keyText(s string) []byte { return []byte(s) }

// join returns the parts one after the other in a slice of their own.
func join(parts ...[]byte) []byte {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	key := make([]byte, 0, size)
	for _, part := range parts {
		key = append(key, part...)
	}
	return key
}

// keyMicros returns the microseconds of t for use in a key. What lies outside
// the range of a key, NaN included, is moved to its nearer end.
func keyMicros(t motion.Time) uint64 {
	switch {
	case !(t > 0):
		return 0
	case t >= math.MaxInt64/1e6:
		return math.MaxInt64
	}
	return uint64(t.Micros())
}

// newTimedID returns an id for a record of a bucket whose keys are owner, µs u64, id: a
// UUIDv7 of that time (RFC 9562 section 5.7) that sorts after those of the owner's records
// of before and of the same time, so that the order of ids is the order of history.
func (tx *Tx) newTimedID(bucket string, owner []byte, micros uint64) (uuid.UUID, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return id, fmt.Errorf("make id: %w", err)
	}
	// The first 48 bits are milliseconds: those of what happened.
	copy(id[:6], key64(micros / 1000)[2:])
	// The 12 bits after the version are the fraction of the millisecond (RFC 9562 section 6.2,
	// method 3), the 14 after the variant count the records of one time (method 1).
	binary.BigEndian.PutUint16(id[6:8], 7<<12|uint16(micros%1000*4096/1000))
	count := uint16(0)
	last, _ := lastBefore(tx.bucket(bucket).Cursor(), join(owner, key64(micros+1)))
	if former, ofTime := bytes.CutPrefix(last, join(owner, key64(micros))); ofTime {
		count = min(binary.BigEndian.Uint16(former[8:10])&0x3fff+1, 0x3fff)
	}
	binary.BigEndian.PutUint16(id[8:10], 0x8000|count)
	return id, nil
}

// lastBefore returns the last entry whose key is less than end.
func lastBefore(cursor *bolt.Cursor, end []byte) (key, value []byte) {
	if key, _ := cursor.Seek(end); key == nil {
		return cursor.Last()
	}
	return cursor.Prev()
}
