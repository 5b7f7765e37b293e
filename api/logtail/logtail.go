// Package logtail keeps the last lines of the log in memory, for administrators who have no
// terminal. It knows log/slog. It must not choose what is logged, or know who reads it.
package logtail

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What a Tail holds at most. The memory that it takes does not grow.
const (
	maxLines = 500
	maxLine  = 1 << 10   // bytes of one line, with time and level; the rest is cut off
	room     = 256 << 10 // bytes of all lines
	lastRead = 4 << 20   // bytes at the end of a file
)

// Tail is the last lines of a log. Its methods may be called concurrently.
type Tail struct {
	next    slog.Handler
	leftOut func(slog.Record) bool

	mu   sync.Mutex
	last uint64          // id of the newest line; 0: there is none
	at   [maxLines]place // of the line with an id, at id % maxLines
	ring []byte          // the lines, one behind the other, round and round
	end  uint64          // how many bytes have been written to ring, ever
}

// place is where a line lies: the bytes from begin on, of all that were ever written.
type place struct {
	begin  uint64
	length int
}

// New returns an empty tail in front of next. It does not keep the records that leftOut returns
// true for; nil: it keeps all.
func New(next slog.Handler, leftOut func(slog.Record) bool) *Tail {
	if leftOut == nil {
		leftOut = func(slog.Record) bool { return false }
	}
	return &Tail{next: next, leftOut: leftOut, ring: make([]byte, room)}
}

// Read returns the last lines of a log that was written by a slog.TextHandler, of its last lastRead bytes.
func Read(log io.ReadSeeker) (*Tail, error) {
	t := New(slog.DiscardHandler, nil)
	_, err := log.Seek(-lastRead, io.SeekEnd)
	cut := err == nil // it begins within a line
	if err != nil {
		if _, err := log.Seek(0, io.SeekStart); err != nil { // it is shorter
			return t, err
		}
	}
	lines := bufio.NewReaderSize(log, maxLine)
	for {
		line, more, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		if !cut {
			_, _ = writer{t}.Write(append(line, '\n')) // it has no error
		}
		cut = more // the rest of a long line
	}
}

// Handler returns a handler that gives each record to the tail and then to the handler behind it,
// which decides which levels are logged.
func (t *Tail) Handler() slog.Handler {
	return handler{slog.NewTextHandler(writer{t}, nil), t.next, t.leftOut}
}

// handler hands records to both.
type handler struct {
	kept, next slog.Handler
	leftOut    func(slog.Record) bool
}

func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle returns the error of the handler behind the tail, which has none.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if !h.leftOut(r) {
		_ = h.kept.Handle(ctx, r)
	}
	return h.next.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.kept.WithAttrs(attrs), h.next.WithAttrs(attrs), h.leftOut}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.kept.WithGroup(name), h.next.WithGroup(name), h.leftOut}
}

// writer takes the lines of a slog.TextHandler, which writes each at once.
type writer struct{ *Tail }

var _ io.Writer = writer{}

// Write keeps a line. It is not taken apart before somebody reads it.
func (w writer) Write(line []byte) (int, error) {
	t, kept := w.Tail, line[:min(len(line), maxLine)]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.at[t.last%maxLines] = place{t.end, len(kept)}
	begin := int(t.end % room)
	if copied := copy(t.ring[begin:], kept); copied < len(kept) {
		copy(t.ring, kept[copied:])
	}
	t.end += uint64(len(kept))
	return len(line), nil
}

// Line is a line of the log.
type Line struct {
	ID    uint64 // 1 for the first since the start of the appliance, then 2
	At    time.Time
	Level slog.Level
	Text  string // the message, then its values as key=value
}

// Lines returns up to last lines of a level or above whose id is below before, the newest first; 0:
// from the newest. more says that there are older ones.
func (t *Tail) Lines(least slog.Level, before uint64, last int) (lines []Line, more bool) {
	for _, raw := range t.raw(before) {
		line := parse(raw.text)
		line.ID = raw.id
		switch {
		case line.Level < least:
		case len(lines) == last:
			return lines, true
		default:
			lines = append(lines, line)
		}
	}
	return lines, false
}

// rawLine is a line as it was written.
type rawLine struct {
	id   uint64
	text string
}

// raw returns the lines with ids below before, the newest first.
func (t *Tail) raw(before uint64) (lines []rawLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	newest := t.last
	if before > 0 && before <= newest {
		newest = before - 1
	}
	for id := newest; id > 0 && id+maxLines > t.last; id-- {
		p := t.at[id%maxLines]
		if p.begin+room < t.end {
			break // its first bytes have been written over
		}
		begin := int(p.begin % room)
		text := string(t.ring[begin:min(begin+p.length, room)])
		lines = append(lines, rawLine{id, text + string(t.ring[:p.length-len(text)])})
	}
	return lines
}

// Level returns the lowest of the four levels that is logged.
func (t *Tail) Level() slog.Level {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if t.next.Enabled(context.Background(), level) {
			return level
		}
	}
	return slog.LevelError
}

// parse takes a line of a slog.TextHandler apart: time=… level=… msg=… key=value.
func parse(raw string) (line Line) {
	rest := strings.TrimSuffix(strings.ToValidUTF8(raw, ""), "\n")
	if len(raw) == maxLine && !strings.HasSuffix(raw, "\n") {
		rest += "…"
	}
	if text, behind, ok := field(rest, "time="); ok {
		line.At, _ = time.Parse(time.RFC3339Nano, text) // written by the handler
		rest = behind
	}
	if text, behind, ok := field(rest, "level="); ok {
		_ = line.Level.UnmarshalText([]byte(text)) // written by the handler
		rest = behind
	}
	line.Text = strings.TrimPrefix(rest, slog.MessageKey+"=")
	quoted, err := strconv.QuotedPrefix(line.Text)
	if err != nil {
		return line
	}
	if message, err := strconv.Unquote(quoted); err == nil {
		line.Text = strings.ToValidUTF8(message, "") + line.Text[len(quoted):]
	}
	return line
}

// field returns the value of the field that text begins with, and what is behind it.
func field(text, name string) (value, behind string, ok bool) {
	if !strings.HasPrefix(text, name) {
		return "", text, false
	}
	value, behind, _ = strings.Cut(text[len(name):], " ")
	return value, behind, true
}
