package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store/file"
)

// checkTime is how long the records of a file are verified at a start that are not vital. Of
// a file that is too big for that the rest is verified when it is read.
const checkTime = 2 * time.Second

// Recovery says what was done about a damaged database.
type Recovery struct {
	At       motion.Time `json:"at"`                  // seconds
	Damage   string      `json:"damage"`              // what was found
	Aside    string      `json:"aside"`               // where the damaged file lies; "" = it was missing, or is in use still
	Backup   string      `json:"backup,omitempty"`    // that took its place, or what could not be read was taken from; "" = none
	BackupAt motion.Time `json:"backup_at,omitempty"` // when it was made, seconds
	Restored string      `json:"restored,omitempty"`  // records that were taken from Backup, such as "2 of leafs"; "" = Backup as a whole, and what happened since is lost
	Lost     string      `json:"lost,omitempty"`      // records that are lost, such as "2 of leafs"; "" = none
	Untold   bool        `json:"untold,omitempty"`    // the networks' histories do not tell of it yet
}

// OpenOrRecover opens the database as Open does and verifies its records too, those that are
// not vital for at most 2 s. Wrong indexes are rebuilt, and records that cannot be read are dropped unless
// what a person owns or who may enter depends on them. Otherwise a damaged file is kept
// under another name, and what can be read of it takes its place in a new one, with the
// newest backup that is whole for the rest; where that is too little, the backup alone.
// Without one the error says what to do: an empty database would be a new appliance, open
// to whoever comes first. recovery is nil when there was none to be done.
func OpenOrRecover(ctx context.Context, o Options) (db *DB, recovery *Recovery, err error) {
	o = o.withDefaults()
	db, lost, err := openChecked(ctx, o)
	if err == nil && lost == "" {
		return db, nil, nil
	}
	if err == nil {
		recovery = &Recovery{At: motion.TimeOf(o.Now()), Damage: "records could not be read", Lost: lost, Untold: true}
		return db.recovered(o, recovery)
	}
	if !isDamage(err) {
		return nil, nil, sentence(o.Path, err)
	}
	firstErr, droppedFirst := err, lost
	recovery, err = replaceDamaged(ctx, o, firstErr)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, sentence(o.Path, firstErr)
	case err != nil:
		return nil, nil, fmt.Errorf("recover the damaged database %s: %w", o.Path, err)
	}
	if db, lost, err = openChecked(ctx, o); err != nil {
		return nil, nil, sentence(o.Path, err)
	}
	if recovery.Whole() {
		droppedFirst = "" // the backup has them
	}
	recovery.Lost = strings.Join(slices.DeleteFunc([]string{droppedFirst, recovery.Lost, lost}, func(s string) bool { return s == "" }), ", ")
	return db.recovered(o, recovery)
}

// OpenWhole opens the database as OpenOrRecover does, but fails where that would change something about damage:
// for a program that has not proven yet that it can read what is there.
func OpenWhole(ctx context.Context, o Options) (*DB, error) {
	o = o.withDefaults()
	db, err := open(o, migrations())
	switch {
	case err != nil && isDamage(err):
		return nil, fmt.Errorf("database %s cannot be read or migrated: %w", o.Path, err)
	case err != nil:
		return nil, sentence(o.Path, err)
	}
	if err := db.checkAtStart(ctx, checkTime); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, errors.Join(fmt.Errorf("database %s cannot be read whole: %w", o.Path, err), db.Close())
	}
	db.verified.Store(true)
	return db, nil
}

// recovered notes what was done about damage.
func (db *DB) recovered(o Options, recovery *Recovery) (*DB, *Recovery, error) {
	if err := db.noteHealth(false, recovery); err != nil {
		return nil, nil, errors.Join(sentence(o.Path, err), db.Close())
	}
	return db, recovery, nil
}

// openChecked opens the database, verifies its records for a bounded time and mends what
// it can. lost tells which records were dropped, "" for none.
func openChecked(ctx context.Context, o Options) (db *DB, lost string, err error) {
	db, err = open(o, migrations())
	if err != nil {
		return nil, "", err
	}
	lost, err = db.mend(ctx)
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		if err != nil {
			o.Logger.Info("database too big to be verified whole at the start", "path", o.Path)
		}
		db.verified.Store(true)
		return db, lost, nil
	case ctx.Err() == nil && fault.KindOf(err) != fault.Unavailable:
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil, lost, errors.Join(err, db.Close())
}

// isDamage reports whether opening failed for what the file holds, and not for what
// the system, another process or another version of this program is to blame.
func isDamage(err error) bool {
	var number syscall.Errno
	switch {
	case errors.Is(err, ErrDamaged):
		return true
	case errors.Is(err, ErrLocked), errors.Is(err, ErrNewer), errors.Is(err, context.Canceled), fault.KindOf(err) == fault.Unavailable:
		return false
	case errors.As(err, &number):
		return number == syscall.EIO // it cannot be read
	}
	return true
}

// replaceDamaged puts in place of the damaged database what can be salvaged of it, with the
// newest whole backup for the rest; or else that backup. Without either it changes nothing
// and returns an error that wraps fs.ErrNotExist.
func replaceDamaged(ctx context.Context, o Options, damage error) (*Recovery, error) {
	now := o.Now()
	recovery := &Recovery{At: motion.TimeOf(now), Damage: damage.Error(), Untold: true}
	info, err := os.Lstat(o.Path)
	if err == nil {
		recovery.Aside = file.AsidePath(o.Path, "damaged", now)
		err = fmt.Errorf("%w: it is no file, or empty", errNotSalvaged)
		if info.Mode().IsRegular() && info.Size() > 0 {
			err = salvageDamaged(ctx, o, recovery)
		}
		if errors.Is(err, errNotSalvaged) {
			o.Logger.Warn("the damaged database cannot be salvaged", "err", err)
		}
	}
	if errors.Is(err, errNotSalvaged) || errors.Is(err, fs.ErrNotExist) {
		err = recovery.restore(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	o.Logger.Error(recovery.summary(), "damage", recovery.Damage, "aside", recovery.Aside,
		"lost", recovery.Lost, "backup", recovery.Backup, "restored", recovery.Restored)
	return recovery, nil
}

// restore puts the newest whole backup in place of the database.
func (r *Recovery) restore(ctx context.Context, o Options) error {
	o.aside = r.Aside
	b, err := RestoreLast(ctx, o)
	if err != nil {
		return err
	}
	r.Backup, r.BackupAt, r.Restored, r.Lost = b.Path, motion.TimeOf(b.At), "", ""
	return nil
}

// Whole reports whether a backup as a whole took the place of the database.
func (r *Recovery) Whole() bool { return r.Backup != "" && r.Restored == "" }

// summary says what was done about the damage.
func (r *Recovery) summary() string {
	switch {
	case r.Whole():
		return "database was damaged: the last backup took its place, what happened since is lost"
	case r.Backup != "":
		return "database was damaged: what could be read was copied into a new file, and what could not was taken from the last backup"
	case r.Lost != "":
		return "database was damaged: what could be read was copied into a new file, the rest is lost"
	}
	return "database was damaged: all of it could be read and was copied into a new file, nothing is lost"
}
