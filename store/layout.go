package store

import (
	"context"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"
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

// CheckCopy verifies every page and index as they are now. Other than Check it does so
// on a copy: nothing waits meanwhile. Without room for the copy, the error wraps
// ErrNoRoom.
func (db *DB) CheckCopy(ctx context.Context) error {
	reserve := min(backupReserve, db.fileSize()) // it is gone in a moment
	err := db.withCopy(ctx, reserve, func(file *os.File) error {
		_, err := examine(ctx, Options{}.withDefaults(), file.Name())
		return err
	})
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return nil
}
