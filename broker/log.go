package broker

import (
	"context"
	"log/slog"

	"golang.org/x/time/rate"
)

// quiet filters the library's log, which holds the payload of refused packets and which a
// client can make as long as it likes. Only plain values and errors pass; lines that are no
// errors of the library itself become debug lines. Beyond sixty, one error a second is logged.
type quiet struct {
	slog.Handler
	lines *rate.Limiter
}

func newQuiet(h slog.Handler) quiet { return quiet{h, rate.NewLimiter(1, 60)} }

// Enabled reports whether a line of the library's level would be written.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return q.Handler.Enabled(ctx, lowered(level))
}

// Handle writes the line at its lowered level, without packets.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError && !q.lines.Allow() {
		return nil
	}
	clean := slog.NewRecord(r.Time, lowered(r.Level), "mqtt library: "+r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a, ok := plain(a); ok {
			clean.AddAttrs(a)
		}
		return true
	})
	return q.Handler.Handle(ctx, clean)
}

// WithAttrs returns a handler that adds the plain ones among attrs.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	var kept []slog.Attr
	for _, a := range attrs {
		if a, ok := plain(a); ok {
			kept = append(kept, a)
		}
	}
	return quiet{q.Handler.WithAttrs(kept), q.lines}
}

// WithGroup returns a handler for the group.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name), q.lines} }

func lowered(level slog.Level) slog.Level {
	if level >= slog.LevelError {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// plain returns a with its value as text, if it is neither a packet nor any
// other compound.
func plain(a slog.Attr) (slog.Attr, bool) {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindGroup:
		return slog.Attr{}, false
	case slog.KindAny:
		err, ok := a.Value.Any().(error)
		if !ok {
			return slog.Attr{}, false
		}
		return slog.String(a.Key, err.Error()), true
	}
	return a, true
}
