package store

import (
	"context"
	"errors"
	"os"
	"time"
)

// SetFree makes db see that many free bytes on the disk.
func SetFree(db *DB, free int64) {
	db.space.measure = func(string) (int64, error) { return free, nil }
}

// CopyTime copies db to a new file at path and returns how long the read transaction of
// that was open.
func CopyTime(db *DB, path string) (time.Duration, error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	btx, err := db.bolt.Begin(false)
	if err != nil {
		return 0, errors.Join(err, file.Close())
	}
	_, err = btx.WriteTo(writer{context.Background(), file})
	err = errors.Join(err, btx.Rollback())
	open := time.Since(start)
	return open, errors.Join(err, file.Close())
}
