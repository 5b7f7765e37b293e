package engine_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
)

var kitchenLink = masterName + "." + kitchen.Name()

// explain returns what is said of the links of the only network, by name.
func (b *box) explain() map[string]sensing.LinkState {
	b.t.Helper()
	list, err := b.Sensing.ExplainLinks(b.network())
	if err != nil {
		b.t.Fatal(err)
	}
	byName := map[string]sensing.LinkState{}
	for _, l := range list {
		byName[l.Link] = l
	}
	if len(byName) != len(list) {
		b.t.Fatalf("a link is listed twice: %+v", list)
	}
	return byName
}

// says reports whether one of the reasons contains a text.
func says(l sensing.LinkState, text string) bool {
	return strings.Contains(strings.Join(l.Why, "\n"), text)
}

// figure returns a figure of a reason of a link; ok is false where it has no such reason.
func figure(l sensing.LinkState, code sensing.Code, name string) (v float64, ok bool) {
	i := slices.IndexFunc(l.Reasons, func(r sensing.Reason) bool { return r.Code == code })
	if i < 0 {
		return 0, false
	}
	return l.Reasons[i].Figures[name], true
}

func TestLinksSayWhetherTheySense(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.quiet(r, 20)
		l := b.explain()[kitchenLink]
		if l.Source != "csi" || l.Can != sensing.LinkDecides || l.Calibration != "running" || !says(l, "calibrating") || !l.LastMotion.IsZero() {
			t.Errorf("after twenty quiet seconds %+v", l)
		}
		if left, ok := figure(l, sensing.Calibrating, "left_s"); !ok || left < 5 || left > 15 || l.Progress == nil || math.Abs(*l.Progress-(1-left/30)) > 0.05 {
			t.Errorf("after twenty of thirty seconds the calibration is at %v, %v s left", l.Progress, left)
		}
		if l.From.ID == 0 || l.From.Node || !l.To.Node || l.Level == nil || l.Level.ByPower || l.Level.Value >= l.Level.Threshold {
			t.Errorf("ends %+v %+v, level %+v", l.From, l.To, l.Level)
		}
		if math.Abs(l.Rate-100) > 5 || l.Missing > 0.1 || l.Amplitude < 6 || l.Floor == nil || *l.Floor > -7 || now().Since(l.Heard) > 2 {
			t.Errorf("figures %+v", l)
		}
		b.motion(r, 15)
		l = b.explain()[kitchenLink]
		if l.Calibration != "done" || l.CalibratedFor > 10 || l.LastMotion < now()-5 {
			t.Errorf("after fifteen seconds of motion %+v", l)
		}
		time.Sleep(30 * time.Second)
		if l = b.explain()[kitchenLink]; l.Can != sensing.LinkBlind || !says(l, "silent for 30s") {
			t.Errorf("after half a minute of silence %+v", l)
		}
		if silent, ok := figure(l, sensing.Silent, "for_s"); !ok || silent != 30 {
			t.Errorf("silent for %v s, want 30: %+v", silent, l.Reasons)
		}
		b.configure(func(n *motion.Network) {
			n.RadarConfig = motion.Document{"sounding": map[string]any{"clients": map[string]any{kitchen.String(): map[string]any{"mode": "deny"}}}}
		})
		if l = b.explain()[kitchenLink]; l.Can != sensing.LinkBlind || !says(l, "deny") {
			t.Errorf("denied %+v", l)
		}
		b.stop()
		b.start()
		if l = b.explain()[peerName+"."+hallway.Name()]; l.Can != sensing.LinkBlind || !says(l, "nothing has come since the start") {
			t.Errorf("after a restart %+v", l)
		}
	})
}

func TestLinkWithoutChannelStateSupports(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		second := motion.LinkMotion{Src: hallway, Dst: masterAP, MKAI: math.NaN(), LRaw: math.NaN(), Throughput: math.NaN(), RSSI: -60}
		b.figures(60, constant(0.02), second)
		links := b.explain()
		l := links[kitchenLink]
		if l.Source != "intensity" || !l.Coarse || l.Calibration != "done" || !says(l, "no channel state") {
			t.Errorf("a reported intensity: %+v", l)
		}
		// Two figures a second are too few for signal strength: the other is alone.
		other := links[masterName+"."+hallway.Name()]
		if other.Source != "rssi" || other.Can != sensing.LinkBlind || !says(other, "four times a second") {
			t.Errorf("signal strength: %+v", other)
		}
		if l.Can != sensing.LinkDecides || !says(l, "no other link") {
			t.Errorf("the only link that senses: %+v", l)
		}
	})
}

func TestGuardianDecidesInsteadOfLinks(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.send(20, 0.2, 0)
		for name, l := range b.explain() {
			if l.Can != sensing.LinkBlind || !says(l, "guardian decides") {
				t.Errorf("%s: %+v", name, l)
			}
		}
	})
}

func TestCalibrationIsDoneAgainCancelledAndKept(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.figures(60, constant(0.02))
		before := b.explain()[kitchenLink]
		if n, err := b.Sensing.Calibrate(id, kitchenLink); n != 1 || err != nil {
			t.Fatalf("%d links, %v", n, err)
		}
		b.figures(10, constant(0.3))
		if l := b.explain()[kitchenLink]; l.Calibration != "running" || *l.Floor <= *before.Floor || l.Outcome != sensing.CalibrationRuns || l.Progress == nil || *l.Progress < 0.3 || *l.Progress > 0.36 {
			t.Errorf("under way: %+v", l)
		}
		if n, err := b.Sensing.CancelCalibration(id, ""); n != 1 || err != nil {
			t.Fatalf("%d links cancelled, %v", n, err)
		}
		if l := b.explain()[kitchenLink]; l.Calibration != "done" || l.CalibratedAt != before.CalibratedAt || *l.Floor != *before.Floor {
			t.Errorf("cancelled: %+v, before: %+v", l, before)
		} else if l.Outcome != sensing.CalibrationCancelled || l.Progress != nil {
			t.Errorf("cancelled: %s at %v", l.Outcome, l.Progress)
		}
		if _, err := b.Sensing.Calibrate(id, ""); err != nil {
			t.Fatal(err)
		}
		b.figures(40, constant(0.05))
		done := b.explain()[kitchenLink]
		if done.Calibration != "done" || done.CalibratedAt <= before.CalibratedAt || done.Outcome != sensing.CalibrationDone {
			t.Errorf("done again: %+v", done)
		}
		b.stop()
		b.start()
		if l := b.explain()[kitchenLink]; l.Can != sensing.LinkBlind || l.CalibratedAt != done.CalibratedAt {
			t.Errorf("after a restart, before anything is heard: %+v", l)
		}
		b.reconnect()
		b.figures(3, constant(0.05))
		if l := b.explain()[kitchenLink]; l.Calibration != "done" || l.CalibratedAt != done.CalibratedAt {
			t.Errorf("after a restart: %+v, before: %+v", l, done)
		}
	})
}

func TestCalibrationOfWhatIsNotSensedIsRefused(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		for _, c := range []struct {
			network motion.NetworkID
			link    string
		}{{id, ""}, {id, "nobody.knows"}, {id + 1, ""}} {
			if _, err := b.Sensing.Calibrate(c.network, c.link); fault.KindOf(err) != fault.NotFound {
				t.Errorf("network %d, link %q: %v", c.network, c.link, err)
			}
		}
		if _, err := b.Sensing.ExplainLinks(id + 1); fault.KindOf(err) != fault.NotFound {
			t.Errorf("links of an unknown network: %v", err)
		}
	})
}
