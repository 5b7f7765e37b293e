package appliance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"sensegate/api/update"
)

// ErrRestart ends Run when the appliance is to start anew, so that a staged backup takes the
// database's place. All is closed then, unless it is joined with what could not be.
var ErrRestart = errors.New("start again")

// Restartable lets a backup be restored while the appliance runs: who calls it starts the
// process anew when Run returns ErrRestart. starts returns why that would fail.
func (a *Appliance) Restartable(starts func() error) {
	a.starts = starts
	a.staging.Restartable(func() error { return cmp.Or(update.Settled(a.config.StateDir), starts()) }, a.startAnew)
}

// runningProgram is the program of this process, also when its file was removed.
const runningProgram = "/proc/self/exe"

// Stoppable returns a context that ends at the first SIGINT or SIGTERM; a second one ends the
// process at once. stopped ends the context, gives the signals back their own meaning and
// reports whether one has come: none that came before is lost.
func Stoppable() (ctx context.Context, stopped func() bool) {
	ctx, cancel := context.WithCancel(context.Background())
	caught, done, came := make(chan os.Signal, 1), make(chan struct{}), false
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		defer close(done)
		if _, came = <-caught; came {
			signal.Stop(caught)
			cancel()
		}
	}()
	return ctx, sync.OnceValue(func() bool {
		signal.Stop(caught) // and what is on its way has come
		close(caught)
		<-done
		cancel()
		return came
	})
}

// StartAnew replaces the process by one of its own executable, with the same arguments,
// environment and working directory, and keeps its id: no supervisor is needed, and one that
// is there sees no end. When the file was replaced, the new program is started, as a
// supervisor would; when it is gone or is no program, the one that runs. It returns only when
// that failed, or nil when stopped, of Stoppable, reports that somebody has stopped the
// process meanwhile. SIGHUP is ignored until the new program catches it.
func StartAnew(stopped func() bool) error {
	signal.Ignore(syscall.SIGHUP)
	if stopped() {
		return nil
	}
	path, err := update.Program()
	if err == nil {
		err = syscall.Exec(path, os.Args, os.Environ())
	}
	err = errors.Join(err, syscall.Exec(runningProgram, os.Args, os.Environ()))
	return fmt.Errorf("start the program anew: %w", err)
}
