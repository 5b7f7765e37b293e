package wire_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// same compares reports: NaN equals NaN, nil equals empty.
func same() cmp.Options { return cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty()} }

func eventTopic(event string) wire.Topic {
	format := wire.FormatJSON
	if event == wire.EventCSI {
		format = wire.FormatBin
	}
	return wire.Topic{Kind: motion.Guardian, ID: "a41f", Name: event, Format: format}
}

func decode(t *testing.T, event, payload string) motion.Report {
	t.Helper()
	report, err := new(wire.Decoder).Decode(eventTopic(event), []byte(payload))
	if err != nil {
		t.Fatalf("%s %s: %v", event, payload, err)
	}
	return report
}

var (
	kitchen = motion.MAC{0x02, 0xbb, 0, 0, 0, 0x31}
	hallway = motion.MAC{0x02, 0xbb, 0, 0, 0, 0x32}
	gateway = motion.MAC{0x02, 0xaa, 0, 0, 1, 0x12}
	nan     = math.NaN()
)

func TestMatrixFormsAreRead(t *testing.T) {
	t.Parallel()
	links := []string{"EXA1000134.GWA1000133", "GWA1000133.02bb00000031"}
	document := &motion.Matrix{
		TS: 1764000000.5, Interval: 500, Count: 1, Links: links,
		Values:        motion.Figures{motion.LRaw: {{0.04}, {0.35}}, motion.MKAI: {{0}, {0.35}}, motion.Throughput: {{1}, {0.98}}},
		Loc:           []motion.MatrixLoc{{MAC: kitchen, Confidence: 0.82}},
		MotionTripped: 1, MotionEnabled: 1, LastMotion: 1764000000.5,
	}
	simple := motion.Matrix{Interval: 500, Count: 1, MotionEnabled: 1}
	with := func(change func(*motion.Matrix)) *motion.Matrix {
		m := simple
		change(&m)
		return &m
	}
	for name, c := range map[string]struct {
		payload string
		want    *motion.Matrix
	}{
		"as in the document": {`{"ts": 1764000000.5, "links": ["EXA1000134.GWA1000133", "GWA1000133.02bb00000031"], "data": {"lraw": [0.04, 0.35], "mkai": [0.0, 0.35], "throughput": [1.0, 0.98]}, "loc": ["02:bb:00:00:00:31", 0.82], "interval": 500, "count": 1, "motion_tripped": 1, "last_motion": 1764000000.5, "motion_enabled": 1}`, document},
		"numbers as strings": {`{"ts": "1764000000.5", "links": ["EXA1000134.GWA1000133", "GWA1000133.02BB00000031"], "data": {"lraw": ["0.04", "0.35"], "mkai": ["0.0", 0.35], "throughput": ["1", 0.98]}, "loc": ["02:BB:00:00:00:31", "0.82"], "interval": "500", "count": "1", "motion_tripped": "1", "last_motion": "1764000000.5", "motion_enabled": true}`, document},
		"older name":         {`{"motion": {"mkai": [0.5]}, "links": ["a.b"]}`, with(func(m *motion.Matrix) { m.Links = []string{"a.b"}; m.Values = motion.Figures{motion.MKAI: {{0.5}}} })},
		"several steps": {`{"count": 3, "data": {"mkai": [[0, NaN, 1], 0.5, null]}, "links": ["a.b", "a.c", "a.d"]}`, with(func(m *motion.Matrix) {
			m.Count, m.Links = 3, []string{"a.b", "a.c", "a.d"}
			m.Values = motion.Figures{motion.MKAI: {{0, nan, 1}, {0.5, 0.5, 0.5}, {nan, nan, nan}}}
		})},
		"no numbers": {`{"data": {"mkai": [NaN, Infinity, -Infinity, "", "nan", 1e-9, -1e-9, 1.0000001]}, "links": ["a.b","a.c","a.d","a.e","a.f","a.g","a.h","a.i"], "last_motion": NaN}`, with(func(m *motion.Matrix) {
			m.Links = []string{"a.b", "a.c", "a.d", "a.e", "a.f", "a.g", "a.h", "a.i"}
			m.Values = motion.Figures{motion.MKAI: {{nan}, {nan}, {nan}, {nan}, {nan}, {1e-9}, {0}, {1}}}
		})},
		"no links":       {`{"data": {"mkai": {}}, "links": {}}`, with(func(m *motion.Matrix) { m.Values = motion.Figures{motion.MKAI: {}} })},
		"no motion":      {`{"data": {}, "loc": ["nomotion"]}`, &simple},
		"location alone": {`{"data": {}, "loc": ["02-BB-00-00-00-31"]}`, with(func(m *motion.Matrix) { m.Loc = []motion.MatrixLoc{{MAC: kitchen, Confidence: 1}} })},
		"location null":  {`{"data": [], "loc": null, "motion_enabled": 0}`, with(func(m *motion.Matrix) { m.MotionEnabled = 0 })},
		"two locations": {`{"data": {}, "loc": ["02:bb:00:00:00:31", 0.5, "02:bb:00:00:00:32", null]}`, with(func(m *motion.Matrix) {
			m.Loc = []motion.MatrixLoc{{MAC: kitchen, Confidence: 0.5}, {MAC: hallway, Confidence: 1}}
		})},
		"old link ids":      {`{"data": {}, "links": ["AA0112-BB0031"]}`, with(func(m *motion.Matrix) { m.Links = []string{"aa0112-bb0031"} })},
		"MACs with colon":   {`{"data": {}, "links": ["GWA1000133.02:BB:00:00:00:31"]}`, with(func(m *motion.Matrix) { m.Links = []string{"GWA1000133.02bb00000031"} })},
		"times of no clock": {`{"data": {}, "ts": -5, "last_motion": 1764000000500}`, &simple},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, decode(t, wire.EventMatrix, c.payload), same()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.payload, diff)
			}
		})
	}
}

func TestHistoryIsRead(t *testing.T) {
	t.Parallel()
	got := decode(t, wire.EventHistory, `{"ts": 1763999700.0, "interval": 5000, "count": 3, "motion": {"mkai": [0.0, NaN, "0.12"], "lraw": [0.0, 0.33, 0.12], "msad": [1.2, 132.7, 88.4]}, "location": {"macs": ["02:BB:00:00:00:31", "02:bb:00:00:00:32"], "density": [[], [0.8, 0.2], [NaN, 0.0]]}}`)
	want := motion.History{
		TS: 1763999700, Interval: 5000, Count: 3, MKAI: []float64{0, nan, 0.12}, MSAD: []float64{1.2, 132.7, 88.4},
		MACs: []motion.MAC{kitchen, hallway}, Density: [][]float64{{}, {0.8, 0.2}, {nan, 0}},
	}
	if diff := cmp.Diff(want, got, same()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	bare := decode(t, wire.EventHistory, `{"ts": 1, "data": {"mkai": [0, 1]}, "location": []}`)
	if diff := cmp.Diff(motion.History{TS: 1, Interval: 5000, Count: 2, MKAI: []float64{0, 1}}, bare, same()); diff != "" {
		t.Errorf("history without count (-want +got):\n%s", diff)
	}
}

func TestLinkMotionIsRead(t *testing.T) {
	t.Parallel()
	got := decode(t, wire.EventLinkMotion, `{"ts": 1764000000.5, "interval": 500, "links": [
		{"src": "02:bb:00:00:00:31", "dst": "02:AA:00:00:01:12", "mkai": 0.35, "lraw": "0.36", "throughput": 0.98, "rssi": "-59"},
		{"src": "02bb00000032", "dst": "02:aa:00:00:01:12", "mkai": 0, "lraw": NaN},
		{"src": "02:bb:00:00:00:33", "dst": "02:aa:00:00:01:12", "mkai": null}]}`)
	want := motion.LinkMotions{TS: 1764000000.5, Interval: 500, Links: []motion.LinkMotion{
		{Src: kitchen, Dst: gateway, MKAI: 0.35, LRaw: 0.36, Throughput: 0.98, RSSI: -59},
		{Src: hallway, Dst: gateway, LRaw: nan, Throughput: nan},
	}}
	if diff := cmp.Diff(want, got, same()); diff != "" {
		t.Errorf("link-motion (-want +got):\n%s", diff)
	}
}

func TestEventIsRead(t *testing.T) {
	t.Parallel()
	got := decode(t, wire.EventEvent, `{"_id": "mine", "tag": "Human", "uuid": "01976B3E-9A3C-7B61-8A52-3B1F0C6D2E11", "category": "Motion", "event": "MotionStoppedEvent", "network_id": "1042",
		"ts": 1764000121.0, "evt_detected_ts": 1764000000.5, "link_id": "GWA1000133.02BB00000031", "link_dst_name": "", "loc": [{"mac": "02:BB:00:00:00:31", "confidence": 0.82}],
		"intensity_window": [0.3, "0.56", null], "armed": "1", "detail": {"n": 1}, "debug": {"linkSens": {"a": 1, "b": null}, "msad": [187.22], "links": ["x"], "mconf": [80], "sens": "1"}, "unknown": [1]}`)
	armed := 1
	want := motion.EventReport{UUID: "01976b3e-9a3c-7b61-8a52-3b1f0c6d2e11", Event: motion.Event{
		Category: motion.CategoryMotion, Event: motion.MotionStoppedEvent, NetworkID: 1042, TS: 1764000121, DetectedTS: 1764000000.5,
		LinkID: "GWA1000133.02bb00000031", LinkDstName: "GWA1000133", LinkSrcName: "02bb00000031",
		Loc: []motion.EventLoc{{MAC: "02:bb:00:00:00:31", Confidence: 0.82}}, IntensityWindow: []float64{0.3, 0.56, 0}, Armed: &armed,
		Detail: motion.Document{"n": 1.0},
		Debug:  &motion.EventDebug{LinkSens: map[string]float64{"a": 1}, MSAD: []float64{187.22}, Links: []string{"x"}, MConf: []float64{80}, Sens: 1},
	}}
	if diff := cmp.Diff(want, got, same()); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	clockless := decode(t, wire.EventEvent, `{"category": "Device", "event": "DeviceConnectedEvent", "ts": 0.0, "link_id": "AA0112-BB0031"}`).(motion.EventReport)
	if clockless.UUID != "" || clockless.Event.LinkID != "aa0112-bb0031" || clockless.Event.LinkDstName != "" {
		t.Errorf("event without clock %+v", clockless)
	}
}

func TestAnswersAreRead(t *testing.T) {
	t.Parallel()
	got := decode(t, wire.EventManageResult, `{"id": "901", "state": 200, "result": {"out": "", "n": 1e999}}`)
	if diff := cmp.Diff(motion.ManageResult{ID: 901, State: "200", Result: motion.Document{"out": "", "n": nil}}, got); diff != "" {
		t.Errorf("manage-result (-want +got):\n%s", diff)
	}
	ack := decode(t, wire.EventDeviceInfoAck, `{"mac": "02:BB:00:00:00:31"}`)
	if ack != (motion.DeviceInfoAck{MAC: kitchen}) {
		t.Errorf("device-info-ack %v", ack)
	}
}

func TestRawCSIPassesThrough(t *testing.T) {
	t.Parallel()
	payload := make([]byte, 31)
	report, err := new(wire.Decoder).Decode(eventTopic(wire.EventCSI), payload)
	if raw, ok := report.(motion.RawCSI); err != nil || !ok || &raw[0] != &payload[0] {
		t.Errorf("csi: %T %v, want the payload itself", report, err)
	}
	if _, err := new(wire.Decoder).Decode(eventTopic(wire.EventCSI), payload[:30]); fault.KindOf(err) != fault.Malformed {
		t.Errorf("csi of 30 bytes: error %v, want a malformed one", err)
	}
	if _, err := new(wire.Decoder).Decode(eventTopic(wire.EventCSI), make([]byte, wire.MaxMessage+1)); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("csi over 256 KiB: error %v, want one of its size", err)
	}
}
