package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"sensegate/motion"
	"sensegate/store/durable"
)

// checkTime is how long the records of a file are verified at a start. Those that a
// start itself needs come first; of a file that is too big for that the rest is
// verified when it is read.
const checkTime = 2 * time.Second

// Recovery says what was done about a damaged database.
type Recovery struct {
	At       motion.Time `json:"at"`                  // seconds
	Damage   string      `json:"damage"`              // what was found
	Aside    string      `json:"aside"`               // where the damaged file lies
	Backup   string      `json:"backup,omitempty"`    // that took its place; "" = there was none, the database began empty
	BackupAt motion.Time `json:"backup_at,omitempty"` // what happened since is lost, seconds
}

// OpenOrRecover opens the database as Open does and verifies its records too, for at
// most 2 s. A damaged file is kept under another name, and the newest backup that is
// whole takes its place, or an empty database when there is none: a start never fails
// for damage again and again. recovery is nil when there was none to be done.
func OpenOrRecover(ctx context.Context, o Options) (db *DB, recovery *Recovery, err error) {
	o = o.withDefaults()
	db, err = openChecked(ctx, o)
	if err == nil {
		return db, nil, nil
	}
	if !isDamage(err) {
		return nil, nil, sentence(o.Path, err)
	}
	if recovery, err = replaceDamaged(ctx, o, err); err != nil {
		return nil, nil, fmt.Errorf("recover the damaged database %s: %w", o.Path, err)
	}
	if db, err = openChecked(ctx, o); err != nil {
		return nil, nil, sentence(o.Path, err)
	}
	if err := db.noteHealth(false, recovery); err != nil {
		return nil, nil, errors.Join(sentence(o.Path, err), db.Close())
	}
	return db, recovery, nil
}

// openChecked opens the database and verifies its records for a bounded time.
func openChecked(ctx context.Context, o Options) (*DB, error) {
	db, err := open(o, migrations())
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	err = db.View(limited, func(tx *Tx) error { return tx.checkRecords(limited) })
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, context.DeadlineExceeded):
		o.Logger.Info("database too big to be verified whole at the start", "path", o.Path)
		return db, nil
	case ctx.Err() == nil:
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil, errors.Join(err, db.Close())
}

// isDamage reports whether opening failed for what the file holds, and not for what
// the system, another process or another version of this program is to blame.
func isDamage(err error) bool {
	var number syscall.Errno
	switch {
	case errors.Is(err, ErrDamaged):
		return true
	case errors.Is(err, ErrLocked), errors.Is(err, ErrNewer), errors.Is(err, context.Canceled):
		return false
	case errors.As(err, &number):
		return number == syscall.EIO // it cannot be read
	}
	return true
}

// replaceDamaged puts the newest backup, or nothing, in place of the damaged database.
// A power cut meanwhile leaves the damaged file in its place, or the new one.
func replaceDamaged(ctx context.Context, o Options, damage error) (*Recovery, error) {
	now := o.Now()
	recovery := &Recovery{
		At: motion.TimeOf(now), Damage: damage.Error(),
		Aside: fmt.Sprintf("%s.damaged-%s", o.Path, now.UTC().Format(backupTime)),
	}
	o.aside = recovery.Aside
	b, err := RestoreLast(ctx, o)
	switch {
	case err == nil:
		recovery.Backup, recovery.BackupAt = b.Path, motion.TimeOf(b.At)
		o.Logger.Error("database was damaged: the last backup took its place, what happened since is lost",
			"damage", recovery.Damage, "aside", recovery.Aside, "backup", recovery.Backup)
	case errors.Is(err, fs.ErrNotExist):
		if err := errors.Join(os.Rename(o.Path, recovery.Aside), durable.SyncDirectory(filepath.Dir(o.Path))); err != nil {
			return nil, err
		}
		o.Logger.Error("database was damaged and there is no backup: starting empty, devices and people have to join anew",
			"damage", recovery.Damage, "aside", recovery.Aside)
	default:
		return nil, err
	}
	return recovery, nil
}

// readable runs fn, which reads the mapped file. Where the disk cannot give a page any
// more, that is made an error that wraps ErrDamaged and closes Failed, as the process has
// to start again and recover the file.
func (db *DB) readable(fn func() error) error {
	met, err := faultOf(fn)
	if met != nil {
		return db.fail(damaged("%s cannot be read: %v", db.path, met))
	}
	return err
}

// faultOf runs fn, which reads the mapped file. Where the disk cannot give a page any more,
// the system faults: then it returns the fault, and fn is cut short. Other panics go on.
func faultOf(fn func() error) (met any, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		met = recover()
		if met == nil {
			return
		}
		if _, isFault := met.(interface{ Addr() uintptr }); !isFault {
			panic(met)
		}
	}()
	return nil, fn()
}
