package store

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"sensegate/store/file"
	"sensegate/store/samples"
)

// Stats say what the database costs the disk.
type Stats struct {
	file.Stats
	DayBytes int64 `json:"day_bytes"` // that a day of samples takes at all resolutions, as of the last days; 0: not known yet
	Days     int64 `json:"days"`      // of samples that fit into the file and what is free at that rate; 0: not known yet
}

// Stats returns what the database costs the disk. It reads the keys of the last
// days' samples.
func (db *DB) Stats(ctx context.Context) (stats Stats, err error) {
	if stats.Stats, err = db.file.Stats(); err != nil {
		return stats, err
	}
	err = db.View(ctx, func(tx *Tx) error {
		var a age
		if err := tx.getMeta(ageKey, &a); err != nil {
			return err
		}
		stats.DayBytes = samples.BytesOfDay(tx.bolt, a.Summed)
		return nil
	})
	if err != nil {
		return stats, fmt.Errorf("read stats: %w", err)
	}
	if stats.DayBytes > 0 {
		stats.Days = (stats.Size + stats.Free) / stats.DayBytes
	}
	return stats, nil
}

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
	l := Layout{Path: db.Path(), PageSize: db.file.Bolt.Info().PageSize, Size: db.file.Size()}
	var names [][]byte
	err := db.View(ctx, func(tx *Tx) error {
		l.Pages = tx.bolt.Size() / int64(l.PageSize)
		stats := db.file.Bolt.Stats()
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
	err = db.file.CheckCopy(ctx, func(path string) error {
		done, err := examine(ctx, Options{}.withDefaults(), path)
		left = done.leftOut
		return err
	})
	if err != nil {
		return left, fmt.Errorf("check: %w", err)
	}
	return left, nil
}
