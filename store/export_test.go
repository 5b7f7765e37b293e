package store

import (
	"bytes"
	"context"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/store/file"
	"sensegate/store/samples"
)

// SealedBlocks returns the stored blocks of a tier in the order of keys.
func SealedBlocks(db *DB, tier series.Tier) (blocks [][]byte, err error) {
	err = db.View(context.Background(), func(tx *Tx) error {
		return tx.bucket(samples.Bucket(tier)).ForEach(func(_, value []byte) error {
			blocks = append(blocks, bytes.Clone(value))
			return nil
		})
	})
	return blocks, err
}

// PutJournalV1 writes a journal entry as schema 1 did.
func PutJournalV1(db *DB, tier series.Tier, start int64, network motion.NetworkID, value []byte) error {
	return PutJournal(db, value, uint32(start), uint32(tier), uint32(network), 0, 7)
}

// PutJournalOfNetwork writes a journal entry as schema 2 did in its beginnings.
func PutJournalOfNetwork(db *DB, tier series.Tier, start int64, network motion.NetworkID, value []byte) error {
	return PutJournal(db, value, uint32(start), 7, uint32(tier), uint32(network))
}

// PutJournal writes a value to the journal under a key of words.
func PutJournal(db *DB, value []byte, words ...uint32) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		var key []byte
		for _, word := range words {
			key = append(key, key32(word)...)
		}
		return tx.bucket(samples.Journal).Put(key, value)
	})
}

// JournalEntries returns how many entries the journal has.
func JournalEntries(db *DB) (n int, err error) {
	err = db.View(context.Background(), func(tx *Tx) error {
		return tx.bucket(samples.Journal).ForEach(func([]byte, []byte) error {
			n++
			return nil
		})
	})
	return n, err
}

// DamageJournal changes a byte of an entry of the journal.
func DamageJournal(db *DB, entry int) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		var keys [][]byte
		err := tx.bucket(samples.Journal).ForEachBucket(func(key []byte) error {
			keys = append(keys, bytes.Clone(key))
			return nil
		})
		if err != nil {
			return err
		}
		b := tx.bucket(samples.Journal).Bucket(keys[entry])
		value := bytes.Clone(b.Get([]byte{0}))
		value[len(value)-1] ^= 1
		return b.Put([]byte{0}, value)
	})
}

// SpoilFirst makes the first record of a bucket unreadable, and mends it again.
func SpoilFirst(db *DB, bucket string, spoil bool) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		b := tx.bucket(bucket)
		key, data := b.Cursor().First()
		data = bytes.Clone(data)
		if data[0] = '{'; spoil {
			data[0] = '?'
		}
		return b.Put(bytes.Clone(key), data)
	})
}

// PutStaleEntry adds an entry to an index that names no record.
func PutStaleEntry(db *DB, index string) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		return tx.bucket(index).Put([]byte("stale"), []byte("nothing"))
	})
}

// ClearIndex removes all entries of an index.
func ClearIndex(db *DB, index string) error {
	return db.Update(context.Background(), func(tx *Tx) error {
		if err := tx.bolt.DeleteBucket([]byte(index)); err != nil {
			return err
		}
		_, err := tx.bolt.CreateBucket([]byte(index))
		return err
	})
}

// What tests of salvaging need to know.
var (
	Records     = records
	TestOptions = testOptions
	UsedPages   = usedPages
	At          = at
	Leftovers   = func(path string) []string { return []string{file.NewPath(path), file.SalvagePath(path)} }
	Verified    = func(key, value []byte) bool { _, err := verified(key, value); return err == nil }
)
