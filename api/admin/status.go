package admin

import (
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"sensegate/motion"
	"sensegate/store"
)

// statusAnswer is the answer of the status command.
type statusAnswer struct {
	Running       bool          `json:"running"`
	Version       string        `json:"version"`
	Since         motion.Time   `json:"since"`                 // when it was started
	NotReady      string        `json:"not_ready,omitempty"`   // why it cannot work; empty: it can
	ClockUnset    bool          `json:"clock_unset,omitempty"` // its clock is before the build date
	Networks      int           `json:"networks"`
	Devices       int           `json:"devices"` // adopted ones
	DevicesOnline int           `json:"devices_online"`
	Database      store.Stats   `json:"database"`
	Health        store.Health  `json:"health"`
	LastBackup    *store.Backup `json:"last_backup"`         // of those in the state directory; null: none
	Reach         *Reach        `json:"reach,omitempty"`     // how the household reaches it; null: it does not run
	Authority     string        `json:"ca_sha256,omitempty"` // fingerprint of the authority that clients are to trust
}

// Version returns the version that the binary was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}

func (s *Server) serveStatus(r *http.Request) (any, error) {
	now := statusAnswer{Running: s.Ready != nil, Version: Version(), Health: s.DB.Health()}
	now.ClockUnset = s.Engine.State.OwnClock.Unset.Load()
	if s.Authority != nil {
		now.Authority = s.Authority()
	}
	if s.Reach != nil {
		reach := s.Reach()
		now.Reach = &reach
	}
	if s.Ready != nil {
		if err := s.Ready(); err != nil {
			now.NotReady = err.Error()
		}
	}
	devices, _, err := s.Engine.Devices.DeviceList(r.Context())
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		switch d.State {
		case "online":
			now.Devices++
			now.DevicesOnline++
		case "offline":
			now.Devices++
		}
	}
	networks, err := store.Read(r.Context(), s.DB, (*store.Tx).Networks)
	if err != nil {
		return nil, err
	}
	now.Networks = len(networks)
	if now.Database, err = s.DB.Stats(r.Context()); err != nil {
		return nil, err
	}
	now.Since = now.Database.Since
	backups, err := store.Backups(s.DB.Path())
	if len(backups) > 0 {
		now.LastBackup = &backups[0]
	}
	return now, err
}

func showStatus(w io.Writer, now statusAnswer) {
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
	if now.ClockUnset {
		line("clock", "not set: it says %s", time.Now().UTC().Format(time.DateTime))
	}
	if now.Reach != nil {
		now.Reach.show(line)
	}
	line("networks", "%d", now.Networks)
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
