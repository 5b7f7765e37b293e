package store

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Stats say what the database costs the disk.
type Stats struct {
	Since    motion.Time `json:"since"`     // when the database was opened
	Commits  int64       `json:"commits"`   // since then
	Bytes    int64       `json:"bytes"`     // written since then, whole pages
	Syncs    int64       `json:"syncs"`     // fdatasync and fsync calls since then
	Size     int64       `json:"size"`      // of the file, bytes
	Free     int64       `json:"free"`      // of the file system, bytes that the process may use
	DayBytes int64       `json:"day_bytes"` // that a day of samples takes at all resolutions, as of the last days; 0: not known yet
	Days     int64       `json:"days"`      // of samples that fit into the file and what is free at that rate; 0: not known yet
}

// writes counts what was written since the database was opened.
type writes struct {
	mu                    sync.Mutex
	since                 motion.Time
	commits, bytes, syncs int64
}

// count adds one commit: bbolt writes and syncs the pages, then the meta page, and
// syncs a third time when it has made the file longer.
func (w *writes) count(pages int64, pageSize int, grew bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits++
	w.bytes += pages + int64(pageSize)
	w.syncs += 2
	if grew {
		w.syncs++
	}
}

// wiped adds free pages that were overwritten, and their sync.
func (w *writes) wiped(bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes += bytes
	w.syncs++
}

// fileSize returns the length of the file, 0 when it cannot be told.
func (db *DB) fileSize() int64 {
	info, err := db.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// Stats returns what the database costs the disk. It reads the keys of the last
// days' samples.
func (db *DB) Stats(ctx context.Context) (Stats, error) {
	db.writes.mu.Lock()
	stats := Stats{Since: db.writes.since, Commits: db.writes.commits, Bytes: db.writes.bytes, Syncs: db.writes.syncs}
	db.writes.mu.Unlock()
	stats.Size = db.fileSize()
	var err error
	if stats.Free, err = freeBytes(filepath.Dir(db.path)); err != nil {
		return stats, err
	}
	err = db.View(ctx, func(tx *Tx) error {
		var a age
		if err := tx.getMeta(ageKey, &a); err != nil {
			return err
		}
		for _, tier := range series.Tiers() {
			stats.DayBytes += bytesOfDay(tx.bucket(bucketOf(tier)), tier, a.Summed)
		}
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
	for key, value := cursor.Seek(key32(uint32(first))); key != nil; key, value = cursor.Next() {
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
