package box

import (
	"context"

	"sensegate/motion/fault"
	"sensegate/store"
)

// errNotRunning: an administration command has the database open, and no appliance.
var errNotRunning = fault.New(fault.Unavailable, "the appliance does not run")

// TryUpdate returns why the program at a path cannot take the place of the one that runs.
//
// Unavailable: the appliance does not run. Conflict: the program refuses its configuration, or it has no
// room for what the program does first.
func (b *Box) TryUpdate(path string) error {
	if b.TryProgram == nil {
		return errNotRunning
	}
	return b.TryProgram(path)
}

// StartUpdated starts the program anew that was installed in the place of the one that runs. It
// returns before that.
//
// Unavailable: the appliance does not run, or cannot start itself anew.
func (b *Box) StartUpdated(ctx context.Context, version string, by store.Actor) error {
	if b.Restart == nil {
		return errNotRunning
	}
	return b.change(ctx, by, "program_updated", version, func(context.Context, *store.AuditNote) error { return b.Restart() })
}
