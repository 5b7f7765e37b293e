package samples

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// endOfKeys is the first second that a key has no room for (year 2106). What lies
// outside is not kept.
const endOfKeys = 1 << 32

// Bucket returns the bucket of a tier's sealed blocks.
func Bucket(tier series.Tier) string { return "samples_" + tier.String() }

// sampleKey is be32(block start) ‖ be32(network): time first, because blocks are
// written and deleted in the order of time.
func sampleKey(start int64, network motion.NetworkID) []byte {
	return keyOf(uint32(start), uint32(network))
}

// keyOf returns words one after the other, big-endian, so that keys sort as numbers do.
func keyOf(words ...uint32) (key []byte) {
	for _, word := range words {
		key = binary.BigEndian.AppendUint32(key, word)
	}
	return key
}

// parseSampleKey is the inverse of sampleKey.
func parseSampleKey(key []byte) (start int64, network motion.NetworkID) {
	return int64(binary.BigEndian.Uint32(key)), motion.NetworkID(binary.BigEndian.Uint32(key[4:]))
}

// ParseBlock returns the network of a sealed block of a tier. ok is false unless its
// checksum and its key are right.
func ParseBlock(tier series.Tier, key, value []byte) (network motion.NetworkID, ok bool) {
	if len(key) != 8 {
		return 0, false
	}
	start, network := parseSampleKey(key)
	info, err := series.Inspect(value)
	return network, err == nil && info.Tier == tier && tier.BlockStart(info.Start) == start
}

// blockFill is how full a page of blocks becomes before the next one is begun. Blocks
// come in the order of their keys and are seldom put again, and few go into a page: room
// that is left in it stays empty.
const blockFill = 1

// PutBlock stores a block unless it is there already.
func PutBlock(b *bolt.Bucket, key, value []byte) error {
	if bytes.Equal(b.Get(key), value) {
		return nil
	}
	b.FillPercent = blockFill
	if err := b.Put(key, value); err != nil {
		return fmt.Errorf("put samples: %w", err)
	}
	return nil
}

// Delete removes the stored samples of a network.
func (tx Tx) Delete(network motion.NetworkID) error {
	err := tx.deleteJournalOf(network)
	for _, tier := range series.Tiers() {
		if err != nil {
			break
		}
		err = deleteKeys(tx.bucket(Bucket(tier)), func(key []byte) bool {
			_, of := parseSampleKey(key)
			return of == network
		})
	}
	return err
}

// deleteKeys deletes the keys of a bucket that may go.
func deleteKeys(b *bolt.Bucket, mayGo func(key []byte) bool) error {
	var old [][]byte
	cursor := b.Cursor()
	for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
		if mayGo(key) {
			old = append(old, slices.Clone(key))
		}
	}
	for _, key := range old {
		if err := b.Delete(key); err != nil {
			return fmt.Errorf("delete samples: %w", err)
		}
	}
	return nil
}

// Damaged counts the sealed blocks, and the entries of the journal, that cannot be read.
func Damaged(tx *bolt.Tx) (n int, err error) {
	for _, tier := range series.Tiers() {
		err = errors.Join(err, tx.Bucket([]byte(Bucket(tier))).ForEach(func(_, value []byte) error {
			if _, err := series.Inspect(value); err != nil {
				n++
			}
			return nil
		}))
	}
	journal := tx.Bucket([]byte(Journal))
	return n, errors.Join(err, journal.ForEach(func(key, value []byte) error {
		at, _, ok := parseJournalKey(key, value)
		if ok && value == nil {
			_, err := parseJournal(at, journal.Bucket(key).Get([]byte{0}))
			ok = err == nil
		}
		if !ok {
			n++
		}
		return nil
	}))
}

// BytesOfDay returns the bytes that a day of samples takes at all resolutions, as of the
// last days before second summed; 0: not known yet.
func BytesOfDay(tx *bolt.Tx, summed int64) (bytes int64) {
	for _, tier := range series.Tiers() {
		bytes += bytesOfDay(tx.Bucket([]byte(Bucket(tier))), tier, summed)
	}
	return bytes
}

// bytesOfDay returns the bytes of a day of a tier, as of its last whole blocks that
// span a day or more before second summed.
func bytesOfDay(b *bolt.Bucket, tier series.Tier, summed int64) int64 {
	const dayS = 24 * 3600
	end := tier.BlockStart(summed)
	first := end - max(tier.Span(), dayS)
	if first < 0 {
		return 0
	}
	bytes, oldest := int64(0), end
	cursor := b.Cursor()
	for key, value := cursor.Seek(keyOf(uint32(first))); key != nil; key, value = cursor.Next() {
		start, _ := parseSampleKey(key)
		if start >= end {
			break
		}
		bytes, oldest = bytes+int64(len(key)+len(value)), min(oldest, start)
	}
	if oldest == end {
		return 0
	}
	return bytes * dayS / (end - oldest)
}
