package update

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// starts is how often a new program is started before it has failed.
const starts = 3

// mark names the variable by which the installed program tells the next one, of the same process, that it was
// started by it: with the process id and the SHA-256 of the next one.
const mark = "SENSEGATES_TRIAL"

// ErrStopped: somebody has stopped the process while it was about to run another program.
var ErrStopped = errors.New("stopped")

// role is what a program is to a note.
type role int

const (
	stranger  role = iota // none that the note names, or in another place
	former                // it is to be replaced
	next                  // it is tried, or was and is not installed yet
	installed             // it is the new one, and in its place
)

// role returns what the program of this process is to the note.
func (n *Note) role() (role, error) {
	if !n.State.present() {
		return stranger, nil
	}
	path, err := os.Executable()
	if err != nil {
		return stranger, err
	}
	switch sum, err := sumOf(runningProgram); {
	case err != nil:
		return stranger, err
	case sum == n.Former:
		return former, nil
	case sum == n.New && strings.HasSuffix(path, nextSuffix):
		return next, nil
	case sum == n.New && (n.State == Good || n.State == Taken):
		return installed, nil
	}
	return stranger, nil
}

// Begin is called by a program that is to serve, before it does anything else. The installed program decides
// what the note of the last update means, and runs the next one in its place, without returning, while that is
// tried or once it is good. A next program that was started by hand runs the installed one.
//
// Begin returns the trial of a next program that is tried, and the one of a former program that has to get its
// database back, or may find that it can read that without; otherwise nil. With an error, the program must not serve; it is ErrStopped when stopped, called
// before another program is run, reports that somebody has stopped the process.
func Begin(stateDir string, stopped func() bool, log *slog.Logger) (*Trial, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program, err := Program()
	if err != nil {
		return nil, err
	}
	_ = syscall.Unlink(filepath.Join(stateDir, unfinished)) // what a command of root left that was cut off would be in this user's way; one that is at work writes it anew
	s := start{stateDir, program, stopped, log}
	if path == Next(program) {
		return s.next()
	}
	return s.installed()
}

// start is one start of a program that is to serve.
type start struct {
	stateDir, program string
	stopped           func() bool
	log               *slog.Logger
}

// next is a start of the next program.
func (s start) next() (*Trial, error) {
	pid, sum, _ := strings.Cut(os.Getenv(mark), " ")
	_ = os.Unsetenv(mark) // it fails for malformed names
	if pid != strconv.Itoa(os.Getpid()) {
		return nil, s.run(s.program, "")
	}
	n, err := Last(s.stateDir)
	switch {
	case err != nil:
		return nil, err // it could not note what becomes of it
	case n != nil && n.New == sum && n.State == Trying:
		return newTrial(n, s.log), nil
	case n != nil && n.New == sum && n.State == Good:
		return nil, nil
	}
	return nil, errors.New("the note of the update has changed since it was read: start again")
}

// installed is a start of the program that is installed.
func (s start) installed() (*Trial, error) {
	n, err := Last(s.stateDir)
	if err != nil {
		s.log.Error("the last update", "err", err)
		return nil, nil
	}
	if n == nil || n.State == Taken && isAt(s.program) {
		RemoveNext(s.program)
		return nil, nil
	}
	as, err := n.role()
	if err != nil {
		return nil, err
	}
	switch {
	case n.State == Taken:
		if as == former && isProgram(s.program, n.New) == nil { // installed since this process began
			return nil, s.run(s.program, "")
		}
		return nil, nil
	case as == stranger:
		s.log.Warn("the note of an update is not about this program and is removed", "update", n.Version, "state", string(n.State), "backup", n.Backup, "former", FormerOf(s.program))
		RemoveNext(s.program)
		return nil, s.note(n.forget())
	case as == installed: // and the command was cut off
		n.State = Taken
		return nil, s.note(n.save())
	}
	switch n.State {
	case Trying:
		return s.try(n)
	case Good:
		err := s.runNew(n)
		if errors.Is(err, ErrStopped) {
			return nil, err
		}
		n.Why = "it was good, and cannot be run any more"
		return &Trial{note: *n, lost: true}, s.note(fmt.Errorf("%w (to go back: stop the appliance, sensegate update -cancel)", err)) // the database may be of this program's form all the same
	case Failed:
		return s.goBack(n)
	}
	RemoveNext(s.program)
	return nil, nil
}

// note logs that a note could not be written, without which the program serves all the same.
func (s start) note(err error) error {
	if err != nil {
		s.log.Error("the last update", "err", err)
	}
	return nil
}

// lockTime is how long a start waits for a command that gives the update up or has just noted it.
const lockTime = 5 * time.Second

// try runs the next program for one more start, unless it has used them up.
func (s start) try(n *Note) (*Trial, error) {
	file, err := openLocked(Next(s.program), 0)
	for end := time.Now().Add(lockTime); errors.Is(err, ErrBusy) && time.Now().Before(end); file, err = openLocked(Next(s.program), 0) {
		time.Sleep(lockTime / 100)
	}
	if errors.Is(err, ErrBusy) {
		s.log.Warn("the new program is not tried at this start", "version", n.Version, "err", err)
		return nil, nil
	}
	if err == nil {
		defer file.Close()
	}
	known, again := n, error(nil)
	if n, again = Last(s.stateDir); again != nil || n == nil || *n != *known {
		return s.installed() // it was given up meanwhile
	}
	if err == nil {
		err = isProgram(Next(s.program), n.New)
	}
	switch {
	case err != nil:
		return s.fail(n, err.Error())
	case n.Attempts >= starts:
		return s.fail(n, fmt.Sprintf("it ended %d times before it was ready", starts))
	}
	n.Attempts++
	if err := n.save(); err != nil && n.Backup == "" {
		s.log.Error("the new program is not tried at this start", "version", n.Version, "err", err)
		return nil, nil
	} else if err != nil { // it would be tried for ever, and the database may be its own already
		n.Why = "a start of it cannot be counted: " + err.Error()
		return s.goBack(n)
	}
	s.log.Info("trying the new program", "version", n.Version, "start", n.Attempts, "of", starts)
	if err = s.run(Next(s.program), n.New); errors.Is(err, ErrStopped) {
		return nil, err
	}
	n.State, n.Why = Failed, err.Error()
	return nil, errors.Join(err, n.save(), execute(s.program, "")) // which goes back
}

// fail notes that the new program has failed, and why, and goes back.
func (s start) fail(n *Note, why string) (*Trial, error) {
	n.State, n.Why = Failed, why
	_ = s.note(n.save()) // the next start finds the same, and what it takes back is back then
	return s.goBack(n)
}

// goBack lets the former program serve again, once it has got its database back.
func (s start) goBack(n *Note) (*Trial, error) {
	s.log.Error("the update failed: going back to the former program", "version", n.Version, "why", n.Why)
	if n.Backup != "" {
		return &Trial{note: *n, goesBack: true}, nil
	}
	n.State = Returned
	RemoveNext(s.program)
	return nil, s.note(n.save())
}

// runNew runs the program that was good, which the command may be installing at this moment.
func (s start) runNew(n *Note) error {
	var failed error
	for _, path := range []string{Next(s.program), s.program} {
		err := isProgram(path, n.New)
		if err == nil {
			err = s.run(path, n.New)
		}
		if errors.Is(err, ErrStopped) {
			return err
		}
		failed = errors.Join(failed, err)
	}
	return fmt.Errorf("%s was good, and cannot be run: %w", n.Version, failed)
}

// run replaces this process by another program, which finds the SHA-256 in its mark unless that is "".
func (s start) run(path, sum string) error {
	if s.stopped() {
		return ErrStopped
	}
	return execute(path, sum)
}

func execute(path, sum string) error {
	err := os.Unsetenv(mark)
	if sum != "" {
		err = os.Setenv(mark, fmt.Sprintf("%d %s", os.Getpid(), sum))
		if _, set := os.LookupEnv("GOTRACEBACK"); !set {
			err = errors.Join(err, os.Setenv("GOTRACEBACK", "crash")) // else a panic ends with 2, after which some supervisors start nothing
		}
	}
	if err == nil {
		err = syscall.Exec(path, os.Args, os.Environ())
	}
	return fmt.Errorf("run %s: %w", path, err)
}

// Offline is called by a command that opens the database of an appliance that does not run. It returns why
// that must not be, while an update is tried or failed. When the new program is good and not installed yet, it
// runs that one in place of this process.
func Offline(stateDir string) error {
	n, err := Last(stateDir)
	if err != nil || n == nil || n.over() {
		return err
	}
	as, err := n.role()
	if err != nil || as == stranger || as == installed {
		return err
	}
	if n.State != Good {
		return n.open()
	}
	if as == next {
		return nil
	}
	program, err := Program()
	if err != nil {
		return err
	}
	_ = start{stateDir, program, func() bool { return false }, nil}.runNew(n) // otherwise the database tells what is wrong
	return nil
}

// Settled returns why the database must not be replaced at the next start: an update is tried then.
func Settled(stateDir string) error {
	n, err := Last(stateDir)
	if err != nil || n == nil || n.State != Trying && n.State != Failed {
		return err
	}
	return n.open()
}
