package browser_test

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/browser"
	"sensegate/motion"
)

// hear lets the master of the first home report a figure of the speaker each half second of the
// last seconds until now, on its links.
func (b *box) hear(length motion.Seconds, mkai func(i int) float64) {
	b.T.Helper()
	key := motion.DeviceKey{Kind: motion.RadarKind, ID: master}
	b.engine.State.BeginSession(motion.Device{DeviceKey: key, NetworkID: b.network, NodeID: b.nodeOf(master)})
	b.engine.State.Connected(key, netip.MustParseAddr("192.168.10.13"))
	from := b.engine.State.Now().Add(-length)
	for i := range int(2 * length) {
		r := motion.LinkMotions{TS: from.Add(float64(i) / 2), Links: []motion.LinkMotion{{
			Src: speaker, Dst: motion.MAC{2, 0xaa, 0, 0, 1, 0x12}, MKAI: mkai(i), LRaw: math.NaN(), Throughput: math.NaN(), RSSI: -55 + b.fading,
		}}}
		if err := b.engine.Report(b.T.Context(), key, r); err != nil {
			b.T.Fatal(err)
		}
	}
}

// look takes the figures that installers are shown, as the appliance does once a minute.
func (b *box) look() {
	b.T.Helper()
	for range 2 {
		if err := b.engine.Sensing.Look(b.T.Context()); err != nil {
			b.T.Fatal(err)
		}
	}
}

func (p *tab) links() []browser.LinkView {
	p.box.T.Helper()
	return apitest.Want[struct{ Links []browser.LinkView }](p.box.T, p.setUp(http.MethodGet, "/links", ""), 200).Links
}

func TestLinksOfAHome(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	id := b.leaf(b.network, 0x31, "speaker")
	if a := b.owner.ask(http.MethodPut, fmt.Sprintf("/devices/%d", id), `{"kind":"leaf","room":"Kitchen"}`); a.Status != 204 {
		t.Fatal(a.Status)
	}
	b.hear(100, func(i int) float64 { return map[bool]float64{true: 0.5, false: 0.02}[i > 180] })
	own := b.owner.links()
	if len(own) != 1 || own[0].LastMotion == nil {
		t.Fatalf("the owner sees %+v, want when it moved", own)
	}
	b.look()
	l := b.nobody.links()[0]
	if l.LastMotion != nil {
		t.Errorf("an installer sees when it moved: %v", *l.LastMotion)
	}
	if l.Zone != "Kitchen" || l.From.Name != "speaker" || *l.From.ID != id || l.To.Name != "GWA0110" || l.Scale != "" || l.Threshold != nil || l.RSSI == nil || *l.RSSI != -54 || int64(*l.Heard)%60 != 0 {
		t.Errorf("link %+v", l)
	}
	if !slices.ContainsFunc(l.Why, func(r browser.LinkReason) bool { return r.Code == "device_figures" }) || l.Calibration != "done" {
		t.Errorf("why %+v", l)
	}
	history := apitest.Want[struct {
		Since *motion.Time
		Step  float64
		Can   []string
		Rate  []*float64
	}](t, b.nobody.setUp(http.MethodGet, "/links/"+l.ID+"/history", ""), 200)
	if history.Step != 900 || len(history.Can) != len(history.Rate) || len(history.Can) > 2 {
		t.Errorf("history %+v", history)
	}
	apitest.WantProblem(t, b.nobody.setUp(http.MethodGet, "/links/nobody.knows/history", ""), 404, "not known")
	calibrate := func(method, link string) apitest.Answer {
		if method == http.MethodDelete {
			return b.nobody.setUp(method, "/calibrations?link="+link, "")
		}
		return b.nobody.setUp(method, "/calibrations", fmt.Sprintf(`{"network_id":%d,"link":%q}`, b.home, link))
	}
	type calibrations struct{ Calibrations []browser.CalibrationView }
	apitest.WantProblem(t, calibrate(http.MethodPost, "nobody.knows"), 404, "not sensed")
	running := apitest.Want[calibrations](t, calibrate(http.MethodPost, l.ID), 200).Calibrations
	if len(running) != 1 || running[0].Outcome != "running" || *running[0].Progress != 0 || running[0].At == nil {
		t.Errorf("running %+v", running)
	}
	apitest.WantProblem(t, calibrate(http.MethodDelete, "nobody.knows"), 404, "not sensed")
	if a := calibrate(http.MethodDelete, l.ID); a.Status != 204 {
		t.Errorf("cancel: %d %s", a.Status, a.Body)
	}
	after := apitest.Want[calibrations](t, b.nobody.setUp(http.MethodGet, "/calibrations", ""), 200).Calibrations
	if len(after) != 1 || after[0].Outcome != "cancelled" || after[0].Progress != nil || *after[0].At != *running[0].At {
		t.Errorf("cancelled %+v", after)
	}
	if list := b.nobody.setupDevices(); list.of(speaker.String()).Rate == nil || list.of(master).Why != "" {
		t.Errorf("devices that deliver %+v", list)
	}
}
