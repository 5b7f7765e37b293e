package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"sensegate/motion"
	"sensegate/motion/setting"
)

// TestNodesAreNotToldWhetherTheHomeIsArmed: that tells when the household is away, and a node may be
// somebody else's. The guardian and the node that leads the network are told.
func TestNodesAreNotToldWhetherTheHomeIsArmed(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		peerKey := motion.DeviceKey{Kind: motion.RadarKind, ID: peerID}
		leading := []motion.DeviceKey{guardianKey, masterKey}
		configs := func(key motion.DeviceKey) string { // since the last time
			synctest.Wait()
			return strings.Join(b.devices.commands(key, "config"), " ")
		}
		edit := func(change setting.SoundingChange) {
			t.Helper()
			if err := b.Inventory.EditSounding(context.Background(), id, true, change, nil); err != nil {
				t.Fatal(err)
			}
		}
		armed := func(a motion.Admission) bool {
			events, _ := a.Guardian["motion_events"].(map[string]any)
			_, told := events["armed"]
			return told && events["sens"] != nil
		}
		if a := b.post(peer(), ""); a.RadarToken == "" || armed(a) {
			t.Errorf("a node is answered %v", a.Guardian["motion_events"])
		}
		if a := b.post(master(), ""); !armed(a) {
			t.Errorf("the master is answered %v", a.Guardian["motion_events"])
		}
		for _, key := range append(leading, peerKey) {
			configs(key)
		}
		off, cooldown := int32(0), int32(61)
		edit(setting.SoundingChange{MotionEventsArmed: &off})
		if sent := configs(peerKey); sent != "" {
			t.Errorf("a node is told of the arming: %s", sent)
		}
		for _, key := range leading {
			if sent := configs(key); !strings.HasPrefix(sent, `{"rev":2,`) || !strings.Contains(sent, `"armed":0`) {
				t.Errorf("%s is told %q", key, sent)
			}
		}
		edit(setting.SoundingChange{Cooldown: &cooldown})
		if sent := configs(peerKey); strings.Contains(sent, "armed") || !strings.Contains(sent, `"cooldown":61`) || !strings.HasPrefix(sent, `{"rev":2,`) {
			t.Errorf("of another change a node is told %q", sent)
		}
		if sent := configs(guardianKey); !strings.HasPrefix(sent, `{"rev":3,`) || !strings.Contains(sent, `"armed":0`) {
			t.Errorf("of another change the guardian is told %q", sent)
		}
	})
}
