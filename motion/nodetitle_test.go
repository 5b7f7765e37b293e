package motion_test

import (
	"testing"

	"sensegate/motion"
)

func TestNodesOfOtherMakersHaveNamesForPeople(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{
		"node:ruview:7c2c6742bbac:2":   {"RuView node 2", "RuView node 2 bbac"},
		"node:ruview:192-168-1-7:1":    {"RuView node 1", "RuView node 1 192-168-1-7"},
		"node:espectre:7c2c6742bbac":   {"ESPectre node bbac", "ESPectre node bbac"},
		"node:lines:ttyUSB0":           {"CSI node ttyUSB0", "CSI node ttyUSB0"},
		"node:mqtt:bridge-kitchen":     {"MQTT node bridge-kitchen", "MQTT node bridge-kitchen"},
		"node:something-newer:abcdef0": {"something-newer node abcdef0", "something-newer node abcdef0"},
		"csi-a-02aa00000210":           {},
	} {
		if got := [2]string{motion.NodeTitle(id, false), motion.NodeTitle(id, true)}; got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}
