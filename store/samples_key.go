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

// blockFill is how full a page of blocks becomes before the next one is begun. Blocks
// come in the order of their keys and are seldom put again, and few go into a page: room
// that is left in it stays empty.
const blockFill = 1

// putBlock stores a block unless it is there already.
func putBlock(b *bolt.Bucket, key, value []byte) error {
	if bytes.Equal(b.Get(key), value) {
		return nil
	}
	b.FillPercent = blockFill
	if err := b.Put(key, value); err != nil {
		return fmt.Errorf("put samples: %w", err)
	}
	return nil
}

// deleteSamples removes the stored samples of a network.
func (tx *Tx) deleteSamples(network motion.NetworkID) error {
	err := tx.deleteJournalOf(network)
	for _, tier := range series.Tiers() {
		if err != nil {
			break
		}
		err = deleteKeys(tx.bucket(bucketOf(tier)), func(key []byte) bool {
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
