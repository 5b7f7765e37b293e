package update

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Limits of a new program on trial: from its start until it is ready, without its migration of the database,
// and of that. Tests have less time.
var (
	readyTime     = time.Minute
	migrationTime = 15 * time.Minute // as the unit of systemd gives a start
	saveAgain     = 5 * time.Second  // after a note that could not be saved
)

// Trial is the part of a program in an update that is not over. Its methods may be called concurrently, and of
// nil, which is no trial.
type Trial struct {
	goesBack bool // this is the former program, whose database is to come back
	lost     bool // this is the former program, since the new one was good and does not run any more
	log      *slog.Logger

	mu    sync.Mutex // guards what follows
	note  Note
	limit *time.Timer
	ended bool // it was ready, or has failed
}

// newTrial begins the trial of a next program, which fails when it is not ready in a minute.
func newTrial(n *Note, log *slog.Logger) *Trial {
	t := &Trial{note: *n, log: log}
	t.within(readyTime, "it was not ready in a minute")
	return t
}

// within limits the time from now on. Who is late notes that and ends the process.
func (t *Trial) within(limit time.Duration, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limit != nil {
		t.limit.Stop()
	}
	if t.ended {
		return
	}
	t.limit = time.AfterFunc(limit, func() {
		if t.Fail(why) {
			os.Exit(1)
		}
	})
}

// OnTrial reports whether this is the new program.
func (t *Trial) OnTrial() bool { return t != nil && !t.goesBack && !t.lost }

// Backup returns the name of the backup that the former program is to get back; "": none.
func (t *Trial) Backup() string {
	if t == nil || !t.goesBack {
		return ""
	}
	return t.note.Backup
}

// Kept returns the path of the new program, if that is still beside the former one; "": it is not.
func (t *Trial) Kept() string {
	program, err := Program()
	if err != nil || isProgram(Next(program), t.note.New) != nil {
		return ""
	}
	return Next(program)
}

// Opened notes that the former program has opened its database, which it has got back, or which was never changed: the
// update is over.
func (t *Trial) Opened() error {
	if t == nil || t.OnTrial() {
		return nil
	}
	t.note.State, t.note.Backup = Returned, ""
	return t.note.save()
}

// Migrate is called by the new program to change the form of its database: it makes a backup before, of which
// it notes the name, unless one was made at an earlier start that check finds whole: the former program may have
// got that back meanwhile. Where the note has the backup from before an update that was lost, the former program gets
// that one, and the new one is for people. Without a backup there would be no way back:
// then it returns an error, and nothing is changed.
func (t *Trial) Migrate(check func(backup string) error, backUp func() (path string, err error), migrate func() error) error {
	t.within(migrationTime, "its migration of the database took more than 15 minutes")
	defer t.within(readyTime, "it was not ready in a minute after its migration of the database")
	if t.note.Carried || t.note.Backup == "" || check(t.note.Backup) != nil {
		path, err := backUp()
		if err != nil {
			return err
		}
		t.mu.Lock()
		if !t.note.Carried {
			t.note.Backup = filepath.Base(path)
		}
		t.note.Carried = false
		err = t.note.save()
		t.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return migrate()
}

// Fail notes that the new program has failed, and why, for the next start. It is false when the trial has ended
// before, or this is none.
func (t *Trial) Fail(why string) bool {
	if !t.OnTrial() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.ended = true
	t.note.State, t.note.Why = Failed, why
	t.log.Error("the new program has failed: the next start goes back to the former one", "version", t.note.Version, "why", why)
	if err := t.note.save(); err != nil {
		t.log.Error("the last update", "err", err) // this start counts all the same
	}
	return true
}

// Ready notes that the new program is good. It returns when that is noted, which it tries until it can.
func (t *Trial) Ready() {
	if !t.OnTrial() {
		return
	}
	t.mu.Lock()
	failed := t.ended
	t.ended = true
	t.limit.Stop()
	t.mu.Unlock()
	if failed {
		return
	}
	t.note.State = Good // nothing else changes it any more
	for told := false; ; told = true {
		err := t.note.save()
		if err == nil {
			t.log.Info("the new program is good", "version", t.note.Version)
			return
		}
		if !told {
			t.log.Error("the new program is ready, which cannot be noted yet and is tried again", "version", t.note.Version, "err", err)
		}
		time.Sleep(saveAgain)
	}
}
