package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
)

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
