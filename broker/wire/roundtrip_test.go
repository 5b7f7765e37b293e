package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// The generators make what a device can say: names and ids of the allowed form,
// times a clock can show, values in range or NaN where they may be missing.

func genName() *rapid.Generator[string] {
	return rapid.StringMatching(`[A-Za-z][A-Za-z0-9_-]{0,20}`)
}

func genTime() *rapid.Generator[motion.Time] {
	return rapid.Custom(func(t *rapid.T) motion.Time {
		return motion.FromMicros(rapid.Int64Range(0, 9e15).Draw(t, "µs"))
	})
}

func genMAC() *rapid.Generator[motion.MAC] {
	return rapid.Custom(func(t *rapid.T) motion.MAC {
		return motion.MAC{2, 0xbb, 0, 0, rapid.Byte().Draw(t, "octet 5"), rapid.Byte().Draw(t, "octet 6")}
	})
}

func genShare() *rapid.Generator[float64] { return rapid.Float64Range(0, 1) }

func genMaybe() *rapid.Generator[float64] { return rapid.OneOf(genShare(), rapid.Just(nan)) }

func genLink() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "leaf") {
			return motion.LinkName(genName().Draw(t, "dst"), genMAC().Draw(t, "src").Name())
		}
		return motion.LinkName(genName().Draw(t, "dst"), genName().Draw(t, "src"))
	})
}

func genDocument() *rapid.Generator[motion.Document] {
	value := rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](-0.5),
		rapid.Just[any]("é\u2028\""), rapid.Just[any](map[string]any{"a": []any{1.0, "b"}}))
	return rapid.Custom(func(t *rapid.T) motion.Document {
		return rapid.MapOfN(rapid.String(), value, 0, 4).Draw(t, "document")
	})
}

func genRadar() *rapid.Generator[motion.Radar] {
	return rapid.Custom(func(t *rapid.T) motion.Radar {
		text := rapid.StringN(0, 20, 1024)
		return motion.Radar{
			DeviceID: genName().Draw(t, "deviceId"), NodeName: genName().Draw(t, "node"), LocationID: genName().Draw(t, "location"),
			TS: genTime().Draw(t, "ts"), Age: genShare().Draw(t, "age"), RootMode: rapid.IntRange(0, 2).Draw(t, "root mode"),
			GatewayBSSID: genMAC().Draw(t, "gateway"), APBSSID5GHz: genMAC().Draw(t, "ap"), Uptime: text.Draw(t, "uptime"),
			Mem:     rapid.MapOfN(text, text, 0, 3).Draw(t, "mem"),
			Load:    rapid.SliceOfN(text, 0, 3).Draw(t, "load"),
			Version: genDocument().Draw(t, "version"),
			Interfaces: []motion.Interface{{
				Name: text.Draw(t, "if"), MAC: genMAC().Draw(t, "mac"), WifiChannel: rapid.IntRange(0, 196).Draw(t, "channel"),
				MotionEnabled: rapid.Bool().Draw(t, "enabled"), Routes: []motion.Document{genDocument().Draw(t, "route")},
			}},
			Links: []motion.RadarLink{{
				MAC: genMAC().Draw(t, "peer"), PeerType: "2", MLDMAC: genMAC().Draw(t, "mld"), RSSI: text.Draw(t, "rssi"),
				MConfZeroCount: rapid.Int().Draw(t, "mconf_zero_count"),
			}},
		}
	})
}

func genStatus() *rapid.Generator[motion.Report] {
	return rapid.Custom(func(t *rapid.T) motion.Report {
		r := motion.StatusReport{
			TS: genTime().Draw(t, "ts"), NetworkID: motion.NetworkID(rapid.Uint32().Draw(t, "network")), GuardianID: genName().Draw(t, "guardian"),
			MotionEnabled: rapid.IntRange(0, 1).Draw(t, "enabled"), MotionTripped: rapid.Ptr(rapid.IntRange(0, 1), true).Draw(t, "tripped"),
			LastMotion: genTime().Draw(t, "last motion"), Rev: rapid.IntRange(0, 1<<31-1).Draw(t, "rev"),
		}
		if rapid.Bool().Draw(t, "heartbeat") {
			return r
		}
		r.ShardID, r.Startup = genName().Draw(t, "shard"), rapid.Bool().Draw(t, "startup")
		r.Version, r.Health = genDocument().Draw(t, "version"), genDocument().Draw(t, "health")
		sounding := rapid.OneOf(rapid.Just[*bool](nil), rapid.Just(new(bool))).Draw(t, "sounding")
		r.Leafblower = map[string]motion.Choice{genMAC().Draw(t, "leaf").String(): {
			IsStatic: "STATIC", Sounding: sounding, Leaf: genDocument().Draw(t, "leaf document"),
			AP: rapid.MapOfN(genName(), rapid.Float64Range(-1, 1), 0, 3).Draw(t, "ap"),
		}}
		r.Radars = map[string]motion.Radar{}
		for _, radar := range rapid.SliceOfN(genRadar(), 0, 3).Draw(t, "radars") {
			r.Radars[radar.NodeName] = radar
		}
		return r
	})
}

func genMatrix() *rapid.Generator[motion.Report] {
	return rapid.Custom(func(t *rapid.T) motion.Report {
		r := &motion.Matrix{
			TS: genTime().Draw(t, "ts"), Interval: rapid.IntRange(1, 10000).Draw(t, "interval"), Count: rapid.IntRange(1, 4).Draw(t, "count"),
			Links:         rapid.SliceOfN(genLink(), 0, 4).Draw(t, "links"),
			MotionTripped: rapid.IntRange(0, 1).Draw(t, "tripped"), MotionEnabled: rapid.IntRange(0, 1).Draw(t, "enabled"), LastMotion: genTime().Draw(t, "last"),
		}
		for _, figure := range rapid.SliceOfDistinct(rapid.SampledFrom([]motion.Figure{motion.MKAI, motion.LRaw, motion.Throughput, motion.MSAD, motion.MConf}), rapid.ID).Draw(t, "figures") {
			row := rapid.SliceOfN(genMaybe(), r.Count, r.Count)
			r.Values[figure] = rapid.SliceOfN(row, len(r.Links), len(r.Links)).Draw(t, figure.String())
		}
		for _, mac := range rapid.SliceOfN(genMAC(), 0, 2).Draw(t, "loc") {
			r.Loc = append(r.Loc, motion.MatrixLoc{MAC: mac, Confidence: genShare().Draw(t, "confidence")})
		}
		return r
	})
}

func genHistory() *rapid.Generator[motion.Report] {
	return rapid.Custom(func(t *rapid.T) motion.Report {
		count := rapid.IntRange(1, 60).Draw(t, "count")
		r := motion.History{
			TS: genTime().Draw(t, "ts"), Interval: rapid.IntRange(1, 10000).Draw(t, "interval"), Count: count,
			MKAI: rapid.SliceOfN(genMaybe(), count, count).Draw(t, "mkai"),
			MACs: rapid.SliceOfN(genMAC(), 0, 3).Draw(t, "macs"),
		}
		if rapid.Bool().Draw(t, "ungated") {
			r.MSAD = rapid.SliceOfN(genMaybe(), count, count).Draw(t, "msad")
		}
		if rapid.Bool().Draw(t, "located") {
			full := rapid.SliceOfN(genShare(), len(r.MACs), len(r.MACs))
			r.Density = rapid.SliceOfN(rapid.OneOf(full, rapid.Just([]float64(nil))), count, count).Draw(t, "density")
		}
		return r
	})
}

func genEvent() *rapid.Generator[motion.Report] {
	return rapid.Custom(func(t *rapid.T) motion.Report {
		link := genLink().Draw(t, "link")
		dst, src, _ := strings.Cut(link, ".")
		armed := rapid.IntRange(0, 1).Draw(t, "armed")
		return motion.EventReport{
			UUID: rapid.StringMatching(`([0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12})?`).Draw(t, "uuid"),
			Event: motion.Event{
				Category: motion.CategoryMotion, Event: rapid.SampledFrom([]string{motion.MotionDetectedEvent, motion.MotionStoppedEvent, "Other_Event2"}).Draw(t, "kind"),
				NetworkID: motion.NetworkID(rapid.Uint32().Draw(t, "network")), GuardianID: genName().Draw(t, "guardian"),
				TS: genTime().Draw(t, "ts"), DetectedTS: genTime().Draw(t, "detected"), LinkID: link, LinkDstName: dst, LinkSrcName: src,
				IntensityWindow: rapid.SliceOfN(genShare(), 0, 7).Draw(t, "window"), LocName: rapid.StringN(0, 20, 1024).Draw(t, "loc name"),
				Loc:    []motion.EventLoc{{MAC: genMAC().Draw(t, "mac").String(), Confidence: genShare().Draw(t, "confidence")}},
				Detail: genDocument().Draw(t, "detail"), Data: genDocument().Draw(t, "data"), NodeID: motion.NodeID(rapid.Uint32().Draw(t, "node")), Armed: &armed,
				Debug: &motion.EventDebug{LinkSens: map[string]float64{link: 2}, MSAD: []float64{187.22}, Links: []string{link}, MConf: []float64{80}, Sens: 1},
			},
		}
	})
}

func genLinkMotions() *rapid.Generator[motion.Report] {
	link := rapid.Custom(func(t *rapid.T) motion.LinkMotion {
		dst := genMAC().Draw(t, "dst")
		dst[1] = 0xaa // no link to itself
		return motion.LinkMotion{
			Src: genMAC().Draw(t, "src"), Dst: dst, MKAI: genShare().Draw(t, "mkai"), LRaw: genMaybe().Draw(t, "lraw"),
			Throughput: genMaybe().Draw(t, "throughput"), RSSI: rapid.Float64Range(-120, 0).Draw(t, "rssi"),
		}
	})
	return rapid.Custom(func(t *rapid.T) motion.Report {
		return motion.LinkMotions{
			TS: genTime().Draw(t, "ts"), Interval: rapid.IntRange(1, 10000).Draw(t, "interval"), Links: rapid.SliceOfN(link, 0, 4).Draw(t, "links"),
		}
	})
}

func genAnswer() *rapid.Generator[motion.Report] {
	return rapid.Custom(func(t *rapid.T) motion.Report {
		if rapid.Bool().Draw(t, "device info") {
			return motion.DeviceInfoAck{MAC: genMAC().Draw(t, "mac")}
		}
		return motion.ManageResult{
			ID:     rapid.Int64Range(1, 1<<63-1).Draw(t, "id"),
			State:  rapid.SampledFrom([]string{"100", "200", "404"}).Draw(t, "state"),
			Result: genDocument().Draw(t, "result"),
		}
	})
}

func TestEncodedReportsDecodeToThemselves(t *testing.T) {
	t.Parallel()
	csi := rapid.Custom(func(t *rapid.T) motion.Report {
		return motion.RawCSI(rapid.SliceOfN(rapid.Byte(), 31, 100).Draw(t, "csi"))
	})
	for name, reports := range map[string]*rapid.Generator[motion.Report]{
		"status": genStatus(), "matrix": genMatrix(), "history": genHistory(), "event": genEvent(),
		"link-motion": genLinkMotions(), "answer": genAnswer(), "csi": csi,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				report := reports.Draw(t, "report")
				event, format, payload, err := wire.Encode(report)
				if err != nil {
					t.Fatal(err)
				}
				topic, err := wire.ParseTopic(wire.EventTopic(motion.DeviceKey{Kind: motion.Guardian, ID: "a41f"}, event, format))
				if err != nil {
					t.Fatal(err)
				}
				got, err := new(wire.Decoder).Decode(topic, payload)
				if err != nil {
					t.Fatalf("%s: %v", payload, err)
				}
				if diff := cmp.Diff(report, got, same()); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", payload, diff)
				}
			})
		})
	}
}

func TestEncodedBootstrapDecodesToItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := motion.Bootstrap{
			Radar: genRadar().Draw(t, "radar"), FactoryReset: rapid.Bool().Draw(t, "reset"), MasterFailed: rapid.Bool().Draw(t, "failed"),
			LocationID: genName().Draw(t, "location"),
		}
		got, err := wire.DecodeBootstrap(wire.EncodeBootstrap(want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, same()); diff != "" {
			t.Fatalf("bootstrap (-want +got):\n%s", diff)
		}
	})
}

func TestValuesJSONCannotHoldAreNotEncoded(t *testing.T) {
	t.Parallel()
	for _, report := range []motion.Report{nil, motion.StatusReport{TS: motion.Time(nan)}} {
		if _, _, payload, err := wire.Encode(report); err == nil {
			t.Errorf("%T is encoded as %s, want an error", report, payload)
		}
	}
}
