package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion/series"
)

// Layout says what takes the room in the file.
type Layout struct {
	Path      string         `json:"path"`
	Schema    int            `json:"schema"`
	PageSize  int            `json:"page_size"` // bytes
	Size      int64          `json:"size"`      // of the file, bytes
	Pages     int64          `json:"pages"`     // in use or free
	FreePages int            `json:"free_pages"`
	Buckets   []BucketLayout `json:"buckets"` // in the order of names
}

// BucketLayout is what one bucket holds.
type BucketLayout struct {
	Name  string `json:"name"`
	Keys  int    `json:"keys"`
	Bytes int    `json:"bytes"` // of its keys and values, with what the pages say about them
	Pages int    `json:"pages"`
}

// Layout reads the whole tree, one bucket in each transaction.
func (db *DB) Layout(ctx context.Context) (Layout, error) {
	l := Layout{Path: db.path, PageSize: db.bolt.Info().PageSize, Size: db.fileSize()}
	var names [][]byte
	err := db.View(ctx, func(tx *Tx) error {
		l.Pages = tx.bolt.Size() / int64(l.PageSize)
		stats := db.bolt.Stats()
		l.FreePages = stats.FreePageN + stats.PendingPageN
		if err := tx.getMeta(schemaKey, &l.Schema); err != nil {
			return err
		}
		return tx.bolt.ForEach(func(name []byte, _ *bolt.Bucket) error {
			names = append(names, append([]byte(nil), name...))
			return nil
		})
	})
	if err != nil {
		return l, fmt.Errorf("read the layout: %w", err)
	}
	for _, name := range names {
		err := db.View(ctx, func(tx *Tx) error {
			s := tx.bucket(string(name)).Stats()
			pages := s.BranchPageN + s.BranchOverflowN + s.LeafPageN + s.LeafOverflowN
			l.Buckets = append(l.Buckets, BucketLayout{Name: string(name), Keys: s.KeyN, Bytes: s.LeafInuse + s.InlineBucketInuse, Pages: pages})
			return nil
		})
		if err != nil {
			return l, fmt.Errorf("read the layout: %w", err)
		}
	}
	return l, nil
}

// LeftOut counts what cannot be read and is left out of every answer, while the rest of the
// database is whole.
type LeftOut struct {
	Records int `json:"unreadable_records"` // events and detections, at most 1,000 are counted
	Samples int `json:"damaged_samples"`    // blocks, and entries of the journal
}

// CheckCopy verifies every page, record and index as they are now. Other than Check it does
// so on a copy: nothing waits meanwhile. Without room for the copy, the error wraps
// ErrNoRoom.
func (db *DB) CheckCopy(ctx context.Context) (left LeftOut, err error) {
	reserve := min(backupReserve, db.fileSize()) // it is gone in a moment
	err = db.withCopy(ctx, reserve, func(file *os.File) error {
		done, err := examine(ctx, Options{}.withDefaults(), file.Name())
		left = done.leftOut
		return err
	})
	if err != nil {
		return left, fmt.Errorf("check: %w", err)
	}
	return left, nil
}

// damagedSamples counts the sealed blocks, and the entries of the journal, that cannot be read.
func (tx *Tx) damagedSamples() (n int, err error) {
	for _, tier := range series.Tiers() {
		err = errors.Join(err, tx.bucket(bucketOf(tier)).ForEach(func(_, value []byte) error {
			if _, err := series.Inspect(value); err != nil {
				n++
			}
			return nil
		}))
	}
	journal := tx.bucket(journalBucket)
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
