package box

import (
	"context"

	"sensegate/motion/fault"
	"sensegate/store"
)

// StartUpdated starts the program anew that was installed in the place of the one that runs. It
// returns before that.
//
// Unavailable: the appliance does not run, or cannot start itself anew.
func (b *Box) StartUpdated(ctx context.Context, version string, by store.Actor) error {
	if b.Restart == nil {
		return fault.New(fault.Unavailable, "the appliance does not run")
	}
	return b.change(ctx, by, "program_updated", version, func(context.Context, *store.AuditNote) error { return b.Restart() })
}
