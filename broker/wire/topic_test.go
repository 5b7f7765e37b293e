package wire_test

import (
	"strings"
	"testing"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/fault"
)

func TestTopicsHaveTheShapeOfTheProtocol(t *testing.T) {
	t.Parallel()
	radar := motion.DeviceKey{Kind: motion.RadarKind, ID: "csi-a-02aa00000110"}
	guardian := motion.DeviceKey{Kind: motion.Guardian, ID: "a41f00c2d97b4e5580136c2e"}
	for got, want := range map[string]string{
		wire.EventTopic(radar, wire.EventCSI, wire.FormatBin):               "iot-2/type/radar/id/csi-a-02aa00000110/evt/csi/fmt/bin",
		wire.EventTopic(guardian, wire.EventStatus, wire.FormatJSON):        "iot-2/type/guardian/id/a41f00c2d97b4e5580136c2e/evt/guardian-status/fmt/json",
		wire.CommandTopic(guardian, wire.CommandConfig):                     "iot-2/type/guardian/id/a41f00c2d97b4e5580136c2e/cmd/config/fmt/json",
		wire.CommandFilter(radar):                                           "iot-2/type/radar/id/csi-a-02aa00000110/cmd/#",
		wire.Topic{Kind: "radar", ID: "x", Name: "y", Format: "z"}.String(): "iot-2/type/radar/id/x/evt/y/fmt/z",
	} {
		if got != want {
			t.Errorf("topic %q, want %q", got, want)
		}
	}
}

func TestTopicIsParsed(t *testing.T) {
	t.Parallel()
	got, err := wire.ParseTopic("iot-2/type/guardian/id/a41f/cmd/live/fmt/json")
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Topic{Kind: motion.Guardian, ID: "a41f", Command: true, Name: "live", Format: "json"}
	if got != want {
		t.Errorf("topic %+v, want %+v", got, want)
	}
	if got.Device() != (motion.DeviceKey{Kind: motion.Guardian, ID: "a41f"}) {
		t.Errorf("device %v", got.Device())
	}
}

func TestParsingATopicTakesNoMemory(t *testing.T) {
	const topic = "iot-2/type/guardian/id/a41f00c2d97b4e5580136c2e/evt/motion-matrix/fmt/json"
	if n := testing.AllocsPerRun(10, func() { _, _ = wire.ParseTopic(topic) }); n > 0 {
		t.Errorf("%g allocations, want none", n)
	}
}

func TestForeignTopicsAreMalformed(t *testing.T) {
	t.Parallel()
	for _, topic := range []string{
		"",
		"#",
		"$SYS/broker/uptime",
		"iot-2/type/radar/id/x/evt/csi/fmt",
		"iot-2/type/radar/id/x/evt/csi/fmt/bin/more",
		"/iot-2/type/radar/id/x/evt/csi/fmt/bin",
		"iot-1/type/radar/id/x/evt/csi/fmt/bin",
		"iot-2/type/leaf/id/x/evt/csi/fmt/bin",
		"iot-2/kind/radar/id/x/evt/csi/fmt/bin",
		"iot-2/type/radar/id//evt/csi/fmt/bin",
		"iot-2/type/radar/id/+/evt/csi/fmt/bin",
		"iot-2/type/radar/id/x/evt/#/fmt/bin",
		"iot-2/type/radar/id/x/out/csi/fmt/bin",
		"iot-2/type/radar/id/x/evt/CSI/fmt/bin",
		"iot-2/type/radar/id/x/evt/csi/format/bin",
		"iot-2/type/radar/id/x y/evt/csi/fmt/bin",
		"iot-2/type/radar/id/" + strings.Repeat("x", 65) + "/evt/csi/fmt/bin",
		strings.Repeat("/", 60000),
	} {
		_, err := wire.ParseTopic(topic)
		if fault.KindOf(err) != fault.Malformed {
			t.Errorf("topic %.80q: error %v, want a malformed one", topic, err)
		}
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("topic %.80q: error of %d bytes, want a short one", topic, len(err.Error()))
		}
	}
}

func FuzzParseTopic(f *testing.F) {
	f.Add("iot-2/type/guardian/id/a41f00c2d97b4e5580136c2e/evt/motion-matrix/fmt/json")
	f.Add("iot-2/type/radar/id/csi-a-02aa00000110/cmd/config/fmt/json")
	f.Add("iot-2/type/radar/id/+/evt/#/fmt/bin")
	f.Fuzz(func(t *testing.T, s string) {
		topic, err := wire.ParseTopic(s)
		if err != nil {
			if fault.KindOf(err) != fault.Malformed {
				t.Fatalf("topic %q: error %v is no malformed one", s, err)
			}
			return
		}
		if topic.String() != s {
			t.Fatalf("topic %q is written %q", s, topic)
		}
		if strings.ContainsAny(topic.ID, "/+#\x00") {
			t.Fatalf("id %q is more than one level", topic.ID)
		}
	})
}
