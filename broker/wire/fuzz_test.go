package wire_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// fuzzEvent checks of one event that every payload is refused with a short fault,
// or read into a report that check accepts and that decodes to itself once it is
// encoded.
func fuzzEvent(f *testing.F, event string, check func(*testing.T, motion.Report), seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		report, err := new(wire.Decoder).Decode(eventTopic(event), payload)
		if err != nil {
			refused(t, err)
			return
		}
		check(t, report)
		_, _, written, err := wire.Encode(report)
		if err != nil {
			t.Fatalf("%s cannot be encoded: %v", payload, err)
		}
		again, err := new(wire.Decoder).Decode(eventTopic(event), written)
		if err != nil {
			if fault.KindOf(err) == fault.TooLarge {
				return // null is longer than NaN, and 1000 steps than the one that stands for them
			}
			t.Fatalf("%s is written %s: %v", payload, written, err)
		}
		if diff := cmp.Diff(report, again, same()); diff != "" {
			t.Fatalf("%s is written %s (-first +second):\n%s", payload, written, diff)
		}
	})
}

func refused(t *testing.T, err error) {
	t.Helper()
	switch fault.KindOf(err) {
	case fault.Malformed, fault.Invalid, fault.TooLarge:
	default:
		t.Fatalf("error %v is no fault of the device", err)
	}
	if len(err.Error()) > 500 {
		t.Fatalf("error of %d bytes: %s", len(err.Error()), err)
	}
}

func inRange(t *testing.T, values ...float64) {
	t.Helper()
	for _, value := range values {
		if value < 0 || value > 1 || math.IsInf(value, 0) {
			t.Fatalf("value %g is not in 0..1", value)
		}
	}
}

func anyReport(*testing.T, motion.Report) {}

func FuzzDecodeStatus(f *testing.F) {
	fuzzEvent(f, wire.EventStatus, anyReport, `{"ts": 1764000060.2, "guardian_id": "a41f", "motion_enabled": 1}`,
		sprintf(fullStatus, "["+radarOfStatus+"]"), sprintf(fullStatus, `{"GWA1000133": `+radarOfStatus+`}`))
}

func FuzzDecodeMatrix(f *testing.F) {
	fuzzEvent(f, wire.EventMatrix, func(t *testing.T, report motion.Report) {
		matrix := report.(*motion.Matrix)
		for figure, rows := range matrix.Values {
			if rows != nil && len(rows) != len(matrix.Links) {
				t.Fatalf("%s of %d links for %d", motion.Figure(figure), len(rows), len(matrix.Links))
			}
			for _, row := range rows {
				if len(row) != matrix.Count {
					t.Fatalf("%s of %d steps for %d", motion.Figure(figure), len(row), matrix.Count)
				}
				if motion.Figure(figure) == motion.MKAI {
					inRange(t, row...)
				}
			}
		}
	}, `{"ts": 1764000000.5, "links": ["EXA1000134.GWA1000133", "GWA1000133.02bb00000031"], "data": {"lraw": [0.04, 0.35], "msad": [NaN, "3"]}, "loc": ["02:bb:00:00:00:31", 0.82], "count": 1}`,
		`{"links": ["AA0112-BB0031"], "motion": {"mkai": [[0, 1]]}, "loc": ["nomotion"], "count": "2"}`)
}

func FuzzDecodeHistory(f *testing.F) {
	fuzzEvent(f, wire.EventHistory, func(t *testing.T, report motion.Report) {
		history := report.(motion.History)
		if len(history.MKAI) != history.Count || history.Density != nil && len(history.Density) != history.Count {
			t.Fatalf("%d intensities and %d densities for count %d", len(history.MKAI), len(history.Density), history.Count)
		}
		inRange(t, history.MKAI...)
		for _, shares := range history.Density {
			inRange(t, shares...)
		}
	}, `{"ts": 1763999700.0, "interval": 5000, "count": 3, "motion": {"mkai": [0.0, 0.31, NaN]}, "location": {"macs": ["02:bb:00:00:00:31"], "density": [[], [0.8], [null]]}}`)
}

func FuzzDecodeEvent(f *testing.F) {
	fuzzEvent(f, wire.EventEvent, anyReport,
		`{"uuid": "01976b3e-9a3c-7b61-8a52-3b1f0c6d2e11", "category": "Motion", "event": "MotionStoppedEvent", "ts": 1764000121.0, "link_id": "GWA1000133.02bb00000031", "loc": [{"mac": "02:bb:00:00:00:31", "confidence": 0.82}], "intensity_window": [0.3], "armed": 1, "debug": {"linkSens": {"x": 1}}}`,
		`{"category": "Link", "event": "LinkLowThroughputEvent", "ts": 0, "link_dst_name": "a", "link_src_name": "b", "detail": {"throughput": NaN}}`)
}

func FuzzDecodeLinkMotion(f *testing.F) {
	fuzzEvent(f, wire.EventLinkMotion, func(t *testing.T, report motion.Report) {
		for _, link := range report.(motion.LinkMotions).Links {
			inRange(t, link.MKAI, link.LRaw, link.Throughput)
		}
	}, `{"ts": 1764000000.5, "interval": 500, "links": [{"src": "02:bb:00:00:00:31", "dst": "02:aa:00:00:01:12", "mkai": 0.35, "lraw": null, "rssi": "-59"}]}`)
}

func FuzzDecodeManageResult(f *testing.F) {
	fuzzEvent(f, wire.EventManageResult, anyReport, `{"id": 901, "state": "200", "result": {"out": ""}}`)
}

func FuzzDecodeDeviceInfoAck(f *testing.F) {
	fuzzEvent(f, wire.EventDeviceInfoAck, anyReport, `{"mac": "02-BB-00-00-00-31"}`)
}

func FuzzDecodeBootstrap(f *testing.F) {
	f.Add([]byte(post))
	f.Add([]byte(`{"radar_status": {"deviceId": "csi-a", "links": {}}, "factory_reset": "true"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := wire.DecodeBootstrap(body)
		if err != nil {
			refused(t, err)
			return
		}
		again, err := wire.DecodeBootstrap(wire.EncodeBootstrap(b))
		if err != nil {
			if fault.KindOf(err) == fault.TooLarge {
				return
			}
			t.Fatalf("%s: %v", body, err)
		}
		if diff := cmp.Diff(b, again, same()); diff != "" {
			t.Fatalf("%s (-first +second):\n%s", body, diff)
		}
	})
}

func BenchmarkDecodeMatrix(b *testing.B) {
	topic := eventTopic(wire.EventMatrix)
	payload := []byte(`{"ts": 1764000000.5, "links": ["EXA1000134.GWA1000133", "GWA1000133.02bb00000031"], "data": {"lraw": [0.04, 0.35], "mkai": [0.0, 0.35], "throughput": [1.0, 0.98]}, "loc": ["02:bb:00:00:00:31", 0.82], "interval": 500, "count": 1, "motion_tripped": 1, "last_motion": 1764000000.5, "motion_enabled": 1}`)
	b.ReportAllocs()
	var decoder wire.Decoder
	for b.Loop() {
		if _, err := decoder.Decode(topic, payload); err != nil {
			b.Fatal(err)
		}
	}
}
