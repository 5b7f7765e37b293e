package broker

import "testing"

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
