package engine

import (
	"context"
	"path/filepath"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// tellRecovery stores an event of every network when the database was damaged: which
// backup took its place and since when all is lost, or which records are.
func (e *Engine) tellRecovery(ctx context.Context) error {
	r := e.options.Recovery
	if r == nil {
		return nil
	}
	detail := motion.Document{}
	if r.Backup != "" {
		detail["backup"], detail["lost_since"] = filepath.Base(r.Backup), float64(r.BackupAt)
	}
	if r.Lost != "" {
		detail["lost"] = r.Lost
	}
	return e.tellAll(ctx, motion.DatabaseRecoveredEvent, detail)
}

// tellAll stores an event of category System of every network.
func (e *Engine) tellAll(ctx context.Context, kind string, detail motion.Document) error {
	for _, n := range e.all() {
		n.mu.Lock()
		guardian := n.record.GuardianID
		n.mu.Unlock()
		event := motion.Event{
			Event: kind, NetworkID: n.id, GuardianID: guardian, TS: e.now(), Detail: detail,
		}
		if _, err := e.Record(ctx, event); err != nil && ctx.Err() == nil {
			if fault.KindOf(err) == 0 {
				return err
			}
			e.log.Error("event not noted", "network", n.id, "event", kind, "err", err)
		}
	}
	return nil
}
