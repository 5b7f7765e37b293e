package logtail_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"sensegate/api/logtail"
)

// newTail returns a tail before a handler that logs a level and above, and a logger of both.
func newTail(w io.Writer, least slog.Level) (*logtail.Tail, *slog.Logger) {
	tail := logtail.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: least}), nil)
	return tail, slog.New(tail.Handler())
}

// texts returns the lines of a level and above without their times.
func texts(tail *logtail.Tail, least slog.Level) (all []string) {
	lines, _ := tail.Lines(least, 0, 1000)
	for _, line := range lines {
		all = append(all, fmt.Sprint(line.ID, " ", line.Level, " ", line.Text))
	}
	return all
}

func TestLinesAreKeptAsTheyAreLogged(t *testing.T) {
	t.Parallel()
	var behind bytes.Buffer
	tail, log := newTail(&behind, slog.LevelInfo)
	before := time.Now().Truncate(time.Millisecond)
	log.Info("ready", "http", "127.0.0.1:8080")
	log.Debug("nobody asked for this")
	log.Warn("the clock was set", "by_s", 3.5, "err", errors.New("a \"quoted\" reason"))
	log.With("part", "core").WithGroup("caller").Error("level=ERROR msg=x", "address", "::1")
	log.Info("two\nlines")
	want := []string{"4 INFO two\nlines", `3 ERROR level=ERROR msg=x part=core caller.address=::1`, `2 WARN the clock was set by_s=3.5 err="a \"quoted\" reason"`, "1 INFO ready http=127.0.0.1:8080"}
	if got := texts(tail, slog.LevelDebug); !reflect.DeepEqual(got, want) {
		t.Errorf("kept\n%q\nwant\n%q", got, want)
	}
	if got := texts(tail, slog.LevelWarn); !reflect.DeepEqual(got, want[1:3]) {
		t.Errorf("warnings: %q", got)
	}
	if n := strings.Count(behind.String(), "\n"); n != 4 || !strings.Contains(behind.String(), `"caller":{"address":"::1"}`) {
		t.Errorf("the handler behind got %d lines:\n%s", n, &behind)
	}
	lines, _ := tail.Lines(slog.LevelInfo, 0, 1)
	if at := lines[0].At; at.Before(before) || at.After(time.Now()) {
		t.Errorf("logged at %v, kept as %v", before, at)
	}
}

func TestLinesArePaged(t *testing.T) {
	t.Parallel()
	tail, log := newTail(io.Discard, slog.LevelInfo)
	for i := range 10 {
		log.Log(t.Context(), []slog.Level{slog.LevelInfo, slog.LevelWarn}[i%2], "line")
	}
	for name, test := range map[string]struct {
		least  slog.Level
		before uint64
		last   int
		want   []uint64
		more   bool
	}{
		"the newest":                 {slog.LevelInfo, 0, 3, []uint64{10, 9, 8}, true},
		"those before":               {slog.LevelInfo, 8, 3, []uint64{7, 6, 5}, true},
		"the oldest":                 {slog.LevelInfo, 4, 3, []uint64{3, 2, 1}, false},
		"before the first":           {slog.LevelInfo, 1, 3, nil, false},
		"an id that is to come":      {slog.LevelInfo, 99, 2, []uint64{10, 9}, true},
		"warnings":                   {slog.LevelWarn, 0, 2, []uint64{10, 8}, true},
		"the last warnings":          {slog.LevelWarn, 6, 2, []uint64{4, 2}, false},
		"errors, of which none came": {slog.LevelError, 0, 2, nil, false},
	} {
		lines, more := tail.Lines(test.least, test.before, test.last)
		var got []uint64
		for _, line := range lines {
			got = append(got, line.ID)
		}
		if !reflect.DeepEqual(got, test.want) || more != test.more {
			t.Errorf("%s: %v, more %t; want %v, %t", name, got, more, test.want, test.more)
		}
	}
}

// TestTailIsBounded: by lines, by bytes, and each line.
func TestTailIsBounded(t *testing.T) {
	t.Parallel()
	tail, log := newTail(io.Discard, slog.LevelInfo)
	for i := range 1200 {
		log.Info("short", "i", i)
	}
	got := texts(tail, slog.LevelInfo)
	if len(got) != 500 || got[0] != "1200 INFO short i=1199" || got[499] != "701 INFO short i=700" {
		t.Errorf("of 1200 lines %d are kept, %q to %q", len(got), got[0], got[len(got)-1])
	}
	long := strings.Repeat("ä", 5000)
	for i := range 700 {
		log.Info("long", "i", i, "text", long)
	}
	got = texts(tail, slog.LevelInfo)
	if len(got) < 250 || len(got) > 256 {
		t.Errorf("%d long lines are kept", len(got))
	}
	for i, text := range got {
		begin := fmt.Sprintf("%d INFO long i=%d text=ää", 1900-i, 699-i)
		if !strings.HasPrefix(text, begin) || len(text) > 1100 || !utf8.ValidString(text) || !strings.HasSuffix(text, "ä…") {
			t.Fatalf("line %d of %d: %s", i, len(got), text)
		}
	}
}

func TestWhatIsLeftOutIsLoggedAllTheSame(t *testing.T) {
	t.Parallel()
	var behind bytes.Buffer
	tail := logtail.New(slog.NewTextHandler(&behind, nil), func(r slog.Record) bool { return r.Message == "request" })
	log := slog.New(tail.Handler()).With("part", "core")
	log.Info("request")
	log.Info("ready")
	if got := texts(tail, slog.LevelInfo); !reflect.DeepEqual(got, []string{"1 INFO ready part=core"}) || strings.Count(behind.String(), "\n") != 2 {
		t.Errorf("kept %q, logged\n%s", got, &behind)
	}
}

func TestLowestLevelIsThatOfTheHandlerBehind(t *testing.T) {
	t.Parallel()
	for _, want := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		tail, log := newTail(io.Discard, want)
		if got := tail.Level(); got != want || !log.Enabled(t.Context(), want) || log.Enabled(t.Context(), want-1) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestReadersDoNotDisturbWriters: what is read is whole while lines are written.
func TestReadersDoNotDisturbWriters(t *testing.T) {
	t.Parallel()
	tail, log := newTail(io.Discard, slog.LevelInfo)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 2000 {
				log.Info("written", "by", w, "i", i, "filler", strings.Repeat("x", i%900))
			}
		})
	}
	for range 50 {
		lines, _ := tail.Lines(slog.LevelInfo, 0, 500)
		for i, line := range lines {
			if !strings.HasPrefix(line.Text, "written by=") || line.At.IsZero() || i > 0 && line.ID != lines[i-1].ID-1 {
				t.Fatalf("line %d: %+v", line.ID, line)
			}
		}
	}
	writers.Wait()
	if lines, _ := tail.Lines(slog.LevelInfo, 0, 1); lines[0].ID != 8000 {
		t.Errorf("of 8000 lines the last is %d", lines[0].ID)
	}
}

// BenchmarkHandler measures a line of the access log with and without the tail before it.
func BenchmarkHandler(b *testing.B) {
	for _, format := range []string{"text", "json"} {
		plain := slog.Handler(slog.NewTextHandler(io.Discard, nil))
		if format == "json" {
			plain = slog.NewJSONHandler(io.Discard, nil)
		}
		for name, handler := range map[string]slog.Handler{"plain": plain, "tail": logtail.New(plain, nil).Handler()} {
			log := slog.New(handler)
			b.Run(format+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					log.LogAttrs(b.Context(), slog.LevelInfo, "request", slog.String("method", "GET"), slog.String("route", "/web/v1/overview"), slog.Int("status", 200),
						slog.Duration("took", 1234567), slog.Int64("bytes", 4321), slog.String("request", "0123456789abcdef"))
				}
			})
		}
	}
}
