package box

import (
	"context"
	"log/slog"

	"sensegate/motion/fault"
	"sensegate/store"
)

// LogLevel returns what the log holds at least.
func (b *Box) LogLevel() slog.Level {
	if b.Level == nil {
		return slog.LevelInfo
	}
	return b.Level.Level()
}

// SetLogLevel changes what the log holds at least, until the appliance ends.
//
// Unavailable: the appliance does not run.
func (b *Box) SetLogLevel(ctx context.Context, level slog.Level, by store.Actor) error {
	if b.Level == nil {
		return fault.New(fault.Unavailable, "the appliance does not run: log.level of its configuration says what it logs")
	}
	return b.change(ctx, by, "log_level", level.String(), func(context.Context, *store.AuditNote) error {
		if b.Level.Level() == level {
			return errNothing
		}
		b.Level.Set(level)
		return nil
	})
}
