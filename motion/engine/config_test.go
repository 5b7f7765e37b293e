package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/motion/shape"
	"sensegate/store"
)

// object returns a JSON object.
func object(t *testing.T, raw string) (value motion.Document) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return value
}

// sound changes sounding settings, which must be taken.
func (b *box) sound(raw string) {
	b.t.Helper()
	var found fault.Details
	change := shape.Read[setting.SoundingChange](&found, "body", map[string]any(object(b.t, raw)))
	if err := b.Inventory.EditSounding(context.Background(), b.network(), false, change, found); err != nil {
		b.t.Fatalf("%s: %v", raw, err)
	}
}

// clients changes sounding clients and returns what came of it.
func (b *box) clients(raw string) error {
	b.t.Helper()
	var found fault.Details
	changes := shape.Read[setting.SoundingClientChanges](&found, "body", map[string]any(object(b.t, raw)))
	return b.Inventory.EditClients(context.Background(), b.network(), false, changes.Devices, found)
}

// client returns a client as sounding sees it.
func (b *box) client(mac motion.MAC) inventory.SoundingLeaf {
	b.t.Helper()
	synctest.Wait()
	all, err := b.Inventory.SoundingClients(b.network())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, leaf := range all.Leafs {
		if leaf.MAC == mac {
			return leaf
		}
	}
	b.t.Fatalf("%s is not listed", mac)
	return inventory.SoundingLeaf{}
}

func TestShorterCooldownEndsAnOpenDetectionEarlier(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.send(10, 0.4, 0)
		b.sound(`{"cooldown":5}`)
		b.send(8, 0, 0)
		if got := fmt.Sprint(b.kinds()); got != "[MotionDetectedEvent MotionStoppedEvent]" {
			t.Errorf("events %s", got)
		}
	})
}

func TestPauseEndsDetectionAndItsEndSensesAgain(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.send(10, 0.4, 0)
		b.sound(`{"motion_paused":1}`)
		b.send(10, 0.4, 0)
		if got := fmt.Sprint(b.kinds()); got != "[MotionDetectedEvent MotionStoppedEvent]" {
			t.Errorf("paused: events %s", got)
		}
		cooldown := int32(7)
		if err := b.Inventory.EditSounding(context.Background(), b.network(), false, setting.SoundingChange{Cooldown: &cooldown}, nil); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a change while paused: %v", err)
		}
		if err := b.clients(`{"devices":[{"mac":"02:bb:00:00:00:31","sounding_mode":"deny"}]}`); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a client's change while paused: %v", err)
		}
		if err := b.clients(`{"devices":[{"mac":"02:bb:00:00:00:31","location":"Larder"}]}`); err != nil {
			t.Errorf("a place while paused: %v", err)
		}
		b.sound(`{"motion_paused":0}`)
		b.send(10, 0.4, 0)
		if got := len(b.kinds()); got != 3 {
			t.Errorf("after the pause: %v", b.kinds())
		}
	})
}

func TestZonePriorityDecidesWhereMotionIs(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.sound(`{"zone_priority_list":["Hallway"],"cooldown":5}`)
		b.send(10, 0.4, 0.4)
		b.send(8, 0, 0)
		detected := b.events(motion.MotionDetectedEvent)
		if len(detected) != 1 || detected[0].LocName != "Hallway" {
			t.Errorf("detected %+v", detected)
		}
	})
}

func TestDeniedClientIsNotSensedHere(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		from := now().Second()
		for range 20 {
			time.Sleep(500 * time.Millisecond)
			b.report(masterKey, linkMotion(0.5))
		}
		if c := b.client(kitchen); !c.Status || c.Reason != "N/A" || c.Mode != "allow" || len(c.Links) != 1 || c.Score <= 0 {
			t.Errorf("allowed: %+v", c)
		}
		if err := b.clients(`{"devices":[{"mac":"02-BB-00-00-00-31","sounding_mode":"deny"}]}`); err != nil {
			t.Fatal(err)
		}
		denied := now().Second() + 3
		for range 20 {
			time.Sleep(500 * time.Millisecond)
			b.report(masterKey, linkMotion(0.5))
		}
		if c := b.client(kitchen); c.Status || c.Reason != "DENIED" || c.Mode != "deny" || !c.Online {
			t.Errorf("denied: %+v", c)
		}
		if got := b.points(denied, now().Second()-1, 1); strings.Trim(got, "nul ") != "" {
			t.Errorf("samples of a denied client: %s", got)
		}
		if got := b.points(from, denied-4, 1); strings.Trim(got, "nul ") == "" {
			t.Errorf("no samples while it was allowed: %s", got)
		}
	})
}

func TestReasonsAreThoseOfTheLinks(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		if c := b.client(kitchen); c.Reason != "OFFLINE" || c.Online || c.Score != -1 {
			t.Errorf("never heard: %+v", c)
		}
		report := status()
		no := false
		report.Leafblower[kitchen.String()] = motion.Choice{Sounding: &no, AP: map[string]float64{masterName: 0.12, peerName: -0.4}}
		b.report(guardianKey, report)
		if c := b.client(kitchen); c.Reason != "N/A" || c.Status || !c.Online || c.Score != 0.12 {
			t.Errorf("not chosen: %+v", c)
		}
		if c := b.client(hallway); !c.Status || c.DeviceInfo.Hostname != "hall-plug" {
			t.Errorf("sounded: %+v", c)
		}
		for _, step := range []struct{ set, reason string }{
			{`{"leafblower_cutoff":0.5}`, "LOW_SCORE"}, {`{"leafblower_cutoff":-1.1,"link_limit":1}`, "LINK_LIMIT"}, {`{"sounding_mode":"deny"}`, "DENIED"}, {`{"motion_paused":1}`, "PAUSED"},
		} {
			b.sound(step.set)
			if c := b.client(kitchen); c.Reason != step.reason || c.Status {
				t.Errorf("%s: %+v", step.set, c)
			}
		}
		b.sound(`{"motion_paused":0}`)
		b.sound(`{"sounding_mode":"allow"}`)
		if err := b.clients(`{"devices":[{"mac":"02:bb:00:00:00:31","location":""}]}`); err != nil {
			t.Fatal(err)
		}
		if c := b.client(kitchen); c.Reason != "MOBILE" {
			t.Errorf("without a place: %+v", c)
		}
		time.Sleep(2 * time.Minute)
		if c := b.client(hallway); c.Reason != "OFFLINE" || c.Status {
			t.Errorf("silent: %+v", c)
		}
	})
}

func TestMultiLinkDeviceIsNeitherListedNorConfigurable(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		report := status()
		radar := report.Radars[masterName]
		radar.Links[0].MLDMAC = motion.MAC{2, 0xbb, 1, 0, 0, 0x31}
		b.report(guardianKey, report)
		synctest.Wait()
		all, err := b.Inventory.SoundingClients(b.network())
		if err != nil || len(all.Leafs) != 1 || all.Leafs[0].MAC != hallway {
			t.Errorf("listed: %+v %v", all.Leafs, err)
		}
		err = b.clients(`{"devices":[{"mac":"02:bb:00:00:00:32","location":"Attic"},{"mac":"02:bb:00:00:00:31","location":"Attic"}]}`)
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("configured: %v", err)
		}
		if c := b.client(hallway); c.Location != "Hallway" {
			t.Errorf("something was applied: %+v", c)
		}
	})
}

func TestEveryMistakeOfClientsIsToldAndNothingApplied(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		err := b.clients(`{"devices":[{"mac":"02:bb:00:00:00:31","location":"Küche 2"},{"mac":"02:bb:00:00:00:99"},{"id":1,"sounding_mode":"deny"},
			{"mac":"02:bb:00:00:00:32","sounding_mesh":"deny","sensitivity":2},{"mac":"02:BB:00:00:00:31","friendly_name":"a/b"},{"location":"x"},
			{"id":1,"mac":"02:bb:00:00:00:31"},{"device_id":"csi-a-02aa00000210","sensitivity_mode":"override","colour":1}]}`)
		var f *fault.Error
		if !errors.As(err, &f) {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, d := range f.Details {
			got[d.Location] = true
		}
		for _, at := range []string{"[1]", "[2].sounding_mode", "[3].sounding_mesh", "[3].sensitivity", "[4].friendly_name", "[4]", "[5]", "[6]", "[7].colour", "[7].sensitivity"} {
			if !got["body.devices"+at] {
				t.Errorf("nothing about %s: %+v", at, f.Details)
			}
		}
		if c := b.client(kitchen); c.Location != "Kitchen" || c.Mode != "allow" {
			t.Errorf("something was applied: %+v", c)
		}
	})
}

func TestOverrideReachesTheClientAndGlobalTakesItBack(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		steps := []struct{ set, want string }{
			{`{"devices":[{"mac":"02:bb:00:00:00:31","sensitivity_mode":"override","sensitivity":3}]}`, "override 3"},
			{`{"devices":[{"mac":"02:bb:00:00:00:31","sensitivity":4}]}`, "override 4"},
			{`{"devices":[{"mac":"02:bb:00:00:00:31","sensitivity_mode":"global"}]}`, "global 1"},
		}
		for _, s := range steps {
			if err := b.clients(s.set); err != nil {
				t.Fatalf("%s: %v", s.set, err)
			}
			if c := b.client(kitchen); fmt.Sprint(c.SensitivityMode, " ", c.Sensitivity) != s.want {
				t.Errorf("%s: %+v", s.set, c)
			}
		}
		value, err := b.Inventory.RadarConfig(id, "sounding")
		if sounding, _ := value.(map[string]any); err != nil || len(sounding["clients"].(map[string]any)) != 0 {
			t.Errorf("left behind: %v %v", value, err)
		}
	})
}

func TestNodeIsDeniedMeshSounding(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		if err := b.clients(`{"devices":[{"device_id":"csi-a-02aa00000210","sounding_mesh":"deny","location":"Hall","sensitivity_mode":"override","sensitivity":2}]}`); err != nil {
			t.Fatal(err)
		}
		settings, err := b.Inventory.SoundingSettings(id)
		if err != nil || fmt.Sprint(settings.MeshSoundingDisabled) != "[csi-a-02aa00000210]" {
			t.Errorf("settings %+v %v", settings, err)
		}
		all, err := b.Inventory.SoundingClients(id)
		if err != nil || len(all.Nodes) != 2 || all.Nodes[1].Mesh != "deny" || all.Nodes[1].Location != "Hall" || all.Nodes[1].Sensitivity != 2 || !all.Nodes[1].IsExtender {
			t.Errorf("nodes %+v %v", all.Nodes, err)
		}
		if root := all.Nodes[0]; !root.IsRoot || root.Score != -1 || root.Status || root.Reason != "N/A" || root.SensitivityMode != "global" {
			t.Errorf("root %+v", root)
		}
	})
}

func TestPushReachesEveryDeviceAndTheNextConnection(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		keys := []motion.DeviceKey{guardianKey, masterKey, peerKey}
		for _, key := range keys {
			b.devices.commands(key, "config")
		}
		b.sound(`{"cooldown":33}`)
		for _, key := range keys {
			if got := b.devices.commands(key, "config"); len(got) != 0 {
				t.Errorf("%s was sent %v without update", key, got)
			}
		}
		p, err := b.Inventory.Propagate(context.Background(), id)
		if err != nil || !p.Propagated || p.Rev != 2 || p.AppliedRev != 0 {
			t.Errorf("propagation %+v %v", p, err)
		}
		for _, key := range keys {
			got := b.devices.commands(key, "config")
			if len(got) != 1 || !strings.Contains(got[0], `"rev":2`) || !strings.Contains(got[0], `"cooldown":33`) {
				t.Errorf("%s was sent %v", key, got)
			}
		}
		b.State.Disconnected(peerKey, "gone")
		if err := b.Inventory.EditGuardian(context.Background(), id, true, setting.Edit{Body: object(t, `{"motion_events":{"cooldown":34}}`)}); err != nil {
			t.Fatal(err)
		}
		b.devices.commands(peerKey, "config")
		b.connect(peerID, b.post(peer(), "").RadarToken)
		if got := b.devices.commands(peerKey, "config"); len(got) != 1 || !strings.Contains(got[0], `"rev":3`) || !strings.Contains(got[0], `"cooldown":34`) {
			t.Errorf("on its return the device was sent %v", got)
		}
		report := status()
		report.Rev = 3
		b.report(guardianKey, report)
		if p, err := b.Inventory.Propagate(context.Background(), id); err != nil || p.AppliedRev != 3 {
			t.Errorf("applied: %+v %v", p, err)
		}
	})
}

func TestChangeConfigIsAllOrNothing(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		_, err := b.Inventory.ChangeConfig(context.Background(), id, true, func(tx *store.Tx, n *motion.Network) error {
			n.Meta = motion.Document{"motion_paused": 1.0}
			if err := tx.PutNetwork(*n); err != nil {
				return err
			}
			return fault.New(fault.Invalid, "no")
		})
		state, found := b.Inventory.NetworkState(id)
		if fault.KindOf(err) != fault.Invalid || found != nil || state.ConfigRev != 1 || state.Paused() {
			t.Errorf("%v %v: %+v", err, found, state.Network)
		}
		if _, err := b.Inventory.ChangeConfig(context.Background(), 77, true, nil); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown network: %v", err)
		}
	})
}

// radarConfig changes the radar configuration, which must be taken.
func (b *box) radarConfig(raw string) {
	b.t.Helper()
	if err := b.Inventory.EditRadar(context.Background(), b.network(), false, setting.Edit{Body: object(b.t, raw)}); err != nil {
		b.t.Fatalf("%s: %v", raw, err)
	}
}

// guardianConfig changes the guardian configuration likewise.
func (b *box) guardianConfig(raw string) {
	b.t.Helper()
	if err := b.Inventory.EditGuardian(context.Background(), b.network(), false, setting.Edit{Body: object(b.t, raw)}); err != nil {
		b.t.Fatalf("%s: %v", raw, err)
	}
}
