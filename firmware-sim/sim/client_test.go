package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sensegate/broker/wire"
	"sensegate/firmware-sim/clocktest"
	"sensegate/motion"
	"sensegate/motion/csi"
)

var (
	guardianKey = motion.DeviceKey{Kind: motion.Guardian, ID: NewHome(0).GuardianID}
	masterKey   = motion.DeviceKey{Kind: motion.RadarKind, ID: NewHome(0).Nodes[0].DeviceID}
)

func TestEveryLinkSendsCSI(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	s := a.start(Config{Seed: 42})
	want := map[string]bool{}
	for _, link := range s.Home().Links() {
		want[link.Src.String()+" "+link.Dst.String()] = true
	}
	for len(want) > 0 {
		var b csi.Batch
		await(a, func(topic wire.Topic, raw motion.RawCSI) bool {
			if err := csi.Decode(raw, &b); err != nil {
				t.Fatalf("%s: %v", topic, err)
			}
			return true
		})
		if age := a.clock.Now().Sub(time.UnixMicro(int64(b.Start))); age < 0 || age > patience {
			t.Fatalf("a batch is %v old", age)
		}
		if span := b.Frames[len(b.Frames)-1].Offset; span > 500_000 {
			t.Fatalf("a batch covers %d µs", span)
		}
		delete(want, b.Src.String()+" "+b.Dst.String())
	}
	if c := s.Counters(); s.Network() != 1042 || c.Connections != 3 || c.Frames == 0 || c.Dropped != 0 {
		t.Errorf("network %d, counters %+v", s.Network(), c)
	}
}

func TestBootstrapWaitsForAdoption(t *testing.T) {
	t.Parallel()
	a := newAppliance(t, wire.BootstrapAnswer{Status: wire.StatusTryAgain, RetryAfterS: 1, Reason: "waiting for adoption"})
	a.start(Config{Seed: 42})
	a.mu.Lock()
	defer a.mu.Unlock()
	var master, masters int
	for i, post := range a.posts {
		if post.LocationID != guardianKey.ID || len(post.Radar.Links) == 0 && post.Radar.RootMode == 2 {
			t.Errorf("post %d: %+v", i, post)
		}
		if post.Radar.RootMode == motion.RootModeMaster {
			masters++
			master = i
		}
	}
	if masters != 2 || master != 1 || len(a.posts) != 4 {
		t.Errorf("%d posts, the master's %d up to number %d: want it twice, then the two extenders", len(a.posts), masters, master)
	}
}

func TestRedirectIsFollowedOnce(t *testing.T) {
	t.Parallel()
	target := newAppliance(t)
	a := newAppliance(t, wire.BootstrapAnswer{Redirect: target.door.URL + "/gatekeeper"})
	a.answers = append(a.answers, a.answers[0], a.answers[0]) // for all three nodes
	a.start(Config{Seed: 42})
	await(target, func(wire.Topic, motion.RawCSI) bool { return true })
}

func TestRefusedTokenLeadsToANewBootstrap(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	a.refuse = 1
	a.start(Config{Seed: 42})
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.posts) != 4 || a.bearers[1] == "" && a.bearers[2] == "" && a.bearers[3] == "" {
		t.Errorf("%d posts with tokens %q: want one again, with the token of the first answer", len(a.posts), a.bearers)
	}
}

func TestGuardianStartsWithAFullReport(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	a.start(Config{Seed: 42, Mode: Matrix})
	report := await(a, func(topic wire.Topic, r motion.StatusReport) bool { return topic.Kind == motion.Guardian })
	if !report.Startup || len(report.Radars) != 3 || len(report.Leafblower) != 9 || report.NetworkID != 1042 {
		t.Errorf("first report %+v", report)
	}
	if links := report.Radars["GWA1000133"].Links; len(links) != 5 || links[3].PeerType != motion.PeerMesh {
		t.Errorf("links of the master: %+v, want three leafs and two extenders", links)
	}
}

func TestMotionIsStreamedWhileWatched(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	s := a.start(Config{Seed: 42, Mode: Matrix})
	a.command(guardianKey, wire.CommandLive, wire.Live{Enable: 1, Interval: 500, TimeoutS: 60})
	moved := await(a, func(_ wire.Topic, m *motion.Matrix) bool { return len(m.Loc) > 0 })
	if len(moved.Links) != len(s.Home().Links()) || moved.Count != 1 || moved.Interval != 500 || moved.MotionEnabled != 1 {
		t.Errorf("matrix %+v", moved)
	}
	a.command(guardianKey, wire.CommandLive, wire.Live{Enable: 0})
	a.command(guardianKey, wire.CommandManage, wire.Manage{ID: 7, Command: "ping"})
	after := 0
	await(a, func(_ wire.Topic, r motion.Report) bool {
		if _, isMatrix := r.(*motion.Matrix); isMatrix {
			after++
		}
		result, isResult := r.(motion.ManageResult)
		return isResult && result.State == "200"
	})
	if after > 2 {
		t.Errorf("%d live messages after the stream was ended", after)
	}
}

func TestSceneOfTheCallerIsPlayed(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	s := a.start(Config{Seed: 42, Mode: Matrix, Scene: func(_ Home, start motion.Time) Scene {
		return Scene{Walks: []Walk{{Location: "Bathroom", From: start, To: start.Add(60), Vigour: 1}}}
	}})
	a.command(guardianKey, wire.CommandLive, wire.Live{Enable: 1, Interval: 500, TimeoutS: 60})
	await(a, func(_ wire.Topic, m *motion.Matrix) bool {
		return len(m.Loc) > 0 && m.Loc[0].MAC == s.Home().Leafs[5].MAC
	})
}

func TestManagementCommandsAreAnswered(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	a.start(Config{Seed: 42})
	for id, test := range []struct {
		command string
		states  []string
	}{
		{"ping", []string{"100", "200"}},
		{"status", []string{"100", "200"}},
		{"config", []string{"100", "200"}},
		{"log", []string{"100", "200"}},
		{"dance", []string{"404"}},
	} {
		a.command(masterKey, wire.CommandManage, wire.Manage{ID: int64(id + 1), Command: test.command})
		var states []string
		for len(states) < len(test.states) {
			r := await(a, func(_ wire.Topic, r motion.ManageResult) bool { return r.ID == int64(id+1) })
			states = append(states, r.State)
		}
		if diff := cmp.Diff(test.states, states); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.command, diff)
		}
	}
	leaf := NewHome(0).Leafs[0].MAC
	a.command(masterKey, wire.CommandDeviceInfo, motion.DeviceInfo{MAC: leaf, Name: "Speaker"})
	await(a, func(_ wire.Topic, r motion.DeviceInfoAck) bool { return r.MAC == leaf })
}

func TestRebootComesAfterItsResult(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	s := a.start(Config{Seed: 42})
	a.command(masterKey, wire.CommandManage, wire.Manage{ID: 1, Command: "reboot"})
	await(a, func(_ wire.Topic, r motion.ManageResult) bool { return r.State == "200" })
	await(a, func(wire.Topic, motion.RawCSI) bool { return s.Counters().Connections > 3 })
}

func TestResetIsAFactoryReset(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	s := a.start(Config{Seed: 42})
	a.command(masterKey, wire.CommandReset, struct{}{})
	await(a, func(wire.Topic, motion.RawCSI) bool { return s.Counters().Connections > 3 })
	a.mu.Lock()
	defer a.mu.Unlock()
	if last := a.posts[len(a.posts)-1]; !last.FactoryReset {
		t.Errorf("last post %+v, want a factory reset", last)
	}
}

func TestConfigIsAppliedAndItsRevisionReported(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	s := a.start(Config{Seed: 42, Mode: Matrix})
	silent := s.Home().Leafs[0].MAC
	a.command(guardianKey, wire.CommandLive, wire.Live{Enable: 1, TimeoutS: 60})
	a.command(guardianKey, wire.CommandConfig, wire.Config{Rev: 12, RadarConfig: motion.Document{
		"sounding": map[string]any{"clients": map[string]any{silent.String(): map[string]any{"mode": "deny"}}},
	}})
	await(a, func(_ wire.Topic, r motion.StatusReport) bool { return r.Rev == 12 && !r.Heartbeat() })
	m := await(a, func(wire.Topic, *motion.Matrix) bool { return true })
	if strings.Contains(strings.Join(m.Links, " "), silent.Name()) {
		t.Errorf("the denied leaf is still sounded: %v", m.Links)
	}
	a.command(guardianKey, wire.CommandConfig, wire.Config{Rev: 13, Meta: wire.ConfigMeta{MotionPaused: 1}})
	await(a, func(_ wire.Topic, r motion.StatusReport) bool { return r.Rev == 13 && r.MotionEnabled == 0 })
}

func TestMissedMotionIsSentAsHistory(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	a.start(Config{Seed: 42, Mode: Matrix, Speed: 500, Start: a.ago(time.Hour)})
	var last motion.Time
	for range 5 {
		// a block whose acknowledgement was lost in an outage comes again
		block := await(a, func(_ wire.Topic, h motion.History) bool { return h.TS != last })
		if last != 0 && block.TS.Since(last) != 300 || block.Count != 60 {
			t.Errorf("block of %d samples at %f follows %f", block.Count, block.TS, last)
		}
		last = block.TS
	}
}

func TestGuardianRaisesItsOwnEvents(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	a.start(Config{Seed: 42, Mode: Event, Speed: 100, Start: a.ago(30 * time.Minute)})
	var began motion.EventReport
	await(a, func(_ wire.Topic, r motion.EventReport) bool {
		began = r
		return r.Event.Event == motion.MotionDetectedEvent
	})
	if began.UUID == "" || began.Event.LocName == "" || len(began.Event.IntensityWindow) < 3 || len(began.Event.IntensityWindow) > 7 {
		t.Errorf("detection %+v", began)
	}
	ended := await(a, func(_ wire.Topic, r motion.EventReport) bool { return r.Event.Event == motion.MotionStoppedEvent })
	if ended.Event.DetectedTS != began.Event.TS || ended.UUID == began.UUID {
		t.Errorf("stop %+v of detection %+v", ended, began)
	}
}

func TestPowerCutLeavesAWillAndComesBack(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	s := a.start(Config{Seed: 42, Mode: Matrix, Speed: 50, Start: a.ago(30 * time.Minute)})
	lost := s.Home().Nodes[2]
	will := await(a, func(topic wire.Topic, r motion.EventReport) bool { return topic.ID == lost.DeviceID })
	if will.Event.Event != "DeviceDisconnectedEvent" || will.Event.NodeName != lost.Name {
		t.Errorf("will %+v", will)
	}
	await(a, func(_ wire.Topic, r motion.StatusReport) bool {
		_, present := r.Radars[lost.Name]
		return !r.Heartbeat() && present && s.Counters().Connections > 4
	})
}

func TestRunEndsWhileItWaitsForAdoption(t *testing.T) {
	t.Parallel()
	a := newAppliance(t, wire.BootstrapAnswer{Status: wire.StatusTryAgain, Reason: "waiting for adoption"})
	s, err := New(Config{Gatekeeper: a.door.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Run(ctx); err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestConfigMistakesSayWhatToDo(t *testing.T) {
	t.Parallel()
	clock := clocktest.New(t)
	good := Config{Gatekeeper: "http://127.0.0.1:8080/gatekeeper", Now: clock.Now}
	for _, test := range []struct {
		name  string
		spoil func(*Config)
		want  string
	}{
		{"speed", func(c *Config) { c.Speed = 0.5 }, "speed 0.5: want 1 to 1000"},
		{"mode", func(c *Config) { c.Mode = "radar" }, `mode "radar": want csi, matrix or event`},
		{"gatekeeper", func(c *Config) { c.Gatekeeper = "box:8080" }, "want a URL such as http://127.0.0.1:8080/gatekeeper"},
		{"too old a start", func(c *Config) { c.Start = clock.Start.Add(-25 * time.Hour) }, "run shorter or slower"},
		{"a start in the future", func(c *Config) { c.Start = clock.Start.Add(time.Hour) }, "not in the future"},
	} {
		c := good
		test.spoil(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if _, err := New(good); err != nil {
		t.Errorf("a good configuration: %v", err)
	}
}
