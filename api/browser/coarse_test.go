package browser_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/browser"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// speakerInKitchen puts the speaker into the kitchen.
func (b *box) speakerInKitchen() {
	b.T.Helper()
	id := b.leaf(b.network, 0x31, "speaker")
	if a := b.owner.ask(http.MethodPut, fmt.Sprintf("/devices/%d", id), `{"kind":"leaf","room":"Kitchen"}`); a.Status != 204 {
		b.T.Fatal(a.Status)
	}
}

// wavering is what an installer sees of the first home whose figures waver.
func (p *tab) wavering() string {
	p.box.T.Helper()
	type figures struct{ Rate, RSSI, Amplitude, Missing, Threshold *float64 }
	var seen []any
	for _, l := range p.links() {
		seen = append(seen, figures{l.Rate, l.RSSI, l.Amplitude, l.Missing, l.Threshold}, l.Can, l.Why)
	}
	for _, d := range p.setupDevices().Devices {
		seen = append(seen, figures{Rate: d.Rate, RSSI: d.RSSI}, d.Why)
	}
	raw, err := json.Marshal(seen)
	if err != nil {
		p.box.T.Fatal(err)
	}
	return string(raw)
}

// TestInstallerSeesNoFigureWaver: they would tell when somebody moves. A walk test of the installer's own
// shows them, one of the owner's does not.
func TestInstallerSeesNoFigureWaver(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	b.speakerInKitchen()
	b.hear(100, func(int) float64 { return 0.02 })
	if l := b.nobody.links()[0]; l.RSSI != nil || l.Rate != nil || l.Missing != nil || l.Can != "blind" || l.Why[0].Code != "just_begun" {
		t.Errorf("before the first look %+v, want that nothing is known yet", l)
	}
	b.look()
	before, own := b.nobody.wavering(), b.owner.wavering()
	b.fading = -16
	b.hear(40, func(int) float64 { return 0.4 })
	if after := b.nobody.wavering(); after != before {
		t.Errorf("an installer sees figures change: %s, before %s", after, before)
	}
	if after := b.owner.wavering(); after == own {
		t.Errorf("the owner sees none change: %s", after)
	}
	apitest.Want[any](t, b.owner.walk(http.MethodPost, "Kitchen"), 201)
	if during := b.nobody.wavering(); during != before {
		t.Errorf("in the owner's walk test an installer sees %s, before %s", during, before)
	}
	apitest.Want[any](t, b.owner.walk(http.MethodDelete, ""), 200)
	apitest.Want[any](t, b.nobody.walk(http.MethodPost, "Kitchen"), 201)
	b.hear(2, func(int) float64 { return 0.4 })
	if l := b.nobody.links()[0]; l.Threshold == nil || l.RSSI == nil || *l.RSSI > -60 || l.LastMotion != nil {
		t.Errorf("in their own walk test %+v, want what is now", l)
	}
	apitest.Want[any](t, b.nobody.walk(http.MethodDelete, ""), 200)
	if after := b.nobody.wavering(); after != before {
		t.Errorf("after it %s, before %s", after, before)
	}
}

// TestWalkTestOfAnotherIsNotShown: an installer sees that it runs, and neither steps nor ends it, nor
// reads what it has found when it is over.
func TestWalkTestOfAnotherIsNotShown(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	b.speakerInKitchen()
	b.hear(100, func(int) float64 { return 0.02 })
	begun := apitest.Want[browser.WalkTest](t, b.owner.walk(http.MethodPost, "Kitchen"), 201)
	ws, _, err := b.nobody.watchInstallation()
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	b.hear(2, func(int) float64 { return 0.02 })
	apitest.WantProblem(t, b.nobody.walk(http.MethodPut, "Hall"), 403, "somebody else")
	apitest.WantProblem(t, b.nobody.walk(http.MethodDelete, ""), 403, "somebody else")
	hides := func(running bool) {
		t.Helper()
		test := apitest.Want[browser.WalkTest](t, b.nobody.walk(http.MethodGet, ""), 200)
		if test.Running != running || test.ID != begun.ID || test.Room != "" || len(test.Moving) != 0 || len(test.Rooms) != 1 || test.Rooms[0].State != "waiting" || len(test.Rooms[0].Links) != 0 {
			t.Errorf("an installer sees of the owner's test %+v", test)
		}
	}
	hides(true)
	if mine := apitest.Want[browser.WalkTest](t, b.owner.walk(http.MethodGet, ""), 200); mine.Room != "Kitchen" || len(mine.Rooms[0].Links) == 0 {
		t.Errorf("the owner sees %+v", mine)
	}
	apitest.Want[any](t, b.owner.walk(http.MethodDelete, ""), 200)
	live := 0
	until(t, ws, func(m browser.Installation) bool {
		live += len(m.Live)
		return m.Walk != nil && !m.Walk.Running
	})
	if live > 0 {
		t.Errorf("an installer is told %d links live", live)
	}
	hides(false)
	if a := b.nobody.walk(http.MethodDelete, ""); a.Status != 200 || len(apitest.Want[browser.WalkTest](t, a, 200).Rooms[0].Links) != 0 {
		t.Errorf("ended once more by an installer: %d %s", a.Status, a.Body)
	}
	hides(false)
}

// stir sends channel state of the speaker in which somebody moves all the time, for so many seconds up to now.
func (b *box) stir(length int) {
	b.T.Helper()
	start := b.engine.State.Now().Add(-motion.Seconds(length))
	for second := range length {
		batch := csi.Batch{Src: speaker, Dst: motion.MAC{2, 0xaa, 0, 0, 1, 0x12}, Flags: csi.Amplitude, Channel: 6, Subcarriers: 64, Start: uint64(start.Add(motion.Seconds(second)).Micros())}
		for i := range 50 {
			frame := make([]byte, 64)
			for k := range frame {
				frame[k] = byte(70 + 30*math.Sin(float64(50*second+i)/12+float64(k)/5))
			}
			batch.Frames = append(batch.Frames, csi.Frame{Offset: uint32(i * 20_000), RSSI: -55, Noise: csi.NoiseUnknown, Data: frame})
		}
		if err := b.engine.Report(b.T.Context(), motion.DeviceKey{Kind: motion.RadarKind, ID: master}, motion.RawCSI(csi.Append(nil, &batch))); err != nil {
			b.T.Fatal(err)
		}
	}
}

// TestInstallerIsNotToldThatSomebodyMoved: of a calibration that was disturbed they learn that it has to be
// repeated.
func TestInstallerIsNotToldThatSomebodyMoved(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	b.speakerInKitchen()
	b.hear(1, func(int) float64 { return math.NaN() }) // the master connects
	b.stir(100)
	b.look()
	outcome := func(who *tab) string {
		list := apitest.Want[struct{ Calibrations []browser.CalibrationView }](t, who.setUp(http.MethodGet, "/calibrations", ""), 200).Calibrations
		return list[0].Outcome
	}
	codes := func(who *tab) (codes []string) {
		for _, r := range who.links()[0].Why {
			codes = append(codes, string(r.Code))
		}
		return codes
	}
	if l := b.owner.links()[0]; !l.Disturbed || outcome(b.owner) != "disturbed" || !slices.Contains(codes(b.owner), "disturbed") {
		t.Fatalf("the owner sees %s %+v", outcome(b.owner), l)
	}
	for range 2 { // outside of a walk test of theirs, and in one
		if l := b.nobody.links()[0]; l.Disturbed || outcome(b.nobody) != "repeat" || slices.Contains(codes(b.nobody), "disturbed") || !slices.Contains(codes(b.nobody), "recalibrate") {
			t.Errorf("an installer sees %s %+v", outcome(b.nobody), l)
		}
		b.nobody.walk(http.MethodPost, "Kitchen")
	}
	if !slices.Contains(codes(b.owner), "disturbed") {
		t.Error("the owner's reasons have changed")
	}
}
