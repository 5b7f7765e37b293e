package box

import (
	"log/slog"

	"sensegate/api/logtail"
)

// LogLines returns up to last lines of the log, of a level or above and with an id below before, the
// newest first; 0: from the newest. more says that there are older ones. lowest is the lowest level
// that is logged.
func (b *Box) LogLines(least slog.Level, before uint64, last int) (lines []logtail.Line, lowest slog.Level, more bool) {
	if b.Recent == nil {
		return nil, slog.LevelInfo, false
	}
	lines, more = b.Recent.Lines(least, before, last)
	return lines, b.Recent.Level(), more
}
