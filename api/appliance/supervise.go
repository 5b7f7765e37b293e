package appliance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// unwatched is how long a supervisor waits for a sign of life while the process ends or starts
// anew: writing what is held in memory, putting a backup in the database's place, or migrating it after an
// update, for which that has a quarter of an hour.
const unwatched = 20 * time.Minute

// supervise tells a supervisor that speaks systemd's notify protocol, named by NOTIFY_SOCKET, that
// the appliance is ready, then as often as WATCHDOG_USEC asks that the engine works, and when ctx
// ends that it ends or starts anew. It is silent while the engine has not done its work of each
// second for half that time: the supervisor then starts the process anew.
func (a *Appliance) supervise(ctx context.Context) error {
	patience, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		a.log.Warn("the supervisor's watchdog is not understood and gets no sign of life", "err", err)
	}
	a.tell(daemon.SdNotifyReady)
	var beat <-chan time.Time
	if patience > 0 {
		a.await(patience) // a process that started anew asked for a longer time
		ticker := time.NewTicker(patience / 4)
		defer ticker.Stop()
		beat = ticker.C
	}
	for hung := false; ; {
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), ErrRestart) {
				a.tell("STATUS=starting anew")
			} else {
				a.tell(daemon.SdNotifyStopping)
			}
			if patience > 0 {
				a.await(unwatched)
			}
			return nil
		case <-beat:
			silent := a.engine.Silent()
			if silent < patience/2 {
				a.tell(daemon.SdNotifyWatchdog)
			} else if !hung {
				a.log.Error("the engine does not do its work: the supervisor is to start the process anew", "silent_s", silent.Seconds())
			}
			hung = silent >= patience/2
		}
	}
}

// await asks the supervisor for that time between two signs of life.
func (a *Appliance) await(patience time.Duration) {
	a.tell(fmt.Sprint("WATCHDOG_USEC=", patience.Microseconds()))
}

// tell sends a line to the supervisor, if there is one.
func (a *Appliance) tell(line string) {
	if _, err := daemon.SdNotify(false, line); err != nil {
		a.log.Warn("the supervisor is not told", "err", err, "what", line)
	}
}
