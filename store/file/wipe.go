package file

import (
	"bytes"
	"context"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// What is done while writers wait: pages overwritten, 1 MiB of those of 4 KiB, and pages
// looked at.
const (
	wipeBatch = 256
	wipeLooks = 4096
)

// Wipe overwrites every page that is free, or lies behind the last one, with zeros,
// and returns how many bytes that took and when it ended. Pages of zeros are left alone.
// What was freed after it has begun need not be met: it was in use then, and no record in
// use holds what was deleted before. No backup begins meanwhile, as it copies free pages
// too. Two Wipes must not run at once.
func (f *File) Wipe(ctx context.Context) (written int64, ended time.Time, err error) {
	f.backing.Lock()
	defer f.backing.Unlock()
	for next := 0; ; {
		if err := ctx.Err(); err != nil {
			return written, ended, err
		}
		var pages int64
		err := f.guarded(func() (err error) {
			pages, next, err = f.wipeSome(next)
			return err
		})
		if err != nil {
			return written, ended, err
		}
		written += pages * int64(f.Bolt.Info().PageSize)
		if next == 0 {
			return written, f.now(), nil
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
func (f *File) wipeSome(next int) (written int64, then int, err error) {
	btx, err := f.Bolt.Begin(true)
	if err != nil {
		return 0, 0, err
	}
	defer btx.Rollback()
	if err := f.Err(); err != nil {
		return 0, 0, err
	}
	f.readers.wait()
	size := f.Bolt.Info().PageSize
	zeros, content := make([]byte, size), make([]byte, size)
	end := int(f.Size() / int64(size))
	for last := next + wipeLooks; next < min(end, last) && written < wipeBatch; next++ {
		isFree, err := free(btx, next)
		if err != nil {
			return written, 0, err
		}
		if !isFree {
			continue
		}
		at := int64(next) * int64(size)
		if _, err := f.handle.ReadAt(content, at); err != nil {
			return written, 0, err
		}
		if bytes.Equal(content, zeros) {
			continue
		}
		if _, err := f.handle.WriteAt(zeros, at); err != nil {
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
	if err := f.handle.Sync(); err != nil {
		return written, 0, err
	}
	f.writes.wiped(written * int64(size))
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
