package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/fault"
)

const post = `{
  "radar_status": {
    "deviceId": "csi-a-02aa00000110", "node_id": "GWA1000133", "location_id": "a41f00c2d97b4e5580136c2e", "ts": 1764000000.0, "root_mode": 2,
    "gateway_bssid": "02:FF:00:00:00:01", "mesh_bssid": "02:aa:00:00:01:14", "ap_bssid_2ghz": "02:aa:00:00:01:12", "ap_bssid_5ghz": "02:aa:00:00:01:13", "p2p_bssid": "",
    "interfaces": [{"name": "wan0", "type": "ETHERNET", "mac": "02:aa:00:00:01:10", "ip": "192.168.10.13", "routes": [{"dst": "0.0.0.0", "gateway": "192.168.10.1", "netmask": "0.0.0.0", "metric": "0"}]}],
    "links": [{"mac": "02:aa:00:00:02:14", "peer_type": "7"}, {"mac": "02:bb:00:00:00:31", "peer_type": 2}]
  },
  "factory_reset": false, "master_failed": 0, "location_id": "a41f00c2d97b4e5580136c2e"
}`

func TestBootstrapIsRead(t *testing.T) {
	t.Parallel()
	got, err := wire.DecodeBootstrap([]byte(post))
	if err != nil {
		t.Fatal(err)
	}
	mac := func(a, b, c byte) motion.MAC { return motion.MAC{2, a, 0, 0, b, c} }
	want := motion.Bootstrap{LocationID: "a41f00c2d97b4e5580136c2e", Radar: motion.Radar{
		DeviceID: "csi-a-02aa00000110", NodeName: "GWA1000133", LocationID: "a41f00c2d97b4e5580136c2e", TS: 1764000000, RootMode: motion.RootModeMaster,
		GatewayBSSID: mac(0xff, 0, 1), MeshBSSID: mac(0xaa, 1, 0x14), APBSSID2GHz: mac(0xaa, 1, 0x12), APBSSID5GHz: mac(0xaa, 1, 0x13),
		Interfaces: []motion.Interface{{
			Name: "wan0", Type: "ETHERNET", MAC: mac(0xaa, 1, 0x10), IP: "192.168.10.13",
			Routes: []motion.Document{{"dst": "0.0.0.0", "gateway": "192.168.10.1", "netmask": "0.0.0.0", "metric": "0"}},
		}},
		Links: []motion.RadarLink{{MAC: mac(0xaa, 2, 0x14), PeerType: motion.PeerMesh}, {MAC: kitchen, PeerType: motion.PeerClient}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bootstrap (-want +got):\n%s", diff)
	}
}

func TestBootstrapFillsWhatStandsElsewhere(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]motion.Bootstrap{
		`{"radar_status": {"deviceId": "csi-a", "location_id": "home"}}`:    {LocationID: "home", Radar: motion.Radar{DeviceID: "csi-a", NodeName: "csi-a", LocationID: "home"}},
		`{"radar_status": {"deviceId": "csi-a"}, "location_id": "home"}`:    {LocationID: "home", Radar: motion.Radar{DeviceID: "csi-a", NodeName: "csi-a", LocationID: "home"}},
		`{"radar_status": {"deviceId": "csi-a", "node_id": "", "ts": NaN}}`: {Radar: motion.Radar{DeviceID: "csi-a", NodeName: "csi-a"}},
	} {
		got, err := wire.DecodeBootstrap([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestBadBootstrapIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body    string
		kind    fault.Kind
		message string
	}{
		{`not json`, fault.Malformed, "not JSON: invalid character 'o' in literal null (expecting 'u')"},
		{`{}`, fault.Invalid, "radar_status: missing"},
		{`{"radar_status": []}`, fault.Invalid, `radar_status.deviceId: "": want 1 to 64 letters, digits and - _ . :`},
		{`{"radar_status": {"deviceId": "../#"}}`, fault.Invalid, `radar_status.deviceId: "../#": want 1 to 64 letters, digits and - _ . :`},
		{`{"radar_status": {"deviceId": "a", "node_id": "b.c"}}`, fault.Invalid, `radar_status.node_id: "b.c": want a name of 1 to 64 letters, digits and - _ :`},
		{`{"radar_status": {"deviceId": "a", "root_mode": 3}}`, fault.Invalid, "radar_status.root_mode: 3 is not in 0..2"},
		{`{"radar_status": {"deviceId": "a", "location_id": "x/y"}}`, fault.Invalid, `radar_status.location_id: "x/y": want 1 to 64 letters, digits and - _ . :`},
		{`{"radar_status": {"deviceId": "a"}, "location_id": "x y"}`, fault.Invalid, `location_id: "x y": want 1 to 64 letters, digits and - _ . :`},
		{`{"radar_status": {"deviceId": "a", "mesh_bssid": 7}}`, fault.Malformed, "radar_status.mesh_bssid: want a text"},
		{strings.Repeat(" ", wire.MaxMessage) + `{}`, fault.TooLarge, sprintf("message of %d bytes: at most %d", wire.MaxMessage+2, wire.MaxMessage)},
	} {
		_, err := wire.DecodeBootstrap([]byte(c.body))
		if fault.KindOf(err) != c.kind || err.Error() != c.message {
			t.Errorf("%.100s:\n got %v (kind %d)\nwant %s (kind %d)", c.body, err, fault.KindOf(err), c.message, c.kind)
		}
	}
}

func TestCommandsHaveTheShapeOfTheProtocol(t *testing.T) {
	t.Parallel()
	for want, command := range map[string]any{
		`{"rev":12,"guardian_config":{},"radar_config":{},"meta":{"motion_paused":0}}`:     wire.Config{Rev: 12},
		`{"rev":0,"guardian_config":{"a":1},"radar_config":{},"meta":{"motion_paused":1}}`: wire.Config{GuardianConfig: motion.Document{"a": 1}, Meta: wire.ConfigMeta{MotionPaused: 1}},
		`{"enable":1,"interval":500,"timeout_s":60}`:                                       wire.Live{Enable: 1, Interval: 500, TimeoutS: 60},
		`{"id":901,"command":"reboot","args":{}}`:                                          wire.Manage{ID: 901, Command: "reboot"},
		`{"id":902,"command":"log","args":{"lines":"9"}}`:                                  wire.Manage{ID: 902, Command: "log", Args: map[string]string{"lines": "9"}},
		`{"status":"TRYAGAIN","retry_after_s":30,"reason":"waiting for adoption"}`:         wire.BootstrapAnswer{Status: wire.StatusTryAgain, RetryAfterS: 30, Reason: "waiting for adoption"},
		`{"gatekeeper_redirect":"https://other.example/gatekeeper"}`:                       wire.BootstrapAnswer{Redirect: "https://other.example/gatekeeper"},
	} {
		got, err := json.Marshal(command)
		if err != nil || string(got) != want {
			t.Errorf("%+v is written %s (%v), want %s", command, got, err, want)
		}
	}
	var config wire.Config
	if err := json.Unmarshal([]byte(`{"rev": 12, "meta": {"motion_paused": 1}}`), &config); err != nil || config.Rev != 12 || config.Meta.MotionPaused != 1 {
		t.Errorf("config is read %+v %v", config, err)
	}
}
