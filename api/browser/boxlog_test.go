package browser_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"testing"
	"time"

	"sensegate/api/apitest"
)

func TestLogOfTheAppliance(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	log := slog.New(b.recent.Handler())
	begun := time.Now().Add(-time.Millisecond)
	for i, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError, slog.LevelInfo} {
		log.Log(t.Context(), level, "line", "i", i+1)
	}
	type page struct {
		Lines []struct {
			ID    uint64
			At    float64
			Level string
			Text  string
		}
		Level string
		More  bool
	}
	for query, want := range map[string]struct {
		lines []string
		more  bool
	}{
		"":                      {[]string{"5 info line i=5", "4 error line i=4", "3 warn line i=3", "2 info line i=2"}, false},
		"?level=debug&limit=2":  {[]string{"5 info line i=5", "4 error line i=4"}, true},
		"?level=debug&before=2": {[]string{"1 debug line i=1"}, false},
		"?level=warn&before=4":  {[]string{"3 warn line i=3"}, false},
	} {
		got := apitest.Want[page](t, b.keeper.ask(http.MethodGet, "/admin/log"+query, ""), 200)
		var lines []string
		for _, l := range got.Lines {
			lines = append(lines, fmt.Sprintf("%d %s %s", l.ID, l.Level, l.Text))
			if at := time.UnixMilli(int64(l.At * 1000)); at.Before(begun.Add(-time.Millisecond)) || at.After(time.Now()) {
				t.Errorf("line %d was logged at %v", l.ID, at)
			}
		}
		if !reflect.DeepEqual(lines, want.lines) || got.More != want.more || got.Level != "debug" {
			t.Errorf("%q: %+v, want %+v", query, got, want)
		}
	}
	for query, want := range map[string]int{"?level=loud": 422, "?limit=0": 422, "?limit=501": 422, "?before=-1": 400, "?before=x": 400} {
		if got := b.keeper.ask(http.MethodGet, "/admin/log"+query, "").Status; got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}
