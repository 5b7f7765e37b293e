package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"sensegate/api/appliance"
	"sensegate/firmware-sim/clocktest"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/csi"
	"sensegate/motion/detect"
	"sensegate/motion/engine/management"
	"sensegate/motion/fuse"
	"sensegate/motion/hook"
)

// TestMain lets the scripts call this program as sensegate.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sensegate": main})
}

// TestStories runs the scripts below testdata/script against the real program.
func TestStories(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(env *testscript.Env) error {
		for _, listener := range []string{"HTTP_LISTEN", "HTTP_TLS_LISTEN", "MQTT_LISTEN", "MQTT_TLS_LISTEN"} {
			env.Setenv("SENSEGATE_"+listener, "127.0.0.1:0") // scripts run side by side
		}
		return nil
	}})
}

func TestMistakesOfTheConfigurationEndWithTheCodeOfWrongUsage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("log: {level: loud}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"config", "check"}, {"serve"}} {
		var told bytes.Buffer
		if code := run(append(command, "-config", path), io.Discard, &told); code != exitUsage || !strings.Contains(told.String(), ":1: log.level: ") {
			t.Errorf("%v ended with %d: %s", command, code, told.String())
		}
	}
}

func TestMissingConfigurationIsAMistakeOfIt(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	if code := run([]string{"serve", "-config", filepath.Join(t.TempDir(), "none.yaml")}, io.Discard, &told); code != exitUsage || !strings.Contains(told.String(), "no such file") {
		t.Errorf("ended with %d: %s", code, told.String())
	}
}

// TestOneSettingIsShown for scripts, without anything around it.
func TestOneSettingIsShown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("state_dir: '/mnt/my disk/x' # a disk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]struct {
		code int
		out  string
	}{
		"state_dir":          {exitOK, "/mnt/my disk/x\n"},
		"mail.smtp.password": {exitFailed, ""},
		"state":              {exitFailed, ""},
	} {
		var out, told bytes.Buffer
		if code := run([]string{"config", "show", "-config", path, key}, &out, &told); code != want.code || out.String() != want.out {
			t.Errorf("%s: %d %q %s", key, code, out.String(), told.String())
		}
	}
}

func TestExampleConfigurationShowsEveryDefault(t *testing.T) {
	t.Parallel()
	got, err := appliance.Load("config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := appliance.Defaults()
	got.HTTP.Hosts, got.HTTP.Origins, got.HTTP.MDNSInterfaces = nil, nil, nil // [] in the example
	got.Sources = nil
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
	if code := run([]string{"demo", "-duration", "20s", "-seed", "1", "-json"}, &out, io.Discard); code != exitOK {
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

func TestDemoShowsMotionThatNodesOfAnotherMakerSense(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := run([]string{"demo", "-duration", "20s", "-seed", "1", "-json", "-nodes", "ruview"}, &out, io.Discard); code != exitOK {
		t.Fatalf("demo ended with %d:\n%s", code, out.String())
	}
	links, sensed := 0, false
	for line := range strings.Lines(out.String()) {
		var e motion.Event
		switch {
		case json.Unmarshal([]byte(line), &e) != nil:
			t.Errorf("line %q is no event", line)
		case e.Event == motion.LinkCreatedEvent && strings.HasPrefix(e.LinkID, "ruview-"):
			links++
		case e.Event == motion.MotionDetectedEvent:
			sensed = sensed || slices.ContainsFunc(e.Loc, func(l motion.EventLoc) bool { return l.Location == "Workshop" })
		}
	}
	if links != 2 || !sensed {
		t.Errorf("%d links, motion in the workshop %v:\n%s", links, sensed, out.String())
	}
}

func TestDemoListensWhereItIsTold(t *testing.T) {
	t.Setenv("SENSEGATE_HTTP_LISTEN", "127.0.0.2:0")
	t.Setenv("SENSEGATE_MQTT_LISTEN", "0.0.0.0:0")
	var out bytes.Buffer
	if code := run([]string{"demo", "-duration", "1s", "-seed", "1", "-json"}, &out, io.Discard); code != exitOK {
		t.Fatalf("demo ended with %d:\n%s", code, out.String())
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	var start struct{ HTTP, MQTT string }
	if err := json.Unmarshal([]byte(line), &start); err != nil || !strings.HasPrefix(start.HTTP, "127.0.0.2:") || !strings.HasPrefix(start.MQTT, "127.0.0.1:") {
		t.Errorf("it begins with %s; %v", line, err)
	}
}

// TestReplayedCapturesAreSensedAsOffline sends a labelled recording and a stream
// of two real receivers through the gatekeeper and real MQTT, and compares the
// history that the interface serves, second by second, and the first detection
// with the same frames fused without any network between.
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
				Takes: takes, Speed: 10, Gatekeeper: "http://" + a.HTTP().String() + "/gatekeeper",
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
	*appliance.Appliance
	key string
}

// startAppliance runs an appliance on free ports until the end of the test.
func startAppliance(t *testing.T, change ...func(*appliance.Config)) testAppliance {
	t.Helper()
	c := appliance.Defaults()
	c.StateDir, c.HTTP.Listen, c.MQTT.Listen = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	c.HTTP.TLSListen, c.MQTT.TLSListen = "127.0.0.1:0", "127.0.0.1:0"
	for _, f := range change {
		f(&c)
	}
	a, err := appliance.Open(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("appliance: %v", err)
		}
	})
	key, err := a.Key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return testAppliance{Appliance: a, key: key}
}

// get reads one answer of the Core interface.
func (a testAppliance) get(t *testing.T, path string, answer any) {
	t.Helper()
	a.call(t, http.MethodGet, path, http.NoBody, answer)
}

// call sends a request to the Core interface, which must be answered with 200.
func (a testAppliance) call(t *testing.T, method, path string, body io.Reader, answer any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+a.HTTP().String()+"/core"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", a.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", path, response.Status, err, raw)
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

// TestBatchIsMonitoredToItsEndWhileADeviceReturns runs a batch of commands on
// simulated devices over real MQTT: one loses its power before its turn and
// gets its command when it is back, one does not know what it is asked.
func TestBatchIsMonitoredToItsEndWhileADeviceReturns(t *testing.T) {
	t.Parallel()
	a := startAppliance(t)
	var unplugged atomic.Bool // node 1 is
	home := a.simulate(t, func(sim.Home, motion.Time) sim.Scene { return sim.Scene{} },
		func(i int) bool { return i == 1 && unplugged.Load() })
	events := a.dial(t, fmt.Sprintf("/network/%d/events/live", home.Network()))
	var nodes []motion.Node
	a.get(t, fmt.Sprintf("/node/find/networkid/%d", home.Network()), &nodes)
	id := func(i int) motion.NodeID {
		at := slices.IndexFunc(nodes, func(n motion.Node) bool { return n.DeviceID == home.Home().Nodes[i].DeviceID })
		return nodes[at].ID
	}
	actions := fmt.Sprintf(`{"node_id":%d,"payload":{"command":"status"}},
		{"node_id":%d,"trigger_id":"#0","payload":{"command":"ping"}},
		{"node_id":%d,"trigger_id":"#1","payload":{"command":"log"}},
		{"node_id":%d,"trigger_id":"#2","payload":{"command":"dance"}},
		{"node_id":%d,"trigger_id":"#3","payload":{"command":"config"}}`, id(0), id(1), id(0), id(2), id(2))
	for range 200 {
		actions += fmt.Sprintf(`,{"node_id":%d,"payload":{"command":"ping"}}`, id(2))
	}
	var batch management.BatchActions
	a.post(t, "/manage/batch", fmt.Sprintf(`{"name":"e2e","network_id":%d,"actions":[%s]}`, home.Network(), actions), &batch)
	monitor := a.dial(t, fmt.Sprintf("/manage/monitor?batch_id=%d", batch.BatchID))
	var snapshot management.MonitorSnapshot
	if readFrame(t, monitor, &snapshot); snapshot.Type != "snapshot" || len(snapshot.Actions) != len(batch.Actions) {
		t.Fatalf("snapshot %+v", snapshot)
	}
	unplugged.Store(true)
	for event := (motion.Event{}); event.Event != "DeviceDisconnectedEvent" || event.DeviceID != home.Home().Nodes[1].DeviceID; {
		readFrame(t, events, &event)
	}
	a.post(t, "/manage/execute", fmt.Sprintf(`{"batch_id":%d}`, batch.BatchID), &batch)

	went := map[command.ID][]command.State{}
	for frame := (management.MonitorUpdate{}); frame.Type != "done"; {
		frame = management.MonitorUpdate{}
		readFrame(t, monitor, &frame)
		if frame.Type == "update" {
			went[frame.Action.ID] = append(went[frame.Action.ID], frame.Action.State)
			if frame.Action.State == command.WaitingForOnline {
				unplugged.Store(false)
			}
		}
	}
	want := [][]command.State{{"011", "100", "200"}, {"002", "011", "100", "200"}, {"011", "100", "200"}}
	for i, states := range want {
		if got := went[batch.Actions[i].ID]; !slices.Equal(got, states) {
			t.Errorf("action %d went through %v, want %v", i, got, states)
		}
	}
	for i, c := range batch.Actions[3:] {
		ended := command.State("200")
		if i < 2 {
			ended = "404"
		}
		if got := went[c.ID]; !slices.IsSorted(got) || got[len(got)-1] != ended {
			t.Errorf("action %d went through %v, want %s at the end", i+3, got, ended)
		}
	}
}

// TestLiveMotionOfAGuardianIsRelayed has a home whose guardian streams motion only
// when it is asked to, and a receiver outside that is posted the frames.
func TestLiveMotionOfAGuardianIsRelayed(t *testing.T) {
	t.Parallel()
	posts := make(chan []byte, 1000)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.HasPrefix(r.Header.Get("webhook-signature"), "v1,") {
			t.Errorf("unsigned, or %v", err)
		}
		posts <- body
	}))
	t.Cleanup(receiver.Close)
	a := startAppliance(t, func(c *appliance.Config) {
		c.Relay.Webhook = hook.Config{URL: receiver.URL, Secret: "an invented secret"}
	})
	home := a.simulate(t, nil, nil)
	var started struct{ Channel string }
	a.post(t, fmt.Sprintf("/network/%d/motion/webhook", home.Network()), "", &started)
	want := fmt.Sprintf("motion/%d", home.Network())
	if started.Channel != want {
		t.Errorf("channel %q, want %q", started.Channel, want)
	}
	for links := 0; links == 0; {
		var post struct {
			Frames []struct {
				Channel string
				Frame   motion.LiveFrame
			}
		}
		select {
		case raw := <-posts:
			if err := json.Unmarshal(raw, &post); err != nil || len(post.Frames) == 0 || post.Frames[0].Channel != want {
				t.Fatalf("%v: %s", err, raw)
			}
		case <-time.After(time.Minute):
			t.Fatal("no frame of the guardian's links came")
		}
		links = len(post.Frames[0].Frame.Links)
	}
}

// simulate runs a simulated home at the appliance until the end of the test, and
// waits until its devices are connected.
func (a testAppliance) simulate(t *testing.T, scene func(sim.Home, motion.Time) sim.Scene, unplugged func(int) bool) *sim.Sim {
	t.Helper()
	asleep := sim.NewHome(0)
	asleep.Local = clocktest.New(t).Night()
	home, err := sim.New(sim.Config{Seed: 1, Mode: sim.Matrix, Home: asleep, Gatekeeper: "http://" + a.HTTP().String() + "/gatekeeper", Scene: scene, Unplugged: unplugged})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- home.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("simulation: %v", err)
		}
	})
	select {
	case <-home.Ready():
	case <-time.After(time.Minute):
		t.Fatal("the devices do not connect")
	}
	return home
}

// dial opens a websocket of the Core interface until the end of the test.
func (a testAppliance) dial(t *testing.T, path string) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+a.HTTP().String()+"/core"+path, http.Header{"Authorization": {a.key}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	if err := ws.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return ws
}

// readFrame reads the next frame of a websocket.
func readFrame(t *testing.T, ws *websocket.Conn, frame any) {
	t.Helper()
	if err := ws.ReadJSON(frame); err != nil {
		t.Fatal(err)
	}
}

// post acts through the Core interface.
func (a testAppliance) post(t *testing.T, path, body string, answer any) {
	t.Helper()
	a.call(t, http.MethodPost, path, strings.NewReader(body), answer)
}
