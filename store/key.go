package store

import (
	"encoding/binary"
	"math"

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
