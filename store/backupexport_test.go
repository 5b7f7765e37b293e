package store

import (
	"errors"
	"io"
	"os"
	"time"
)

// SetMeasure makes the database see as many free bytes on the disk as measure says.
func SetMeasure(o *Options, measure func(string) (int64, error)) { o.measure = measure }

// CopyTime copies db to a new file at path and returns how long the read transaction of
// that was open.
func CopyTime(db *DB, path string) (time.Duration, error) {
	to, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	btx, err := db.file.Bolt.Begin(false)
	if err != nil {
		return 0, errors.Join(err, to.Close())
	}
	_, err = btx.WriteTo(struct{ io.Writer }{to})
	err = errors.Join(err, btx.Rollback())
	open := time.Since(start)
	return open, errors.Join(err, to.Close())
}
