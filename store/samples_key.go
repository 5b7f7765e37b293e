package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// journalBucket is the bucket of the rows that are not sealed yet.
const journalBucket = "samples_journal"

// endOfKeys is the first second that a key has no room for (year 2106). What lies
// outside is not kept.
const endOfKeys = 1 << 32

// bucketOf returns the bucket of a tier's sealed blocks.
func bucketOf(tier series.Tier) string { return "samples_" + tier.String() }

// sampleKey is be32(block start) ‖ be32(network): time first, because blocks are
// written and deleted in the order of time.
func sampleKey(start int64, network motion.NetworkID) []byte {
	return join(key32(uint32(start)), key32(uint32(network)))
}

// parseSampleKey is the inverse of sampleKey.
func parseSampleKey(key []byte) (start int64, network motion.NetworkID) {
	return int64(binary.BigEndian.Uint32(key)), motion.NetworkID(binary.BigEndian.Uint32(key[4:]))
}

// journalKey is be32(block start) ‖ be32(number of the flush) ‖ be32(tier) ‖
// be32(network): a flush appends, and leaves the pages of those before it alone.
func journalKey(at blockKey, flush uint64, network motion.NetworkID) []byte {
	return join(key32(uint32(at.start)), key32(uint32(flush)), key32(uint32(at.tier)), key32(uint32(network)))
}

// parseJournalKey is the inverse of journalKey. It also reads the keys of schema 1:
// be32(block start) ‖ be32(tier) ‖ be32(network) ‖ be64(number).
func parseJournalKey(key []byte) (at blockKey, network motion.NetworkID, ok bool) {
	word := func(i int) uint32 { return binary.BigEndian.Uint32(key[4*i:]) }
	switch len(key) {
	case 16:
		at, network = blockKey{int64(word(0)), series.Tier(word(2))}, motion.NetworkID(word(3))
	case 20:
		at, network = blockKey{int64(word(0)), series.Tier(word(1))}, motion.NetworkID(word(2))
	}
	return at, network, at.tier == series.Second || at.tier == series.FiveSeconds
}

// putBlock stores a block unless it is there already.
func putBlock(b *bolt.Bucket, key, value []byte) error {
	if bytes.Equal(b.Get(key), value) {
		return nil
	}
	b.FillPercent = growingFill
	if err := b.Put(key, value); err != nil {
		return fmt.Errorf("put samples: %w", err)
	}
	return nil
}

// deleteSamples removes the stored samples of a network.
func (tx *Tx) deleteSamples(network motion.NetworkID) error {
	err := deleteKeys(tx.bucket(journalBucket), nil, func(key []byte) bool {
		_, of, ok := parseJournalKey(key)
		return ok && of == network
	})
	for _, tier := range series.Tiers() {
		if err != nil {
			break
		}
		err = deleteKeys(tx.bucket(bucketOf(tier)), nil, func(key []byte) bool {
			_, of := parseSampleKey(key)
			return of == network
		})
	}
	return err
}

// deleteKeys deletes the keys of a bucket that begin with prefix and may go.
func deleteKeys(b *bolt.Bucket, prefix []byte, mayGo func(key []byte) bool) error {
	var old [][]byte
	cursor := b.Cursor()
	for key, _ := cursor.Seek(prefix); key != nil && bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
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
