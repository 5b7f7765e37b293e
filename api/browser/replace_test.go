package browser_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"sensegate/motion"
)

// TestWordsOfAnotherDeviceCanBeFollowed: on the first day new devices are let in already, and replace none;
// what the page says instead, to remove the old one, lets the new one in.
func TestWordsOfAnotherDeviceCanBeFollowed(t *testing.T) {
	t.Parallel()
	const old, extender = "csi-a-02aa00000110", "csi-a-02aa00000310"
	for why, radar := range map[string]motion.Radar{
		"another_master": {DeviceID: "csi-a-02aa00000910", NodeName: "GWA0910", RootMode: motion.RootModeMaster, APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 9, 0x12}},
		"another_device": {DeviceID: "csi-a-02aa00000910", NodeName: "EXA1000135", RootMode: 1, APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 9, 0x12}},
	} {
		b := newBox(t)
		b.install(b.nobody, 3600)
		radar.LocationID = "a41f00c2d97b4e5580136c2e"
		replaced := map[string]string{"another_master": old, "another_device": extender}[why]
		b.askToJoin(extender)
		ask := func() {
			t.Helper()
			post := motion.Bootstrap{Radar: radar, LocationID: radar.LocationID}
			if _, err := b.engine.Devices.Admit(t.Context(), post, motion.Credentials{Address: netip.MustParseAddr("192.168.10.19")}); err != nil {
				t.Fatal(err)
			}
		}
		ask()
		if d := b.nobody.setupDevices().of(radar.DeviceID); d.State != "refused" || d.Why != why {
			t.Fatalf("%s: %+v", why, d)
		}
		b.nobody.done(http.MethodDelete, fmt.Sprintf("/devices/%d?network_id=1&kind=node", b.nodeOf(replaced)), "")
		ask()
		if d := b.nobody.setupDevices().of(radar.DeviceID); d.ID == nil {
			t.Errorf("%s, with the old one removed: %+v", why, d)
		}
	}
}
