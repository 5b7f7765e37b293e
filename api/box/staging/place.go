package staging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"sensegate/motion"
	"sensegate/store"
)

// mostAttempts is how many starts begin to carry out an order: one that ended the process
// each time, as for want of memory, is not begun for ever.
const mostAttempts = 3

// errSpoilt says that the staged file is not what was checked.
var errSpoilt = errors.New("the staged backup cannot be used, nothing was replaced: upload it again")

// Place carries out the order that Apply has left, if there is one: at the start of the
// appliance, before the database at o.Path is opened. The former database is kept beside it
// under another name. It returns an error only when the start cannot go on: another process
// holds the database, or ctx ended; the next start tries again then. Anything else is noted as
// the outcome, and the former database is in its place.
func Place(ctx context.Context, directory string, o store.Options) error {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	unlock, err := lock(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("restore the uploaded backup: %w", err)
	}
	defer unlock()
	pending, err := pendingOrder(directory)
	if err != nil {
		o.Logger.Error("backup not restored: what is to be done cannot be read", "err", err)
	}
	if pending == nil {
		return nil
	}
	pending.Attempts++
	if pending.Aside == "" {
		pending.Aside = filepath.Base(store.ReplacedPath(o.Path, o.Now()))
	}
	if err := write(directory, orderName, pending); err != nil {
		o.Logger.Error("backup not restored yet: what is done cannot be noted; the next start tries again", "err", err)
		return nil
	}
	o.Logger.Info("the staged backup is checked and takes the database's place, which may take minutes", "bytes", pending.Size)
	aside := filepath.Join(filepath.Dir(o.Path), pending.Aside)
	err = pending.place(ctx, directory, o, aside)
	if errors.Is(err, store.ErrLocked) || err != nil && ctx.Err() != nil {
		pending.Attempts-- // it was not begun, or is to be gone on with
		return errors.Join(err, write(directory, orderName, pending))
	}
	pending.ended(directory, o, aside, err)
	return nil
}

// lock keeps two starts at once from carrying out the same order: the other one waits, and finds it
// done. The error wraps fs.ErrNotExist where nothing was ever staged.
func lock(directory string) (unlock func(), err error) {
	d, err := os.OpenFile(directory, os.O_RDONLY|syscall.O_DIRECTORY, 0) // a pipe would keep a start waiting
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return func() { _ = d.Close() }, nil // which gives the lock back
}

// keptReplaced is how many replaced databases stay: an administrator without a terminal could not
// remove them, and each is a whole household.
const keptReplaced = 2

// prune removes the replaced databases but the newest ones, and never aside, the one just made: a clock
// that was wrong may have named others after the future.
func prune(o store.Options, aside string) {
	list, err := store.Replaced(o.Path)
	list = slices.DeleteFunc(list, func(path string) bool { return path == aside })
	for _, old := range list[:max(0, len(list)-keptReplaced+1)] {
		err = errors.Join(err, os.Remove(old))
	}
	if err != nil {
		o.Logger.Warn("databases that were replaced earlier are not removed", "err", err)
	}
}

// pendingOrder returns the order that is to be carried out, nil for none. One whose outcome is
// known is removed.
func pendingOrder(directory string) (*order, error) {
	pending, err := read[order](directory, orderName)
	if err != nil {
		return nil, err
	}
	if pending == nil { // what cannot be understood is no order
		return nil, removeThere(directory, orderName)
	}
	last, err := read[Outcome](directory, lastName)
	if err != nil {
		return nil, err
	}
	if last != nil && last.ID == pending.Order {
		return nil, pending.conclude(directory, *last, last.OK)
	}
	return pending, nil
}

// removeThere removes a file if it is there.
func removeThere(directory, name string) error {
	if _, err := os.Lstat(filepath.Join(directory, name)); err != nil {
		return nil
	}
	return remove(directory, name)
}

// place puts the staged backup in place of the database, which is kept as aside.
func (o order) place(ctx context.Context, directory string, options store.Options, aside string) error {
	path := filepath.Join(directory, o.file())
	sum, err := digest(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		// A power cut may have come after it was placed: nothing has opened it since.
		if sum, err = digest(ctx, options.Path); err == nil && sum == o.SHA256 {
			return nil
		}
		return fmt.Errorf("%w: it is gone", errSpoilt)
	}
	switch {
	case err != nil:
		return fmt.Errorf("read the staged backup, nothing was replaced: %w", err)
	case sum != o.SHA256:
		return fmt.Errorf("%w: it has changed on the disk since it was checked", errSpoilt)
	case o.Attempts > mostAttempts:
		return fmt.Errorf("restoring was begun %d times, and the appliance ended each time before it was done", mostAttempts)
	}
	_, err = store.Place(ctx, options, path, aside)
	return err
}

// ended notes the outcome: failure is nil when the backup is in its place. What cannot be
// noted does not keep the appliance from starting.
func (o order) ended(directory string, options store.Options, aside string, failure error) {
	outcome := Outcome{At: motion.TimeOf(options.Now()), OK: failure == nil}
	if outcome.OK {
		if _, err := os.Lstat(aside); err == nil {
			outcome.Aside = o.Aside
		}
		installed := o.InstalledAt.Std().Format(time.DateOnly)
		outcome.Text = fmt.Sprintf("restored: %d networks, %d accounts, installed %s", o.Networks, o.Users, installed)
		options.Logger.Warn("the staged backup has taken the database's place", "aside", outcome.Aside)
		prune(options, aside)
	} else {
		outcome.Text = failure.Error()
		options.Logger.Error("the staged backup was not restored: the former database is used", "why", outcome.Text)
	}
	drop := outcome.OK || errors.Is(failure, errSpoilt) || errors.Is(failure, store.ErrDamaged)
	if err := o.conclude(directory, outcome, drop); err != nil {
		options.Logger.Error("what came of the restore cannot be noted", "err", err)
	}
}
