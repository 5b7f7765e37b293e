package engine

import (
	"context"
	"path/filepath"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// tellRecovery stores an event of every network when a backup took the place of a
// damaged database. A recovery without a backup left no network to be told.
func (e *Engine) tellRecovery(ctx context.Context) error {
	r := e.options.Recovery
	if r == nil {
		return nil
	}
	return e.tellAll(ctx, motion.DatabaseRecoveredEvent, motion.Document{"backup": filepath.Base(r.Backup), "lost_since": float64(r.BackupAt)})
}

// tellAll stores an event of category System of every network.
func (e *Engine) tellAll(ctx context.Context, kind string, detail motion.Document) error {
	for _, n := range e.all() {
		n.mu.Lock()
		guardian := n.record.GuardianID
		n.mu.Unlock()
		event := motion.Event{
			Category: motion.CategorySystem, Event: kind, NetworkID: n.id, GuardianID: guardian, TS: e.now(), Detail: detail,
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
