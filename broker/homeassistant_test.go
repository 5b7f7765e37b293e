package broker

import (
	"testing"

	"sensegate/broker/guard/guardtest"
)

// TestPacketIDsOfBothSidesAreIndependent: a message that waits for its PUBACK does not stand in the way of
// a SUBSCRIBE with its packet id.
func TestPacketIDsOfBothSidesAreIndependent(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.user(t, "homeassistant", "one")
	c.Send(guardtest.Subscribe(4, 1, "homeassistant/a"))
	c.Expect("9003000101")
	if err := r.Tell("homeassistant/a", []byte("x"), false); err != nil {
		t.Fatal(err)
	}
	if p := c.Packet(); p[0] != 0x32 || p[len(p)-2] != 1 { // its packet id is that of the SUBSCRIBE
		t.Fatalf("got % x", p)
	}
	c.Send(guardtest.Subscribe(4, 1, "homeassistant/b"))
	c.Expect("9003000101")
	c.Send([]byte{0x40, 2, 0, 1}) // PUBACK
	if err := r.Tell("homeassistant/b", []byte("y"), true); err != nil {
		t.Fatal(err)
	}
	if p := c.Packet(); p[0]&0xf0 != 0x30 || p[len(p)-1] != 'y' {
		t.Errorf("got % x", p)
	}
}

// TestHomeAssistantWritesCommandsAlone: it sees the entities, and nothing of devices or other users.
func TestHomeAssistantWritesCommandsAlone(t *testing.T) {
	t.Parallel()
	r := Identity{User: "ha", Prefix: "sensegate/1a2b3c4d", Discovery: "homeassistant"}.rights()
	for topic, want := range map[string]bool{
		"homeassistant/status":                 true,
		"sensegate/1a2b3c4d/1/scene/set":       true,
		"sensegate/1a2b3c4d/restart/set":       true,
		"homeassistant/status/set":             false,
		"homeassistant/device/x/config":        false,
		"homeassistant/binary_sensor/x/config": false,
		"homeassistant/x/set":                  false,
		"sensegate/1a2b3c4d/1/scene":           false,
		"sensegate/1a2b3c4d/availability":      false,
		"sensegate/1a2b3c4d/core":              false,
		"sensegate/1a2b3c4d/set":               true, // no command: refused where it is read
		"sensegate/00000000/1/scene/set":       false,
		"sensegate/set":                        false,
		guardianRoot + "cmd/config/fmt/set":    false,
		guardianRoot + "evt/event/fmt/json":    false,
		"zigbee2mqtt/lamp/set":                 false,
		"":                                     false,
	} {
		if got := r.mayPublish(topic); got != want {
			t.Errorf("publish to %q: %v, want %v", topic, got, want)
		}
	}
	for filter, want := range map[string]bool{
		"homeassistant/#":          true,
		"homeassistant/+/+/config": true,
		"homeassistant/status":     true,
		"sensegate/1a2b3c4d/#":     true,
		"sensegate/1a2b3c4d/1/+":   true,
		"sensegate/#":              false,
		"sensegate/+/1/motion":     false,
		"homeassistant":            false,
		"homeassistantx/#":         false,
		"#":                        false,
		"+/#":                      false,
		"iot-2/#":                  false,
		guardianRoot + "evt/#":     false,
		"zigbee2mqtt/#":            false,
		"$SYS/#":                   false,
	} {
		if got := r.maySubscribe(filter); got != want {
			t.Errorf("subscribe to %q: %v, want %v", filter, got, want)
		}
	}
}
