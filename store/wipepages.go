package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// What is done while writers wait: pages overwritten, 1 MiB of those of 4 KiB, and pages
// looked at.
const (
	wipeBatch = 256
	wipeLooks = 4096
)

// wipePages overwrites every page that is free, or lies behind the last one, with zeros,
// and returns how many bytes that took. Pages of zeros are left alone. What was freed
// after it has begun need not be met: it was in use then, and no record in use holds what
// was deleted before.
func (db *DB) wipePages(ctx context.Context) (written int64, err error) {
	for next := 0; ; {
		if err := ctx.Err(); err != nil {
			return written, err
		}
		var pages int64
		err := db.guarded(func() (err error) {
			pages, next, err = db.wipeSome(next)
			return err
		})
		if err != nil {
			return written, err
		}
		written += pages * int64(db.bolt.Info().PageSize)
		if next == 0 {
			return written, nil
		}
	}
}

// wipeSome overwrites up to wipeBatch pages, beginning at page next, and syncs them.
// It returns how many and where to go on, 0 when it came to the end of the file. It holds
// the write lock, so that no page is put to use or freed meanwhile, and waits for who has
// begun to read before: others see the last commit, and no free page.
//
// That is safe at any power cut: nothing that is durable refers to a free page, and bbolt
// itself writes to them before it commits.
func (db *DB) wipeSome(next int) (written int64, then int, err error) {
	btx, err := db.bolt.Begin(true)
	if err != nil {
		return 0, 0, err
	}
	defer btx.Rollback()
	if err := db.Err(); err != nil {
		return 0, 0, err
	}
	db.readers.wait()
	size := db.bolt.Info().PageSize
	zeros, content := make([]byte, size), make([]byte, size)
	end := int(db.fileSize() / int64(size))
	for last := next + wipeLooks; next < min(end, last) && written < wipeBatch; next++ {
		isFree, err := free(btx, next)
		if err != nil {
			return written, 0, err
		}
		if !isFree {
			continue
		}
		at := int64(next) * int64(size)
		if _, err := db.file.ReadAt(content, at); err != nil {
			return written, 0, err
		}
		if bytes.Equal(content, zeros) {
			continue
		}
		if _, err := db.file.WriteAt(zeros, at); err != nil {
			return written, 0, err
		}
		written++
	}
	if next >= end {
		next = 0
	}
	if written == 0 {
		return 0, next, nil
	}
	if err := db.file.Sync(); err != nil {
		return written, 0, err
	}
	db.writes.wiped(written * int64(size))
	return written, next, nil
}

// free reports whether a page is of no more use: it is on the list of free pages, or
// behind the last page that ever was in use.
func free(btx *bolt.Tx, id int) (isFree bool, err error) {
	met, err := damageMet(func() error {
		info, err := btx.Page(id)
		isFree = err == nil && (info == nil || info.Type == "free")
		return err
	})
	if met != nil {
		err = fmt.Errorf("the disk cannot read it: %v", met) // nobody else may ever want to
	}
	if err != nil {
		return false, fmt.Errorf("look at page %d: %w", id, err)
	}
	return isFree, nil
}
