package guard_test

import (
	"strings"
	"testing"

	"sensegate/broker/guard"
	"sensegate/broker/guard/guardtest"
)

// malformed are packets after a CONNECT, in hexadecimal, that break a rule of
// MQTT or a limit. answer5 is the reason code that an MQTT 5 client is told.
var malformed = []struct {
	name    string
	version byte
	packet  string
	answer5 string
}{
	{"subscribe without its options byte", 5, "82 06 0001 00 0001 61", "81"},
	{"subscribe without its QoS byte", 4, "82 05 0001 0001 61", ""},
	{"subscribe without a filter", 5, "82 03 0001 00", "82"},
	{"subscribe with packet id 0", 5, "82 07 0000 00 0001 61 00", "82"},
	{"subscribe with QoS 3", 5, "82 07 0001 00 0001 61 03", "81"},
	{"subscribe with reserved option bits", 5, "82 07 0001 00 0001 61 40", "81"},
	{"subscribe with retain handling 3", 5, "82 07 0001 00 0001 61 30", "81"},
	{"subscribe with MQTT 5 options", 4, "82 06 0001 0001 61 04", ""},
	{"subscribe with wrong flags", 5, "80 07 0001 00 0001 61 00", "81"},
	{"subscribe with identifier 0", 5, "82 09 0001 02 0b00 0001 61 00", "82"},
	{"subscribe with two identifiers", 5, "82 0b 0001 04 0b010b02 0001 61 00", "82"},
	{"subscribe, properties longer than the packet", 5, "82 07 0001 7f 0001 61 00", "81"},
	{"subscribe to sport#", 5, "82 0c 0001 00 0006 73706f727423 00", "81"},
	{"subscribe to +a", 4, "82 07 0001 0002 2b61 00", ""},
	{"subscribe to #/a", 5, "82 09 0001 00 0003 232f61 00", "81"},
	{"subscribe to a filter with a line break", 5, "82 08 0001 00 0002 610a 00", "81"},
	{"subscribe to $share without a group", 5, "82 0e 0001 00 0008 2473686172652f61 00", "81"},
	{"subscribe to $SHARE with a wildcard group", 4, "82 0f 0001 000a 2453484152452f2b2f61 00", ""},
	{"no-local on a shared subscription", 5, "82 10 0001 00 000a 2473686172652f672f61 04", "82"},
	{"unsubscribe without a filter", 4, "a2 02 0001", ""},
	{"unsubscribe cut off", 5, "a2 05 0001 00 0005", "81"},
	{"publish to a wildcard", 5, "30 04 0001 2b 00", "81"},
	{"publish to $SYS", 5, "30 09 0006 245359532f61 00", "90"},
	{"publish to a topic that is not UTF-8", 5, "30 05 0002 c328 00", "81"},
	{"publish to a topic with NUL", 4, "30 04 0002 6100", ""},
	{"publish to no topic", 5, "30 03 0000 00", "82"},
	{"publish with QoS 3", 5, "36 06 0001 61 0001 00", "81"},
	{"publish with QoS 2, which is not offered", 5, "34 06 0001 61 0001 00", "9b"},
	{"publish with QoS 2 in MQTT 3", 4, "34 05 0001 61 0001", ""},
	{"publish with QoS 1 and packet id 0", 5, "32 06 0001 61 0000 00", "82"},
	{"publish with QoS 1 and no packet id", 5, "32 03 0001 61", "81"},
	{"publish as duplicate of QoS 0", 5, "38 04 0001 61 00", "81"},
	{"publish with a property of CONNECT", 5, "30 09 0001 61 05 1100000001", "82"},
	{"publish with a subscription identifier", 5, "30 06 0001 61 02 0b01", "82"},
	{"publish with payload format 2", 5, "30 06 0001 61 02 0102", "82"},
	{"publish with a wildcard as response topic", 5, "30 08 0001 61 04 0800012b", "81"},
	{"publish with an unknown property", 5, "30 06 0001 61 02 7f01", "81"},
	{"publish with a property cut off", 5, "30 05 0001 61 01 01", "81"},
	{"publish, property length never ends", 5, "30 07 0001 61 ffffffff", "81"},
	{"puback without a packet id", 5, "40 00", "81"},
	{"puback with packet id 0", 4, "40 02 0000", ""},
	{"puback with an unknown reason", 5, "40 03 0001 55", "82"},
	{"puback too long for MQTT 3", 4, "40 03 0001 00", ""},
	{"pubrel with wrong flags", 5, "60 02 0001", "81"},
	{"ping with a body", 5, "c0 01 00", "81"},
	{"disconnect with bytes after the end", 5, "e0 03 00 00 00", "81"},
	{"disconnect with a reason in MQTT 3", 4, "e0 01 00", ""},
	{"disconnect with a server's reason", 5, "e0 01 8b", ""},
	{"subscribe with a property of PUBLISH", 5, "82 09 0001 02 0100 0001 61 00", "81"},
	{"a second CONNECT", 5, "10 00", "82"},
	{"CONNACK from a client", 5, "20 02 0000", "82"},
	{"SUBACK from a client", 4, "90 03 0001 00", ""},
	{"AUTH without a method", 5, "f0 00", "82"},
	{"packet type 0", 4, "00 00", ""},
	{"remaining length of five bytes", 5, "30 ff ff ff ff 01", ""},
	{"remaining length in more bytes than needed", 5, "c0 80 00", ""},
	{"packet of 256 MiB", 5, "30 ff ff ff 7f", "95"},
}

func TestMalformedPacketClosesItsConnectionOnly(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	for _, tc := range malformed {
		t.Run(strings.ReplaceAll(tc.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			other, c := guardtest.Dial(t, s.Addr), guardtest.Dial(t, s.Addr)
			other.Login(guardtest.Connect{Version: tc.version})
			c.Login(guardtest.Connect{Version: tc.version})
			c.Send(guardtest.Hex(tc.packet))
			if tc.answer5 != "" {
				c.Expect("e001" + tc.answer5)
			}
			c.ExpectClosed()
			other.Alive()
		})
	}
	t.Cleanup(func() {
		n := s.Guard.Counters()
		if got := n.Malformed + n.TooLarge; got != uint64(len(malformed)) || n.Panics != 0 {
			t.Errorf("%d of %d counted, %d panics", got, len(malformed), n.Panics)
		}
	})
}

func TestMalformedConnectIsRefused(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	for name, tc := range map[string]struct{ packet, answer string }{
		"a packet before CONNECT":                 {"c0 00", ""},
		"bytes of another protocol":               {"47 45 54 20 2f", ""},
		"another protocol name":                   {"10 0d 0005 4d51545458 04 02 0000 0000", ""},
		"version 6":                               {"10 0c 0004 4d515454 06 02 0000 0000", "2003008400"},
		"reserved flag":                           {"10 0c 0004 4d515454 04 03 0000 0000", ""},
		"will QoS without a will":                 {"10 0c 0004 4d515454 04 0a 0000 0000", ""},
		"will QoS 3":                              {"10 12 0004 4d515454 04 1e 0000 0000 0001 61 0001 62", ""},
		"password without user name, 3.1.1":       {"10 0e 0004 4d515454 04 42 0000 0000 0000", ""},
		"session without client id, 3.1.1":        {"10 0c 0004 4d515454 04 00 0000 0000", "20020002"},
		"client id cut off":                       {"10 0c 0004 4d515454 04 02 0000 0005", ""},
		"client id that is not UTF-8, MQTT 5":     {"10 0f 0004 4d515454 05 02 0000 00 0002 c328", "2003008500"},
		"client id that is not UTF-8":             {"10 0e 0004 4d515454 04 02 0000 0002 c328", ""},
		"bytes after the end":                     {"10 0d 0004 4d515454 04 02 0000 0000 00", ""},
		"will to a wildcard":                      {"10 12 0004 4d515454 04 06 0000 0000 0001 23 0001 62", ""},
		"will to $SYS":                            {"10 17 0004 4d515454 04 06 0000 0000 0006 245359532f61 0001 62", ""},
		"will to $SYS, MQTT 5":                    {"10 19 0004 4d515454 05 06 0000 00 0000 00 0006 245359532f61 0001 62", "2003009000"},
		"receive maximum 0, MQTT 5":               {"10 10 0004 4d515454 05 02 0000 03 210000 0000", "2003008200"},
		"a property twice, MQTT 5":                {"10 13 0004 4d515454 05 02 0000 06 210001210001 0000", "2003008200"},
		"properties cut off, MQTT 5":              {"10 0d 0004 4d515454 05 02 0000 05 2100", "2003008100"},
		"enhanced authentication, MQTT 5":         {"10 11 0004 4d515454 05 02 0000 04 15000161 0000", "2003008c00"},
		"authentication data without one, MQTT 5": {"10 11 0004 4d515454 05 02 0000 04 16000161 0000", "2003008200"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			c := guardtest.Dial(t, s.Addr)
			c.Send(guardtest.Hex(tc.packet))
			if tc.answer != "" {
				c.Expect(tc.answer)
			}
			c.ExpectClosed()
		})
	}
}

func TestTopicsAreLimited(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	for name, tc := range map[string]struct {
		topic string
		ok    bool
	}{
		"512 bytes":           {strings.Repeat("x", 512), true},
		"513 bytes":           {strings.Repeat("x", 513), false},
		"16 levels":           {strings.Repeat("/", 15), true},
		"17 levels":           {strings.Repeat("/", 16), false},
		"65,000 levels":       {strings.Repeat("/", 64999), false},
		"umlauts":             {"küche/ß", true},
		"a non-character":     {"a\uffff", false},
		"a C1 control":        {"a\u0085", false},
		"an overlong slash":   {"a\xc0\xaf", false},
		"a surrogate":         {"a\xed\xa0\x80", false},
		"a replacement char.": {"a\ufffd", true},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			for kind, packet := range map[string][]byte{
				"publish":   guardtest.Publish{Version: 5, Topic: tc.topic, QoS: 1, ID: 1}.Bytes(),
				"subscribe": guardtest.Subscribe(5, 0, tc.topic),
			} {
				c := guardtest.Dial(t, s.Addr)
				c.Login(guardtest.Connect{Version: 5})
				c.Send(packet)
				if got := c.Packet()[0] != 0xe0; got != tc.ok {
					t.Errorf("%s: accepted is %v, want %v", kind, got, tc.ok)
				}
			}
		})
	}
}
