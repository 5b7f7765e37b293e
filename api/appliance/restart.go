package appliance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// ErrRestart ends Run when the appliance is to start anew, so that a staged backup takes the
// database's place. All is closed then, unless it is joined with what could not be.
var ErrRestart = errors.New("start again")

// Restartable lets a backup be restored while the appliance runs: who calls it starts the
// process anew when Run returns ErrRestart.
func (a *Appliance) Restartable() {
	a.staging.Restartable(func() { a.restarting.Do(func() { close(a.restart) }) })
}

// runningProgram is the program of this process, also when its file was removed.
const runningProgram = "/proc/self/exe"

// StartAnew replaces the process by one of its own executable, with the same arguments,
// environment and working directory, and keeps its id: no supervisor is needed, and one that
// is there sees no end. When the file was replaced, the new program is started, as a
// supervisor would; when it is gone or is no program, the one that runs. It returns only when
// that failed, or nil when ctx has ended: somebody has stopped the process meanwhile. Signals
// are not caught any more.
func StartAnew(ctx context.Context) error {
	signal.Reset(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if ctx.Err() != nil {
		return nil
	}
	path, err := os.Executable() // without the system's "(deleted)"
	if err == nil {
		err = syscall.Exec(path, os.Args, os.Environ())
	}
	err = errors.Join(err, syscall.Exec(runningProgram, os.Args, os.Environ()))
	return fmt.Errorf("start the program anew: %w", err)
}
