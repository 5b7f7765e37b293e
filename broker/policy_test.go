package broker

import (
	"fmt"
	"strings"
	"testing"

	"sensegate/broker/guard/guardtest"
	"sensegate/motion"
)

func TestDeviceStaysInItsOwnTopics(t *testing.T) {
	t.Parallel()
	r := Identity{Device: guardian}.rights()
	for topic, want := range map[string]bool{
		guardianRoot + "evt/event/fmt/json":               true,
		guardianRoot + "evt/":                             false,
		guardianRoot + "cmd/config/fmt/json":              false,
		radarRoot + "evt/event/fmt/json":                  false,
		"iot-2/type/radar/id/a41f00c2/evt/event/fmt/json": false,
		"iot-2/type/guardian/id/a41f00c22/evt/e/fmt/json": false,
		"homeassistant/a":                                 false,
		"$SYS/broker":                                     false,
		"":                                                false,
	} {
		if got := r.mayPublish(topic); got != want {
			t.Errorf("publish to %q: %v, want %v", topic, got, want)
		}
	}
	for filter, want := range map[string]bool{
		guardianRoot + "cmd/#":               true,
		guardianRoot + "cmd/+/fmt/json":      true,
		guardianRoot + "cmd/config/fmt/json": true,
		guardianRoot + "cmd":                 false,
		guardianRoot + "#":                   false,
		guardianRoot + "+/config/fmt/json":   false,
		guardianRoot + "evt/#":               false,
		radarRoot + "cmd/#":                  false,
		"iot-2/type/guardian/id/+/cmd/#":     false,
		"iot-2/#":                            false,
		"#":                                  false,
		"+/#":                                false,
		"$SYS/#":                             false,
		"$share/g/" + guardianRoot + "cmd/#": false,
		"homeassistant/#":                    false,
	} {
		if got := r.maySubscribe(filter); got != want {
			t.Errorf("subscribe to %q: %v, want %v", filter, got, want)
		}
	}
}

func TestForeignTopicIsRefusedAndTold(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	foreign := radarRoot + "evt/event/fmt/json"
	c := r.device(t, 5, guardian)
	c.Send(guardtest.Publish{Version: 5, Topic: foreign, QoS: 1, ID: 9, Payload: "x"}.Bytes())
	if p := c.Packet(); p[0] != 0x40 || p[4] != 0x87 {
		t.Errorf("got % x, want a PUBACK with reason 87", p)
	}
	if got := next(t, r.sink.refused); got.Act != ActPublish || got.Reason != foreign || got.Identity.Device != guardian {
		t.Errorf("told %+v", got)
	}
	old := r.device(t, 4, radar) // MQTT 3 has no way to say it
	old.Send(guardtest.Publish{Topic: guardianRoot + "evt/event/fmt/json", QoS: 1, ID: 9}.Bytes())
	old.ExpectClosed()
	c.Alive()
	if len(r.sink.ingested) != 0 {
		t.Error("a foreign message was ingested")
	}
}

func TestForeignSubscriptionIsRefusedAndTold(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	for version, want := range map[byte]string{4: "90 04 0001 80 01", 5: "90 05 0001 00 87 01"} {
		c := r.device(t, version, guardian)
		c.Send(guardtest.Subscribe(version, 1, "#", guardianRoot+"cmd/#"))
		c.Expect(want)
		if got := next(t, r.sink.refused); got.Act != ActSubscribe || got.Reason != "#" {
			t.Errorf("told %+v", got)
		}
	}
}

func TestSubscriptionsAreLimited(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.device(t, 4, guardian)
	var filters []string
	for i := range maxDeviceSubscriptions + 1 {
		filters = append(filters, fmt.Sprint(guardianRoot, "cmd/c", i))
	}
	c.Send(guardtest.Subscribe(4, 1, filters...))
	if p := c.Packet(); !strings.HasSuffix(string(p), "\x01\x01\x80") {
		t.Errorf("got % x, want the last of 33 refused", p)
	}
	c.Send(guardtest.Subscribe(4, 1, filters[0]))
	c.Expect("9003000101") // held already
	if got := next(t, r.sink.refused); got.Act != ActSubscribe {
		t.Errorf("told %+v", got)
	}
}

func TestIntegrationUserHasRoomForManySubscriptions(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.user(t, "lights", "one")
	for i := range maxIntegrationSubscriptions {
		c.Send(guardtest.Subscribe(4, 0, fmt.Sprint("homeassistant/lights/", i)))
		c.Expect("9003000100")
	}
	c.Send(guardtest.Subscribe(4, 0, "homeassistant/lights/more"))
	c.Expect("9003000180")
	c.Alive()
}

func TestLoginIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	will := login(5, guardian)
	will.Will, will.WillTopic = "x", radarRoot+"evt/event/fmt/json"
	for name, tc := range map[string]struct {
		connect guardtest.Connect
		answer  byte
	}{
		"wrong token":              {guardtest.Connect{ClientID: guardian.ID, Username: "device", Password: "guess"}, 5},
		"wrong token, MQTT 5":      {guardtest.Connect{Version: 5, ClientID: guardian.ID, Username: "device", Password: "guess"}, 0x86},
		"another's client id":      {guardtest.Connect{ClientID: "borrowed", Username: "device", Password: "secret"}, 5},
		"another's topic as will":  {will, 0x86},
		"nobody, at length":        {guardtest.Connect{ClientID: strings.Repeat("ü", 1000)}, 5},
		"nobody":                   {guardtest.Connect{ClientID: "x"}, 5},
		"store not ready":          {guardtest.Connect{ClientID: "x", Username: "unready"}, 3},
		"store not ready, MQTT 5":  {guardtest.Connect{Version: 5, ClientID: "x", Username: "unready"}, 0x88},
		"an identity without name": {guardtest.Connect{ClientID: "x", Username: "?", Password: "secret"}, 5},
	} {
		c := guardtest.Dial(t, r.addr)
		c.Send(tc.connect.Bytes())
		if p := c.Packet(); p[0] != 0x20 || p[3] != tc.answer {
			t.Errorf("%s: connack % x, want reason %x", name, p, tc.answer)
		}
		c.ExpectClosed()
		if got := next(t, r.sink.refused); got.Act != ActLogin || got.Reason == "" || len(got.ClientID) > 64 || !got.Addr.IsLoopback() {
			t.Errorf("%s: told %+v", name, got)
		}
	}
	if r.Counters().Sessions != 0 || len(r.sink.connected) != 0 {
		t.Error("somebody got in")
	}
}

func TestMalformedPacketOfADeviceIsTold(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.device(t, 5, guardian)
	c.Send(guardtest.Hex("82 06 0001 00 0001 61"))
	c.Expect("e00181")
	c.ExpectClosed()
	if got := next(t, r.sink.refused); got.Act != ActPacket || got.Reason != "subscribe: cut off" || got.Identity.Device != guardian {
		t.Errorf("told %+v", got)
	}
	if got := next(t, r.sink.disconnected); got != "subscribe: cut off" {
		t.Errorf("disconnected for %q", got)
	}
}

func TestIntegrationUserLivesBelowItsPrefix(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	lights, home := r.user(t, "lights", "one"), r.user(t, "homeassistant", "one")
	home.Send(guardtest.Subscribe(4, 1, "homeassistant/#", "iot-2/#", "#"))
	home.Expect("90 05 0001 01 80 80")
	lights.Send(guardtest.Publish{Topic: "homeassistant/lights/1", QoS: 1, ID: 1, Payload: "on", Retain: true}.Bytes())
	lights.Expect("40020001")
	if p := home.Packet(); p[0]>>4 != 3 || !strings.HasSuffix(string(p), "on") {
		t.Errorf("got % x, want the message", p)
	}
	if m := next(t, r.sink.ingested); m.id.User != "lights" || m.payload != "on" {
		t.Errorf("ingested %+v", m)
	}
	later := r.user(t, "homeassistant", "two")
	later.Send(guardtest.Subscribe(4, 0, "homeassistant/lights/+"))
	later.Expect("9003000100")
	if p := later.Packet(); p[0] != 0x31 {
		t.Errorf("got % x, want the retained message", p)
	}
	lights.Send(guardtest.Publish{Topic: "homeassistant/other", QoS: 1, ID: 2}.Bytes())
	lights.Expect("40020002")
	refusal := next(t, r.sink.refused)
	for refusal.Act == ActSubscribe { // of the other user, before
		refusal = next(t, r.sink.refused)
	}
	if refusal.Act != ActPublish || refusal.Reason != "homeassistant/other" {
		t.Errorf("told %+v", refusal)
	}
	lights.Alive()
	home.Alive() // the two clients with id "one" are different clients
}

func TestUserCannotTakeADevicesPlace(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	d := r.device(t, 4, guardian)
	u := r.user(t, "lights", guardian.ID)
	d.Alive()
	u.Alive()
	other := r.device(t, 4, motion.DeviceKey{ID: radar.ID})
	other.Alive()
	if !r.Online(guardian) || !r.Online(radar) || r.Online(motion.DeviceKey{Kind: motion.RadarKind, ID: guardian.ID}) {
		t.Error("online is wrong")
	}
}

func TestPrefixOfAUserIsChecked(t *testing.T) {
	t.Parallel()
	for prefix, ok := range map[string]bool{"zigbee2mqtt": true, "a/b": true, "": false, "#": false, "a/+": false,
		"iot-2": false, "iot-2/type": false, "$SYS": false, "/a": false} {
		if err := (Identity{User: "u", Prefix: prefix}).bind("any"); (err == nil) != ok {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}
