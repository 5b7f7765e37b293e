package update

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"sensegate/store/durable"
)

// Limits of a new program on trial: from its start until it is ready, and starts that it may use.
// Tests have less time.
var readyTime = time.Minute

const starts = 3

// runningProgram is the program of this process, also when its file was removed.
const runningProgram = "/proc/self/exe"

// ErrNoFormer: there is no way back.
var ErrNoFormer = errors.New("the program from before the update is not there")

// Begin is called by a program that is to serve, before it does anything that may fail. It decides what
// the note of the last update means to it:
//
//   - New on trial: it is started once more, and Begin returns the trial. After too many starts it has
//     failed.
//   - New and failed, now or before: Begin does not return but runs the former program. Without that one
//     the note is removed.
//   - Former, after the new one has failed: Begin returns the trial, whose end Wait notes.
//   - Any other program: the note is removed.
//
// Otherwise it returns nil. An error is for the log: the program serves all the same.
func Begin(stateDir string) (*Trial, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	removeNext(program)
	t, err := Last(stateDir)
	if err != nil || t == nil || t.State == Taken {
		return nil, err
	}
	sum, err := sumOf(runningProgram)
	switch {
	case err != nil:
		return nil, err
	case sum == t.Former && (t.State == Back || t.State == OnTrial && t.Starts > 0):
		t.isFormer = true
		t.Why = cmp.Or(t.Why, "the former program was put back by hand")
		return t, nil
	case sum == t.Former:
		return nil, nil
	case sum != t.New:
		return nil, t.forget()
	case t.State == OnTrial && t.Starts < starts:
		t.Starts++
		return t, t.save()
	case t.State == OnTrial:
		err = t.GoBack(fmt.Sprintf("it ended %d times before it was ready", starts))
	default:
		err = t.runFormer()
	}
	return nil, errors.Join(err, t.forget())
}

// Waiting returns the update that installed the program of this process and is still on trial; nil: none.
func Waiting(stateDir string) (*Trial, error) {
	t, err := Last(stateDir)
	if err != nil || t == nil || t.State != OnTrial {
		return nil, err
	}
	if sum, err := sumOf(runningProgram); err != nil || sum != t.New {
		return nil, err
	}
	return t, nil
}

// OnTrial reports whether this is the new program.
func (t *Trial) OnTrial() bool { return t != nil && !t.isFormer }

// WentBack reports whether this is the former program, for the first time after the new one has failed.
func (t *Trial) WentBack() bool { return t != nil && t.isFormer }

// Wait notes what came of the update once this program is ready: that it is taken, or that the former
// program is back. A new program that is not ready in a minute goes back. t may be nil. It returns at
// once.
func (t *Trial) Wait(ready <-chan struct{}, log *slog.Logger) {
	if t == nil {
		return
	}
	if t.isFormer {
		log.Error("the update failed: the former program runs again", "version", t.Version, "why", t.Why)
	}
	go func() {
		limit := time.NewTimer(readyTime)
		defer limit.Stop()
		late := limit.C
		if t.isFormer {
			late = nil
		}
		var err error
		select {
		case <-ready:
			err = t.end()
		case <-late:
			err = t.GoBack("it was not ready in a minute")
		}
		if err != nil {
			log.Error("the last update", "err", err)
		}
	}()
}

// end notes that this program is ready.
func (t *Trial) end() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.State = Taken; t.isFormer {
		t.State = Returned
	}
	return t.save()
}

// Migrating is called by the new program before it changes the form of the database, with the path of
// the backup from before, or why there is none. Without a backup there would be no way back: the error
// is returned, and nothing is to be changed.
func (t *Trial) Migrating(backup string, err error) error {
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Backup = filepath.Base(backup)
	return t.save()
}

// Restored notes that the former program has got its database back.
func (t *Trial) Restored() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Backup = ""
	return t.save()
}

// GoBack notes that the new program has failed, and why, and runs the former one in its place. It
// returns only an error.
func (t *Trial) GoBack(why string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.hasFormer(); err != nil {
		return err
	}
	t.State, t.Why = Back, why
	err := t.save() // without a note, on a full disk for example, the former one runs all the same
	return errors.Join(err, t.runFormer())
}

// GiveUp notes for a new program that runs no more that it has failed, and why, and puts the former one
// in its place.
func (t *Trial) GiveUp(why string) error {
	if last, err := Last(t.stateDir); err == nil && last != nil && last.New == t.New {
		t.Starts, t.Backup = last.Starts, last.Backup
	}
	t.State, t.Why = Back, why
	return errors.Join(t.save(), t.PutBack())
}

// FormerPath is where the former program is kept.
func (t *Trial) FormerPath() string { return t.program + formerSuffix }

// hasFormer returns nil when there is a way back: the former program of this very trial, in its place
// again or beside it.
func (t *Trial) hasFormer() error {
	for _, path := range []string{t.program, t.FormerPath()} {
		if sum, err := sumOf(path); err == nil && sum == t.Former {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", t.FormerPath(), ErrNoFormer)
}

// PutBack puts the former program in the new one's place, for the next start, unless it is there. Both
// have to be those of this trial.
func (t *Trial) PutBack() error {
	present, err := sumOf(t.program)
	switch {
	case err != nil:
		return err
	case present == t.Former:
		return nil
	case present != t.New:
		return fmt.Errorf("%s is not the program that the update installed: it stays", t.program)
	}
	if err := t.hasFormer(); err != nil {
		return err
	}
	if err := os.Rename(t.FormerPath(), t.program); err != nil {
		return fmt.Errorf("put the former program back: %w", err)
	}
	return durable.SyncDirectory(filepath.Dir(t.program))
}

// runFormer replaces the process by the former program, which takes its place on the disk where this
// user may do that.
func (t *Trial) runFormer() error {
	path := t.program
	if t.PutBack() != nil {
		path = t.FormerPath()
		if sum, err := sumOf(path); err != nil || sum != t.Former {
			return fmt.Errorf("%s: %w", path, ErrNoFormer)
		}
	}
	err := syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ())
	return fmt.Errorf("run the former program: %w", err)
}
