package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// fullStatus is the status report of payloads.md 4.2, with all that it says of
// one node.
const fullStatus = `{
  "ts": 1764000000.3, "network_id": 1042, "guardian_id": "a41f00c2d97b4e5580136c2e", "shard_id": "local",
  "startup": false, "motion_enabled": 1, "motion_tripped": 0, "last_motion": 1763999980.5,
  "version": {"core": "0.7.2"},
  "health": {"nodes": {"GWA1000133": {"online": true, "uptime_s": 451300.9}}, "network": {"score": NaN, "links_total": 3}},
  "leafblower": {
    "02:BB:00:00:00:31": {
      "is_static": "STATIC", "sounding": true, "ap": {"GWA1000133": 0.98, "EXA1000134": "0.12"},
      "leaf": {"mac": "02:bb:00:00:00:31", "peer_type": "2"}
    }
  },
  "radars": %s
}`

const radarOfStatus = `{
  "deviceId": "csi-a-02aa00000110", "node_id": "GWA1000133", "location_id": "a41f00c2d97b4e5580136c2e", "ts": 1763999990.9, "_age": 0,
  "root_mode": "2", "gateway_bssid": "02:FF:00:00:00:01", "p2p_bssid": "", "ap_bssid_2ghz": "02:aa:00:00:01:12",
  "hw_id": "Acme", "uptime": 451300.93, "status_time": 0.52, "new_key": {"x": 1},
  "mem": {"total": "496180", "avail": 318828}, "load": [0.96, "1.21"], "version": {"algos": {"omot": "1.9.2"}},
  "interfaces": [{"name": "home-ap-24", "type": "WIFI_AP", "mac": "02:aa:00:00:01:12", "wifi_channel": "1", "motion_enabled": 1, "rx_bytes": 37876978, "routes": {}}],
  "links": [{"mac": "02:bb:00:00:00:31", "peer_type": 2, "mld_mac": "", "rssi": -59, "mconf_zero_count": "0"}]
}`

func wantStatus() motion.StatusReport {
	sounding := true
	return motion.StatusReport{
		TS: 1764000000.3, NetworkID: 1042, GuardianID: "a41f00c2d97b4e5580136c2e", ShardID: "local",
		MotionEnabled: 1, MotionTripped: new(int), LastMotion: 1763999980.5,
		Version: motion.Document{"core": "0.7.2"},
		Health: motion.Document{
			"nodes":   map[string]any{"GWA1000133": map[string]any{"online": true, "uptime_s": 451300.9}},
			"network": map[string]any{"score": nil, "links_total": 3.0},
		},
		Leafblower: map[string]motion.Choice{"02:bb:00:00:00:31": {
			IsStatic: "STATIC", Sounding: &sounding, AP: map[string]float64{"GWA1000133": 0.98, "EXA1000134": 0.12},
			Leaf: motion.Document{"mac": "02:bb:00:00:00:31", "peer_type": "2"},
		}},
		Radars: map[string]motion.Radar{"GWA1000133": {
			DeviceID: "csi-a-02aa00000110", NodeName: "GWA1000133", LocationID: "a41f00c2d97b4e5580136c2e", TS: 1763999990.9, RootMode: 2,
			GatewayBSSID: motion.MAC{2, 0xff, 0, 0, 0, 1}, APBSSID2GHz: gateway, HWID: "Acme", Uptime: "451300.93", StatusTime: 0.52,
			Mem: map[string]string{"total": "496180", "avail": "318828"}, Load: []string{"0.96", "1.21"},
			Version:    motion.Document{"algos": map[string]any{"omot": "1.9.2"}},
			Interfaces: []motion.Interface{{Name: "home-ap-24", Type: "WIFI_AP", MAC: gateway, WifiChannel: 1, MotionEnabled: true, RxBytes: "37876978"}},
			Links:      []motion.RadarLink{{MAC: kitchen, PeerType: "2", RSSI: "-59"}},
		}},
	}
}

func TestRadarsAreReadByNodeName(t *testing.T) {
	t.Parallel()
	for name, radars := range map[string]string{
		"list":               "[" + radarOfStatus + "]",
		"map by node name":   `{"GWA1000133": ` + radarOfStatus + "}",
		"map by deviceId":    `{"csi-a-02aa00000110": ` + radarOfStatus + "}",
		"the newer of two":   `[{"deviceId": "old", "node_id": "GWA1000133", "ts": 0.0}, ` + radarOfStatus + "]",
		"the newer is first": "[" + radarOfStatus + `, {"deviceId": "old", "node_id": "GWA1000133", "ts": 0.0}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payload := sprintf(fullStatus, radars)
			if diff := cmp.Diff(wantStatus(), decode(t, wire.EventStatus, payload), same()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", payload, diff)
			}
		})
	}
}

func TestNamelessRadarTakesItsKey(t *testing.T) {
	t.Parallel()
	report := decode(t, wire.EventStatus, `{"radars": {"GWA1000133": {"deviceId": "csi-a"}, "02:AA:00:00:01:14": {}}}`).(motion.StatusReport)
	want := map[string]motion.Radar{
		"GWA1000133":   {DeviceID: "csi-a", NodeName: "GWA1000133"},
		"02aa00000114": {DeviceID: "02:AA:00:00:01:14", NodeName: "02aa00000114"},
	}
	if diff := cmp.Diff(want, report.Radars); diff != "" {
		t.Errorf("radars (-want +got):\n%s", diff)
	}
}

func TestHeartbeatIsRead(t *testing.T) {
	t.Parallel()
	payload := `{"ts":1764000060.2,"guardian_id":"a41f","network_id":1042,"last_motion":1763999980.5,"motion_tripped":0,"motion_enabled":1}`
	want := motion.StatusReport{TS: 1764000060.2, GuardianID: "a41f", NetworkID: 1042, LastMotion: 1763999980.5, MotionEnabled: 1, MotionTripped: new(int)}
	got := decode(t, wire.EventStatus, payload)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("heartbeat (-want +got):\n%s", diff)
	}
	event, format, written, err := wire.Encode(want)
	if err != nil || event != wire.EventStatus || format != wire.FormatJSON || string(written) != payload {
		t.Errorf("heartbeat is written %s %s %s %v, want %s", event, format, written, err, payload)
	}
	sparse := decode(t, wire.EventStatus, `{"ts": "", "radars": "", "leafblower": [], "last_motion": null}`).(motion.StatusReport)
	if !sparse.Heartbeat() || sparse.MotionEnabled != 1 || sparse.TS != 0 {
		t.Errorf("heartbeat without values %+v", sparse)
	}
}
