package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"sensegate/firmware-sim/sim"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
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

// TestReplayedCapturesAreSensedAsOffline sends a labelled recording and a stream
// of two real receivers through the gatekeeper and real MQTT, and compares the
// history that the interface serves, second by second, and the first detection
// with the same frames fused without any network between (detection.md section 8
// point 3).
func TestReplayedCapturesAreSensedAsOffline(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"one receiver, labelled": "ialr/part_2.csv.gz",
		"two receivers":          "ruview/pretrain-1775182186.csi.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			takes, err := sim.OpenTakes(captureFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			a := startAppliance(t)
			var start motion.Time
			replay := sim.ReplayConfig{
				Takes: takes, Speed: 10, Gatekeeper: "http://" + a.http.Addr().String() + "/gatekeeper",
				OnTake: func(_ string, at motion.Time) { start = at },
			}
			if counters, err := sim.Replay(t.Context(), replay); err != nil || counters.Dropped > 0 {
				t.Fatalf("replay: %v, %+v", err, counters)
			}
			want := offline(takes[0], start)
			compareSeconds(t, want.seconds, a.intensity(t, start, takes[0].Duration()))
			compareDetection(t, want.detected, a.firstDetection(t))
		})
	}
}

// captureFile returns the path of a capture, or skips: with CI set it must be
// there.
func captureFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "shared", "data")
	}
	path := filepath.Join(dir, "csi", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the captures are missing: %v", err)
		}
		t.Skipf("the captures are not here: %v", err)
	}
	return path
}

// testAppliance is a running appliance with a key.
type testAppliance struct {
	*appliance
	key string
}

// startAppliance runs an appliance on free ports until the end of the test.
func startAppliance(t *testing.T) testAppliance {
	t.Helper()
	c := defaults()
	c.StateDir, c.HTTP.Listen, c.MQTT.Listen = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	a, err := open(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, a.db.Close()); err != nil {
			t.Errorf("appliance: %v", err)
		}
	})
	key, err := demoAppliance{a}.Key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return testAppliance{appliance: a, key: key}
}

// get reads one answer of the Core interface.
func (a testAppliance) get(t *testing.T, path string, answer any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.http.Addr().String()+"/core"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", a.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, response.Status, err)
	}
}

// intensity returns the 1 s history from start on.
func (a testAppliance) intensity(t *testing.T, start motion.Time, length motion.Seconds) map[int64]*float64 {
	t.Helper()
	var points [][2]*float64
	a.get(t, fmt.Sprintf("/network/1/motion/history/intensity?bucket=1&from=%d&to=%d", start.Second(), start.Add(length).Second()+1), &points)
	seconds := map[int64]*float64{}
	for _, p := range points {
		seconds[int64(*p[1])] = p[0]
	}
	return seconds
}

// firstDetection returns the time of the oldest MotionDetectedEvent, 0 for none.
func (a testAppliance) firstDetection(t *testing.T) motion.Time {
	t.Helper()
	var events []motion.Event
	a.get(t, "/network/1/events/history?sort=true&last=1000&event_types=MotionDetectedEvent", &events)
	if len(events) == 0 {
		return 0
	}
	return events[0].TS
}

// sensed is what detection and fusion say of a take without a network between.
type sensed struct {
	seconds  map[int64]bool // with data: whether there was motion
	detected motion.Time
}

// offline runs the product's detection and fusion over a take that begins at
// start.
func offline(take sim.Take, start motion.Time) sensed {
	s := sensed{seconds: map[int64]bool{}}
	machine := fuse.NewEvents(fuse.ConfigOf(motion.DefaultGuardianConfig().MotionEvents, false))
	fuser := fuse.New(func(step *fuse.Step) {
		if step.Sample == nil {
			return
		}
		if transition, ok := machine.Add(step.Sample); ok && transition.Kind == fuse.Detected && s.detected.IsZero() {
			s.detected = transition.Time
		}
		if step.Sample.Valid {
			second := step.Sample.Time.Add(-step.Sample.Interval).Second()
			s.seconds[second] = s.seconds[second] || step.Sample.Motion
		}
	})
	next := make([]int, len(take.Captures))
	links := make([]*detect.Link, len(take.Captures))
	for i := range links {
		links[i] = detect.NewLink(detect.Defaults())
	}
	for {
		i := earliest(take, next)
		if i < 0 {
			return s
		}
		c := take.Captures[i]
		frame := c.Frames[next[i]]
		next[i]++
		flags, _ := c.Header.Flags()
		amplitudes := c.Header.Segments.Pick(nil, csi.Amplitudes(nil, frame.Data, flags))
		key := fuse.Link{Src: motion.MAC{2}, Dst: motion.MAC{2, byte(i + 1)}}
		links[i].Push(start.Add(frame.Time), amplitudes, c.Header.Segments.Ends(len(amplitudes)), frame.RSSI, func(tick detect.Tick) {
			fuser.Add(key, tick)
		})
	}
}

// earliest returns the capture whose next frame is the oldest, −1 at the end.
func earliest(take sim.Take, next []int) int {
	first := -1
	for i, c := range take.Captures {
		if next[i] < len(c.Frames) && (first < 0 || c.Frames[next[i]].Time < take.Captures[first].Frames[next[first]].Time) {
			first = i
		}
	}
	return first
}

// compareSeconds wants the history to say of 97 % of the seconds what the offline
// run says: whether there was data, and whether there was motion.
func compareSeconds(t *testing.T, want map[int64]bool, got map[int64]*float64) {
	t.Helper()
	same := 0
	for second, intensity := range got {
		moving, known := want[second]
		if known == (intensity != nil) && (!known || moving == (*intensity > 0)) {
			same++
		}
	}
	if len(want) < 60 || float64(same) < 0.97*float64(len(got)) {
		t.Errorf("%d of %d seconds agree with the offline run, which has %d with data", same, len(got), len(want))
	}
}

// compareDetection wants both to have detected motion within a sample of each
// other, or neither.
func compareDetection(t *testing.T, want, got motion.Time) {
	t.Helper()
	if late := got.Since(want); want.IsZero() != got.IsZero() || late > 0.5 || late < -0.5 {
		t.Errorf("first detection at %.2f, offline at %.2f", float64(got), float64(want))
	}
}
