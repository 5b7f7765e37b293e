package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"sensegate/store/durable"

	bolt "go.etcd.io/bbolt"
)

// keptBackups is how many backups are kept beside a database.
const keptBackups = 7

// backupReserve is what must stay free on the disk beyond Options.MinFree when a copy
// has been made: copies never take the room that the database needs to go on.
const backupReserve = 64 << 20

// A backup's file is named after its time, such as 20260102T030405Z.backup, or
// 20260102T030405Z-schema1.backup before a migration away from schema 1.
const (
	backupTime   = "20060102T150405Z"
	backupSuffix = ".backup"
)

// Backup is a whole copy of the database in a file.
type Backup struct {
	Path string    `json:"path"`
	At   time.Time `json:"at"`
	Size int64     `json:"size"` // bytes
}

// BackupDirectory returns where the backups of the database at path lie.
func BackupDirectory(path string) string { return filepath.Join(filepath.Dir(path), "backups") }

// Backups returns the backups of the database at path, the newest first.
func Backups(path string) ([]Backup, error) {
	directory := BackupDirectory(path)
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	var list []Backup
	for _, entry := range entries {
		stem, isBackup := strings.CutSuffix(entry.Name(), backupSuffix)
		stamp, _, _ := strings.Cut(stem, "-")
		at, err := time.Parse(backupTime, stamp)
		if !isBackup || err != nil {
			continue // not made by this program
		}
		info, err := entry.Info()
		if err != nil {
			continue // removed meanwhile
		}
		list = append(list, Backup{Path: filepath.Join(directory, entry.Name()), At: at, Size: info.Size()})
	}
	sort.Slice(list, func(i, j int) bool { return list[j].Path < list[i].Path })
	return list, nil
}

// Backup copies the file into its directory of backups, whole or not at all, with a mark in
// the name, and removes all but the last 7 there. check is called with the path of the copy
// and may refuse it, so that a damaged file does not push out those that were not. The
// file is used meanwhile; what was written before Backup was called is in the copy.
// Without room for the copy, the error wraps ErrNoRoom.
func (f *File) Backup(ctx context.Context, mark string, check func(path string) error) (b Backup, err error) {
	b.At = f.now().UTC().Truncate(time.Second)
	b.Path = filepath.Join(BackupDirectory(f.path), b.At.Format(backupTime)+mark+backupSuffix)
	err = f.withCopy(ctx, backupReserve, func(file *os.File) (err error) {
		if err := check(file.Name()); err != nil {
			return err
		}
		if b.Size, err = seal(file); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		if err := os.Rename(file.Name(), b.Path); err != nil {
			return err
		}
		return durable.SyncDirectory(filepath.Dir(b.Path))
	})
	if err != nil {
		return b, fmt.Errorf("back up: %w", err)
	}
	return b, f.prune(b.Path)
}

// unfinishedBackup returns where a backup of the database at path is made.
func unfinishedBackup(path string) string { return filepath.Join(BackupDirectory(path), "new") }

// withCopy copies the database to a file among the backups and gives it to use. It is
// removed afterwards, unless use has renamed it; what a crash leaves, the next one
// overwrites.
func (f *File) withCopy(ctx context.Context, reserve int64, use func(*os.File) error) error {
	f.backing.Lock()
	defer f.backing.Unlock()
	directory := BackupDirectory(f.path)
	if err := makeDirectory(directory); err != nil {
		return err
	}
	file, err := os.OpenFile(unfinishedBackup(f.path), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = f.requireRoom(directory, reserve)
	if err == nil {
		err = f.copyTo(ctx, file)
	}
	if err == nil {
		err = use(file)
	}
	return errors.Join(err, file.Close(), Remove(file.Name()))
}

// CheckCopy calls check with the path of a copy of the file as it is now, so that nothing
// waits meanwhile. Without room for the copy, the error wraps ErrNoRoom.
func (f *File) CheckCopy(ctx context.Context, check func(path string) error) error {
	reserve := min(backupReserve, f.Size()) // it is gone in a moment
	return f.withCopy(ctx, reserve, func(file *os.File) error { return check(file.Name()) })
}

// prune removes all but the last backups, and never the one just made: a clock that
// was wrong may have named others after the future. The one of Options.Keep stays besides.
func (f *File) prune(made string) error {
	list, err := Backups(f.path)
	if err != nil {
		return err
	}
	keep := ""
	if f.keep != nil {
		keep = f.keep()
	}
	list = slices.DeleteFunc(list, func(b Backup) bool { return b.Path == made || filepath.Base(b.Path) == keep })
	for _, old := range list[min(len(list), keptBackups-1):] {
		if err := os.Remove(old.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an old backup: %w", err)
		}
	}
	return nil
}

// Snapshot returns a copy of the database as it is now, to be read from its start,
// and its size. The file has no name any more: closing it removes it. Readers of the
// copy may take their time, as the database does not wait for them. Without room for
// the copy, the error wraps ErrNoRoom.
func (f *File) Snapshot(ctx context.Context) (*os.File, int64, error) {
	file, err := os.CreateTemp(filepath.Dir(f.path), "snapshot-*")
	if err != nil {
		return nil, 0, fmt.Errorf("copy the database: %w", err)
	}
	directory := filepath.Dir(f.path)
	err = os.Remove(file.Name())
	if err == nil { // a power cut leaves no copy that nobody would remove
		err = durable.SyncDirectory(directory)
	}
	var size int64
	if err == nil {
		err = f.requireRoom(directory, backupReserve)
	}
	if err == nil {
		err = f.copyTo(ctx, file)
	}
	if err == nil {
		size, err = seal(file)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("copy the database: %w", errors.Join(err, file.Close()))
	}
	return file, size, nil
}

// copyTo copies the database to an empty file and verifies the pages of the copy. The
// read transaction lasts as long as writing to the memory of the file system takes, about
// a second for each GiB (BenchmarkSnapshot), longer where the system lets no more wait
// for the disk. What is slow, checking and syncing, comes after it.
func (f *File) copyTo(ctx context.Context, file *os.File) error {
	end := f.readers.begin()
	err := f.guarded(func() error {
		return f.Bolt.View(func(btx *bolt.Tx) error {
			_, err := btx.WriteTo(writer{ctx, file})
			return err
		})
	})
	end()
	if err != nil {
		return err
	}
	return verify(file)
}

// requireRoom returns an error that wraps ErrNoRoom when a copy in the directory would
// leave less free than Options.MinFree and a reserve.
func (f *File) requireRoom(directory string, reserve int64) error {
	return f.space.require(directory, f.Size(), reserve)
}

// RoomForBackup returns an error that wraps ErrNoRoom when there is no room for a backup of the database
// at o.Path, which may not be there.
func RoomForBackup(o Options) error {
	info, err := os.Stat(o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return newSpace(o).require(filepath.Dir(o.Path), info.Size(), backupReserve)
}

// require returns an error that wraps ErrNoRoom when a copy of that size in the directory would leave less
// free than least and a reserve.
func (s *space) require(directory string, size, reserve int64) error {
	free, err := s.measure(directory)
	if err != nil {
		return err
	}
	const mib = 1 << 20
	if rest := s.least + reserve; free < size+rest {
		return fmt.Errorf("%w: a copy takes %d MiB and %d MiB must stay free, there are %d MiB", ErrNoRoom, size/mib+1, rest/mib, free/mib)
	}
	return nil
}

// writer writes until its context ends.
type writer struct {
	ctx context.Context
	to  io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

// ReplaceBackups makes a backup and removes those from before cleared, or after now, when
// there are any: a clock that was wrong names backups after the future. It returns how
// many were removed. Without room for the new one the former stay. What is removed is gone
// for good when it returns nil, and so is a backup that a crash has cut off.
func (f *File) ReplaceBackups(ctx context.Context, cleared time.Time, check func(path string) error) (removed int, err error) {
	list, err := Backups(f.path)
	if err != nil {
		return 0, err
	}
	now, former := f.now(), list[:0]
	for _, b := range list {
		if b.At.Before(cleared) || b.At.After(now) {
			former = append(former, b)
		}
	}
	var made Backup
	if len(former) > 0 {
		if made, err = f.Backup(ctx, "", check); err != nil {
			return 0, err
		}
	}
	for _, b := range former {
		if b.Path == made.Path {
			continue
		}
		if err := os.Remove(b.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed++
	}
	return removed, f.removeUnfinished()
}

// removeUnfinished removes what a crash has left of a backup that was being made, and makes
// durable what was removed from the directory of backups before.
func (f *File) removeUnfinished() error {
	f.backing.Lock()
	defer f.backing.Unlock()
	if err := Remove(unfinishedBackup(f.path)); err != nil {
		return err
	}
	err := durable.SyncDirectory(BackupDirectory(f.path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there never was one
	}
	return err
}

// CompactTo writes what the file holds into a new one at path, without free pages, up to
// step bytes of keys and values in a transaction; each commit is synced. Without room for
// it, the error wraps ErrNoRoom.
func (f *File) CompactTo(path string, step int64) error {
	if err := f.requireRoom(filepath.Dir(path), backupReserve); err != nil {
		return err
	}
	if err := Remove(path); err != nil {
		return err
	}
	to, err := bolt.Open(path, 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	to.AllocSize = GrowStep
	return errors.Join(bolt.Compact(to, f.Bolt, step), to.Close())
}
