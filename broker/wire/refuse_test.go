package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/fault"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func TestNonsenseIsRefusedByName(t *testing.T) {
	t.Parallel()
	const malformed, invalid = fault.Malformed, fault.Invalid
	list := func(element string, n int) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
	for _, c := range []struct {
		event, payload string
		kind           fault.Kind
		message        string
	}{
		{wire.EventStatus, ``, malformed, "not JSON: EOF"},
		{wire.EventStatus, `{`, malformed, "not JSON: unexpected EOF"},
		{wire.EventStatus, `{} {}`, malformed, "not JSON: something follows the object"},
		{wire.EventStatus, `[]`, malformed, "want a JSON object"},
		{wire.EventStatus, `{"ts": NaNs}`, malformed, "not JSON: invalid character 's' after object key:value pair"},
		{wire.EventStatus, `{"ts": {}}`, malformed, "ts: want a number"},
		{wire.EventStatus, `{"network_id": -1}`, invalid, `network_id: "-1" is out of range`},
		{wire.EventStatus, `{"network_id": 4294967296}`, invalid, `network_id: "4294967296" is out of range`},
		{wire.EventStatus, `{"rev": 1.5}`, invalid, `rev: "1.5" is not a whole number in range`},
		{wire.EventStatus, `{"motion_tripped": "maybe"}`, malformed, `motion_tripped: "maybe" is not a finite number`},
		{wire.EventStatus, `{"guardian_id": []}`, malformed, "guardian_id: want a text"},
		{wire.EventStatus, `{"guardian_id": "` + strings.Repeat("a", 1025) + `"}`, invalid, "guardian_id: text of 1025 bytes: at most 1024"},
		{wire.EventStatus, `{"startup": "perhaps"}`, malformed, "startup: want true or false"},
		{wire.EventStatus, `{"health": 7}`, malformed, "health: want an object"},
		{wire.EventStatus, `{"radars": 7}`, malformed, "radars: want an object"},
		{wire.EventStatus, `{"radars": [{"deviceId": "a", "links": [{}, {"mac": "02:bb"}]}]}`, malformed, `radars[0].links[1].mac: mac "02:bb": want six octets such as 02:bb:00:00:00:31`},
		{wire.EventStatus, `{"radars": [{"deviceId": "a", "links": {"mac": 1}}]}`, malformed, "radars[0].links: want a list"},
		{wire.EventStatus, `{"radars": [{"node_id": "a"}]}`, invalid, `radars[0].deviceId: "": want 1 to 64 letters, digits and - _ . :`},
		{wire.EventStatus, `{"radars": {"a/#": {"deviceId": "b"}}}`, invalid, `radars."a/#".node_id: "a/#": want a name of 1 to 64 letters, digits and - _ :`},
		{wire.EventStatus, `{"radars": [` + list("{}", 1025) + `]}`, invalid, "radars: 1025 entries: at most 1024"},
		{wire.EventStatus, `{"leafblower": {"kitchen": {}}}`, malformed, `leafblower: mac "kitchen": want six octets such as 02:bb:00:00:00:31`},
		{wire.EventStatus, `{"leafblower": {"000000000000": {}}}`, invalid, `leafblower: "000000000000" is no device`},
		{wire.EventStatus, `{"leafblower": {"02bb00000031": {"ap": {"A": 1.1}}}}`, invalid, `leafblower."02bb00000031".ap: 1.1 is not in -1..1`},
		{wire.EventMatrix, `{}`, invalid, "data: missing"},
		{wire.EventMatrix, `{"data": 1}`, malformed, "data: want an object"},
		{wire.EventMatrix, `{"data": {}, "interval": 0}`, invalid, "interval: 0 ms is not in 1..3600000"},
		{wire.EventMatrix, `{"data": {}, "count": 1001}`, invalid, "count: 1001 is not in 1..1000"},
		{wire.EventMatrix, `{"data": {}, "count": 1000, "links": [` + list(`"a.b"`, 9) + `]}`, invalid, "count: 1000 steps of 9 links: at most 8192 values"},
		{wire.EventMatrix, `{"data": {}, "links": ["a.b", "kitchen"]}`, invalid, `links[1]: "kitchen": want a link id dst_name.src_name`},
		{wire.EventMatrix, `{"data": {}, "links": ["a.b.c"]}`, invalid, `links[0]: "b.c": want a name of 1 to 64 letters, digits and - _ :`},
		{wire.EventMatrix, `{"data": {}, "links": ["a.00:00:00:00:00:00"]}`, invalid, `links[0]: "00:00:00:00:00:00": want a name of 1 to 64 letters, digits and - _ :`},
		{wire.EventMatrix, `{"data": {"mkai": [0]}, "links": ["a.b", "a.c"]}`, invalid, "data.mkai: 1 values for 2 links"},
		{wire.EventMatrix, `{"motion": {"mkai": [1.5]}, "links": ["a.b"]}`, invalid, "motion.mkai[0][0]: 1.5 is not in 0..1"},
		{wire.EventMatrix, `{"data": {"msad": [-2]}, "links": ["a.b"]}`, invalid, "data.msad[0][0]: -2 is not in 0..1.7976931348623157e+308"},
		{wire.EventMatrix, `{"data": {"mkai": [1e999]}, "links": ["a.b"]}`, malformed, `data.mkai[0][0]: "1e999" is not a finite number`},
		{wire.EventMatrix, `{"count": 2, "data": {"mkai": [[0]]}, "links": ["a.b"]}`, invalid, "data.mkai[0]: 1 values for count 2"},
		{wire.EventMatrix, `{"data": {}, "loc": [0.5]}`, malformed, "loc[0]: want nomotion or a MAC"},
		{wire.EventMatrix, `{"data": {}, "loc": ["00:00:00:00:00:00"]}`, malformed, "loc[0]: want nomotion or a MAC"},
		{wire.EventMatrix, `{"data": {}, "loc": ["02bb00000031", 7]}`, invalid, "loc[1]: 7 is not in 0..1"},
		{wire.EventHistory, `{"motion": {"mkai": [0, 0]}, "count": 3}`, invalid, "motion.mkai: 2 values for count 3"},
		{wire.EventHistory, `{"motion": {}}`, invalid, "motion.mkai: missing"},
		{wire.EventHistory, `{"motion": {"mkai": []}}`, invalid, "count: 0 is not in 1..1000"},
		{wire.EventHistory, `{"motion": {"mkai": [` + list("0", 1001) + `]}}`, invalid, "motion.mkai: 1001 values: at most 1000"},
		{wire.EventHistory, `{"motion": {"mkai": [2]}}`, invalid, "motion.mkai[0]: 2 is not in 0..1"},
		{wire.EventHistory, `{"motion": {"mkai": [0]}, "location": {"macs": ["02bb00000031"], "density": [[0], [0]]}}`, invalid, "location.density: 2 lists for count 1"},
		{wire.EventHistory, `{"motion": {"mkai": [0]}, "location": {"macs": ["02bb00000031"], "density": [[0, 1]]}}`, invalid, "location.density[0]: 2 values for 1 macs"},
		{wire.EventHistory, `{"motion": {"mkai": [0]}, "location": {"macs": [` + list(`""`, 257) + `]}}`, invalid, "location.macs: 257 entries: at most 256"},
		{wire.EventLinkMotion, `{"links": [{"dst": "02bb00000031", "mkai": 0}]}`, invalid, "links[0].src: missing"},
		{wire.EventLinkMotion, `{"links": [{"src": "02bb00000031", "mkai": 0}]}`, invalid, "links[0].dst: missing"},
		{wire.EventLinkMotion, `{"links": [{"src": "02bb00000031", "dst": "02bb00000031"}]}`, invalid, "links[0].src: is the dst too"},
		{wire.EventLinkMotion, `{"links": [{"src": "02bb00000031", "dst": "02bb00000032", "mkai": -1}]}`, invalid, "links[0].mkai: -1 is not in 0..1"},
		{wire.EventLinkMotion, `{"links": [{"src": "02bb00000031", "dst": "02bb00000032", "rssi": -900}]}`, invalid, "links[0].rssi: -900 dBm is not in -200..100"},
		{wire.EventEvent, `{"category": "Motion", "event": "MotionDetectedEvent"}`, invalid, "ts: missing"},
		{wire.EventEvent, `{"category": "Weather", "event": "x", "ts": 1}`, invalid, `category: "Weather": want Link, Network, Motion, System, User, Device or Internal`},
		{wire.EventEvent, `{"category": "Link", "event": "MotionDetectedEvent", "ts": 1}`, invalid, "category: Link: want Motion for MotionDetectedEvent"},
		{wire.EventEvent, `{"category": "System", "event": "OwnerChangedEvent", "ts": 1}`, invalid, "event: OwnerChangedEvent is not raised by devices"},
		{wire.EventEvent, `{"category": "System", "event": "GuardianMotionEvent", "ts": 1}`, invalid, "event: GuardianMotionEvent is not raised by devices"},
		{wire.EventEvent, `{"category": "System", "event": "CustomAlertEvent", "ts": 1}`, invalid, "event: CustomAlertEvent is not raised by devices"},
		{wire.EventEvent, `{"category": "System", "event": "DeviceAdoptedEvent", "ts": 1}`, invalid, "event: DeviceAdoptedEvent is not raised by devices"},
		{wire.EventEvent, `{"category": "System", "event": "MemberArrivedEvent", "ts": 1}`, invalid, "event: MemberArrivedEvent is not raised by devices"},
		{wire.EventEvent, `{"category": "System", "event": "a b", "ts": 1}`, invalid, `event: "a b": want 1 to 64 letters, digits and _`},
		{wire.EventEvent, `{"category": "System", "event": "a", "ts": 1, "uuid": "7"}`, invalid, `uuid: "7": want 8-4-4-4-12 hexadecimal digits`},
		{wire.EventEvent, `{"category": "Link", "event": "a", "ts": 1, "link_id": "x"}`, invalid, `link_id: "x": want a link id dst_name.src_name`},
		{wire.EventEvent, `{"category": "Motion", "event": "a", "ts": 1, "intensity_window": [0, 3]}`, invalid, "intensity_window[1]: 3 is not in 0..1"},
		{wire.EventEvent, `{"category": "Motion", "event": "a", "ts": 1, "loc": [{"confidence": 82}]}`, invalid, "loc[0].confidence: 82 is not in 0..1"},
		{wire.EventEvent, `{"category": "System", "event": "a", "ts": 1, "detail": {"x": "` + strings.Repeat("x", 16<<10) + `"}}`, fault.TooLarge, "event of 16450 bytes: at most 16384"},
		{wire.EventManageResult, `{"state": "200"}`, invalid, "id: want the positive id of the command"},
		{wire.EventManageResult, `{"id": 1, "state": "011"}`, invalid, `state: "011": want 100, 2xx or 4xx`},
		{wire.EventManageResult, `{"id": 9223372036854775808, "state": "200"}`, invalid, `id: "9223372036854775808" is not a whole number in range`},
		{wire.EventDeviceInfoAck, `{"mac": ""}`, invalid, "mac: missing"},
	} {
		_, err := new(wire.Decoder).Decode(eventTopic(c.event), []byte(c.payload))
		if fault.KindOf(err) != c.kind || err.Error() != c.message {
			t.Errorf("%s %.100s:\n got %v (kind %d)\nwant %s (kind %d)", c.event, c.payload, err, fault.KindOf(err), c.message, c.kind)
		}
	}
}

func TestMessagesThatWouldCostMemoryAreRefused(t *testing.T) {
	t.Parallel()
	const tooMany = "message nested deeper than 32, or of more than 65536 values or 8192 objects"
	for name, c := range map[string]struct {
		payload string
		kind    fault.Kind
		message string
	}{
		"over 256 KiB": {`{"x": "` + strings.Repeat("a", wire.MaxMessage) + `"}`, fault.TooLarge, sprintf("message of %d bytes: at most %d", wire.MaxMessage+9, wire.MaxMessage)},
		"deep":         {`{"x": ` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`, fault.Invalid, tooMany},
		"values":       {`{"x": [0` + strings.Repeat(",0", 66000) + `]}`, fault.Invalid, tooMany},
		"objects":      {`{"x": [{}` + strings.Repeat(",{}", 8200) + `]}`, fault.Invalid, tooMany},
		"long key":     {`{"leafblower": {"` + strings.Repeat("a", 1025) + `": {}}}`, fault.Invalid, `leafblower: key "` + strings.Repeat("a", 32) + `"…: at most 1024 bytes`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := new(wire.Decoder).Decode(eventTopic(wire.EventStatus), []byte(c.payload))
			if fault.KindOf(err) != c.kind || err.Error() != c.message {
				t.Errorf("%.60s: error %v (kind %d), want %s (kind %d)", c.payload, err, fault.KindOf(err), c.message, c.kind)
			}
		})
	}
	brackets := `{"health": {"x": "` + strings.Repeat(`[{,\"`, 10000) + `"}}`
	if _, err := new(wire.Decoder).Decode(eventTopic(wire.EventStatus), []byte(brackets)); err != nil {
		t.Errorf("brackets inside a text: %v", err)
	}
}

func TestOnlyKnownEventsAreRead(t *testing.T) {
	t.Parallel()
	for message, topic := range map[string]wire.Topic{
		`event "weather" is not known`:             {Kind: motion.Guardian, Name: "weather", Format: "json"},
		`command "config": devices send events`:    {Kind: motion.Guardian, Name: "config", Format: "json", Command: true},
		`csi in format "json": want bin`:           {Kind: motion.RadarKind, Name: "csi", Format: "json"},
		`motion-matrix in format "bin": want json`: {Kind: motion.RadarKind, Name: "motion-matrix", Format: "bin"},
	} {
		if _, err := new(wire.Decoder).Decode(topic, []byte(`{}`)); fault.KindOf(err) != fault.Invalid || err.Error() != message {
			t.Errorf("%v: error %v, want %s", topic, err, message)
		}
	}
}

func TestPayloadIsNotChanged(t *testing.T) {
	t.Parallel()
	const payload = `{"data": {"mkai": [NaN, -Infinity]}, "links": ["a.b", "a.c"]}`
	given := []byte(payload)
	if _, err := new(wire.Decoder).Decode(eventTopic(wire.EventMatrix), given); err != nil {
		t.Fatal(err)
	}
	if string(given) != payload {
		t.Errorf("payload became %s", given)
	}
}
