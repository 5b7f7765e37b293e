package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
	"time"

	"sensegate/api/box"
	"sensegate/api/update"
)

func (s *Server) serveStatus(r *http.Request) (any, error) { return s.box.Status(r.Context()) }

// watchInterval is the time between two looks of status -watch.
const watchInterval = 2 * time.Second

// statusOrWatch is the status command.
func statusOrWatch(flags *flag.FlagSet) action {
	watch := flags.Bool("watch", false, "show it anew each two seconds, until Ctrl-C")
	return func(ctx context.Context, c command, arguments []string) error {
		if len(arguments) > 0 {
			return errors.New("status takes no argument")
		}
		client, err := Open(ctx, c.stateDir, c.said)
		var foreign *foreignError
		if errors.As(err, &foreign) {
			return errors.Join(c.stopped(foreign), cannotWatch(*watch))
		}
		if err != nil {
			return err
		}
		c.client = client
		return errors.Join(watchStatus(ctx, c, *watch), client.Close())
	}
}

// watchStatus shows the status, again and again if it is to be watched.
func watchStatus(ctx context.Context, c command, watch bool) error {
	for again := false; ; again = true {
		now := statusHere{Update: lastUpdate(c.stateDir)}
		err := c.client.do(ctx, http.MethodGet, "/status", nil, &now.Status)
		if err != nil && (!again || ctx.Err() != nil) {
			return err
		}
		if watch && IsTerminal(c.out) {
			fmt.Fprint(c.out, "\x1b[H\x1b[2J") // from the top of an empty screen
		}
		if err != nil {
			fmt.Fprintln(c.out, err) // it starts anew, perhaps
		} else if err := c.print(now, func(w io.Writer) { showStatus(w, now) }); err != nil {
			return err
		}
		switch {
		case !watch:
			return nil
		case err == nil && !now.Running: // and cannot start while this command has its database
			return cannotWatch(watch)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
	}
}

// statusHere is the status of an appliance of this machine.
type statusHere struct {
	box.Status
	Update string `json:"update,omitempty"` // how far the last one is, and what is to be done
}

// lastUpdate says how far the last update is, and what is to be done; "": nothing.
func lastUpdate(stateDir string) string {
	n, err := update.Last(stateDir)
	if err != nil {
		return err.Error()
	}
	if n == nil || n.State == update.Taken {
		return ""
	}
	return told(n)
}

// cannotWatch is the error of who watches an appliance that does not run.
func cannotWatch(watch bool) error {
	if !watch {
		return nil
	}
	return errors.New("it does not run, so there is nothing to watch")
}

// stoppedStatus is what can be told of an appliance that does not run without its database.
type stoppedStatus struct {
	Running bool   `json:"running"` // false
	Version string `json:"version"` // of this program
	Size    int64  `json:"database_bytes"`
	Free    int64  `json:"disk_free_bytes"`
	Update  string `json:"update,omitempty"` // as in statusHere
}

// stopped shows root the status of an appliance of another user that does not run: the database is that
// user's to open.
func (c command) stopped(foreign *foreignError) error {
	now := stoppedStatus{Version: box.Version(), Update: lastUpdate(c.stateDir)}
	if info, err := os.Stat(Database(c.stateDir)); err == nil {
		now.Size = info.Size()
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(c.stateDir, &disk); err == nil {
		now.Free = int64(disk.Bavail) * int64(disk.Bsize)
	}
	fmt.Fprintf(c.said, "sensegate: the rest stands in the database, which is %s's to open: %s status\n", foreign.owner, foreign.as())
	return c.print(now, func(w io.Writer) {
		fmt.Fprintf(w, "version\t%s\nstate\tit does not run\ndatabase\t%.1f MiB, %d MiB of the disk are free\n", now.Version, float64(now.Size)/(1<<20), now.Free>>20)
		if now.Update != "" {
			fmt.Fprintf(w, "update\t%s\n", now.Update)
		}
	})
}

func showStatus(w io.Writer, now statusHere) {
	line := func(name, format string, values ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	line("version", "%s", now.Version)
	switch {
	case !now.Running:
		line("state", "it does not run")
	case now.NotReady != "":
		line("state", "not ready: %s", now.NotReady)
	default:
		line("state", "ready, up %s", time.Since(now.Since.Std()).Round(time.Second))
	}
	if now.Health.ReadOnly != "" {
		line("read-only", "%s", now.Health.ReadOnly)
	}
	if now.Update != "" {
		line("update", "%s", now.Update)
	}
	if now.ClockUnset {
		line("clock", "not set: it says %s", time.Now().UTC().Format(time.DateTime))
	}
	if now.Reach != nil {
		showReach(*now.Reach, line)
	}
	for _, u := range now.Uplinks {
		line("uplink "+u.Config.Name, "%s", uplinkLine(u))
	}
	line("networks", "%d", now.Networks)
	for _, n := range now.Away {
		name, since := fmt.Sprint("network ", n.ID), when(n.Since)
		if n.State == box.NetworkGone {
			line(name, "deleted here on %s after it had moved; its devices are sent to %s", since, n.To)
			continue
		}
		if n.To == "" {
			line(name, "on its way to another box since %s: closed here until it is handed over or taken back", since)
			continue
		}
		line(name, "moved to %s, closed here since %s; devices are sent there, %d of %d still have to come", n.To, since, len(n.Left), n.Devices)
	}
	line("devices online", "%d of %d", now.DevicesOnline, now.Devices)
	d := now.Database
	line("database", "%.1f MiB, %d MiB of the disk are free", float64(d.Size)/(1<<20), d.Free>>20)
	if now.Running {
		line("written since start", "%d KiB in %d commits, %d syncs", d.Bytes>>10, d.Commits, d.Syncs)
	}
	if d.Days > 0 {
		line("history", "at %d KiB a day, %d days fit", d.DayBytes>>10, d.Days)
	} else {
		line("history", "not enough yet to say how many days fit")
	}
	if now.LastBackup != nil {
		line("last backup", "%s", now.LastBackup.At.Local().Format(time.DateTime))
	} else {
		line("last backup", "none yet")
	}
	line("unclean stops", "%d", now.Health.UncleanStops)
	if n := now.Health.Unreadable; n > 0 {
		line("unreadable", "%d records of the history are left out", n)
	}
	if lost := time.Duration(now.Health.SamplesLost) * time.Second; lost > 0 {
		line("samples lost", "%s of networks, while nothing could be stored", lost)
	}
	if now.Authority != "" {
		line("ca.pem SHA-256", "%s", now.Authority)
	}
	if now.SuppliedEnds != 0 {
		line("certificate", "yours ends on %s", when(now.SuppliedEnds))
	}
	if r := now.Health.Recovery; r != nil {
		line("recovered", "%s from damage (%s)", when(r.At), r.Damage)
		switch {
		case r.Whole():
			line("from backup", "all, of %s", when(r.BackupAt))
		case r.Backup != "":
			line("from backup", "%s, of %s", r.Restored, when(r.BackupAt))
		}
		if r.Lost != "" {
			line("lost", "%s", r.Lost)
		}
		if r.Aside != "" {
			line("damaged file", "%s", r.Aside)
		}
	}
}
