package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// TestMain lets the scripts call this program as sensegate.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sensegate": main})
}

// TestStories runs the scripts below testdata/script against the real program.
func TestStories(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

func TestExampleConfigurationShowsEveryDefault(t *testing.T) {
	t.Parallel()
	got, err := load("config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := defaults()
	got.HTTP.Hosts = nil // [] in the example
	if !reflect.DeepEqual(got, want) {
		t.Errorf("config.example.yaml gives\n%+v\nthe defaults are\n%+v", got, want)
	}
	raw, err := os.ReadFile("config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	if err := yaml.Unmarshal(raw, &shown); err != nil {
		t.Fatal(err)
	}
	full, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(full, &all); err != nil {
		t.Fatal(err)
	}
	missing(t, "", all, shown)
}

// missing reports the keys of all that shown lacks.
func missing(t *testing.T, path string, all, shown map[string]any) {
	t.Helper()
	for key, value := range all {
		present, ok := shown[key]
		if !ok {
			t.Errorf("config.example.yaml does not show %s%s", path, key)
			continue
		}
		if inner, ok := value.(map[string]any); ok {
			part, _ := present.(map[string]any)
			missing(t, path+key+".", inner, part)
		}
	}
}

func TestDemoShowsMotionAndEndsByItself(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := run([]string{"demo", "-duration", "12s", "-seed", "1", "-json"}, &out, io.Discard); code != exitOK {
		t.Fatalf("demo ended with %d:\n%s", code, out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var last struct {
		Type         string   `json:"type"`
		Detections   int      `json:"motion_detected"`
		FirstMotion  *float64 `json:"first_motion_after_s"`
		HistoryHours float64  `json:"history_hours"`
		PastEvents   int      `json:"past_events"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatalf("last line %q: %v", lines[len(lines)-1], err)
	}
	if last.Type != "summary" || last.Detections == 0 || last.FirstMotion == nil {
		t.Errorf("summary %+v: want a detected motion", last)
	}
	if last.HistoryHours < 7*24-1 || last.PastEvents == 0 {
		t.Errorf("summary %+v: want a week of history with events", last)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %q is no JSON", line)
		}
	}
}
