package store

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"sensegate/store/file"
)

// Backup is a whole copy of the database in a file.
type Backup = file.Backup

// BackupDirectory returns where the backups of the database at path lie.
func BackupDirectory(path string) string { return file.BackupDirectory(path) }

// CheckBackup returns why a backup of the database at path, named as Backups names it, cannot be used.
func CheckBackup(path, name string) error {
	return file.CheckBackup(filepath.Join(file.BackupDirectory(path), filepath.Base(name)))
}

// RoomForBackup returns an error that wraps ErrNoRoom, with figures, when there is no room for a backup of
// the database at o.Path, whether it is open or not.
func RoomForBackup(o Options) error { return file.RoomForBackup(o.file()) }

// Backups returns the backups of the database at path, the newest first.
func Backups(path string) ([]Backup, error) { return file.Backups(path) }

// Backup copies the database into its directory of backups, whole or not at all, checks
// every page and index of the copy, and removes all but the last 7 there: a database that
// is damaged does not push out those that were not. It is used meanwhile; what it wrote
// before Backup was called is in the copy. Without room for the copy, the error wraps
// ErrNoRoom.
func (db *DB) Backup(ctx context.Context) (Backup, error) {
	return db.file.Backup(ctx, "", wholeCopy(ctx))
}

// wholeCopy returns a check of the copy at a path.
func wholeCopy(ctx context.Context) func(path string) error {
	return func(path string) error {
		_, err := examine(ctx, Options{}.withDefaults(), path)
		return err
	}
}

// Snapshot returns a copy of the database as it is now, to be read from its start,
// and its size. The file has no name any more: closing it removes it. Readers of the
// copy may take their time, as the database does not wait for them. Without room for
// the copy, the error wraps ErrNoRoom.
func (db *DB) Snapshot(ctx context.Context) (*os.File, int64, error) { return db.file.Snapshot(ctx) }

// When the database is backed up.
const (
	backupTick  = 10 * time.Minute // between two looks at the clock
	backupHour  = 3                // local time, when a home sleeps
	backupNight = 12 * time.Hour   // less than from one night to the next
	backupLate  = 36 * time.Hour   // after which it is made at any hour: the box is off at night
)

// BackUpNightly makes a backup each night until ctx ends. One that cannot be made is
// logged and tried again in the next night.
func (db *DB) BackUpNightly(ctx context.Context) error {
	last, err := db.lastBackup(ctx)
	if err != nil {
		db.logger.Warn("last backup unknown", "err", err)
		last = db.now()
	}
	ticker := time.NewTicker(backupTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now := db.now()
		if !backupDue(now, last) {
			continue
		}
		last = now
		made, err := db.Backup(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			db.logger.Warn("database not backed up", "err", err)
		default:
			db.logger.Info("database backed up", "path", made.Path, "bytes", made.Size)
		}
	}
}

// backupDue reports whether a database that was backed up at last is to be backed up
// now. While the clock is behind last it is wrong, and nothing is due.
func backupDue(now, last time.Time) bool {
	age := now.Sub(last)
	return now.Hour() == backupHour && age > backupNight || age > backupLate
}

// lastBackup returns when the newest backup was made, and without one the database.
// What a clock that was wrong has named after the future does not count.
func (db *DB) lastBackup(ctx context.Context) (last time.Time, err error) {
	list, err := Backups(db.Path())
	if err != nil {
		return last, err
	}
	for _, b := range list {
		if !b.At.After(db.now()) {
			return b.At, nil
		}
	}
	installed, err := Read(ctx, db, (*Tx).InstalledAt)
	return installed.Std(), err
}
