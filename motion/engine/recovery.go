package engine

import (
	"context"
	"path/filepath"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// tellRecovery stores an event of every network when the database was damaged and something
// was lost or went back: which backup took its place and since when all is lost, or which
// records were taken from it and which are lost.
func (e *Engine) tellRecovery(ctx context.Context) error {
	r := e.State.DB.Health().Recovery
	if r == nil || !r.Untold || r.Backup == "" && r.Lost == "" {
		return nil
	}
	detail := motion.Document{}
	switch {
	case r.Whole():
		detail["backup"], detail["lost_since"] = filepath.Base(r.Backup), float64(r.BackupAt)
	case r.Backup != "":
		detail["backup"], detail["backup_at"], detail["restored"] = filepath.Base(r.Backup), float64(r.BackupAt), r.Restored
	}
	if r.Lost != "" {
		detail["lost"] = r.Lost
	}
	if err := e.tellAll(ctx, motion.DatabaseRecoveredEvent, detail); err != nil || ctx.Err() != nil {
		return err
	}
	err := e.State.DB.ToldRecovery(ctx)
	if ctx.Err() != nil || fault.KindOf(err) == fault.Unavailable {
		return nil // the next start tells it again
	}
	return err
}

// tellAll stores an event of category System of every network.
func (e *Engine) tellAll(ctx context.Context, kind string, detail motion.Document) error {
	for _, n := range e.State.All() {
		guardian := n.GuardianID()
		event := motion.Event{
			Event: kind, NetworkID: n.ID, GuardianID: guardian, TS: e.State.Now(), Detail: detail,
		}
		if _, err := e.Events.Record(ctx, event); err != nil && ctx.Err() == nil {
			if fault.KindOf(err) == 0 {
				return err
			}
			e.State.Log.Error("event not recorded", "network", n.ID, "event", kind, "err", err)
		}
	}
	return nil
}
