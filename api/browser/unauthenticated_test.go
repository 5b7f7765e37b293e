package browser_test

import (
	"net/http"
	"net/netip"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
)

// adoptNode lets a node of another maker into the first home, which then reports a link.
func (b *box) adoptNode() {
	b.T.Helper()
	const id = "node:ruview:7c2c6742bbac:2"
	mac := motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xac}
	said := motion.Radar{DeviceID: id, NodeName: "ruview-7c2c6742bbac-2", RootMode: 1, HWID: "ruview", Interfaces: []motion.Interface{{Name: "wlan0", Type: "WIFI_CLIENT", MAC: mac}}}
	from := motion.Credentials{Address: netip.MustParseAddr("192.168.10.44"), MAC: mac}
	if _, _, _, err := b.engine.Receiver(b.T.Context(), said, mac, from); err != nil {
		b.T.Fatal(err)
	}
	if _, err := b.engine.Devices.Adopt(b.T.Context(), id, b.network); err != nil {
		b.T.Fatal(err)
	}
	key, receiver, why, err := b.engine.Receiver(b.T.Context(), said, mac, from)
	if err != nil || why != "" {
		b.T.Fatalf("%q %v", why, err)
	}
	report := motion.LinkMotions{TS: b.engine.State.Now(), Interval: 500, Links: []motion.LinkMotion{{Src: motion.MAC{2, 7}, Dst: receiver, Throughput: 1, RSSI: -59}}}
	if err := b.engine.Report(b.T.Context(), key, report); err != nil {
		b.T.Fatal(err)
	}
}

func TestHomeWithANodeThatDoesNotLogIn(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	type answer struct {
		Unauthenticated *bool
		Links           []struct {
			ID              string
			Unauthenticated *bool
		}
	}
	if got := apitest.Want[answer](t, b.member.ask(http.MethodGet, "/alerts", ""), 200); got.Unauthenticated == nil || *got.Unauthenticated {
		t.Errorf("without such a node: %+v", got)
	}
	b.adoptNode()
	if got := apitest.Want[answer](t, b.member.ask(http.MethodGet, "/alerts", ""), 200); !*got.Unauthenticated {
		t.Errorf("with such a node: %+v", got)
	}
	got := apitest.Want[answer](t, b.owner.ask(http.MethodGet, "/links", ""), 200)
	if len(got.Links) != 1 || got.Links[0].Unauthenticated == nil || !*got.Links[0].Unauthenticated {
		t.Errorf("links %+v", got.Links)
	}
	if err := b.engine.Inventory.PlaceLeaf(t.Context(), b.network, motion.MAC{2, 7}, "Hall", ""); err != nil {
		t.Fatal(err)
	}
	got = apitest.Want[answer](t, b.keeper.ask(http.MethodGet, "/admin/links", ""), 200)
	if len(got.Links) != 1 || got.Links[0].Unauthenticated == nil || !*got.Links[0].Unauthenticated {
		t.Errorf("an administrator sees links %+v", got.Links)
	}
	rule := `{"rrule":"DTSTART:20260101T060000Z\nRRULE:FREQ=DAILY","monitor":{"monitor_mode":"NONE","duration_minutes":0},"meta":{"sensegate":{"authenticated":true}}}`
	apitest.WantProblem(t, b.owner.askApp(http.MethodPost, "/universal-alert", rule), 422, "body.meta.sensegate.authenticated")
}
