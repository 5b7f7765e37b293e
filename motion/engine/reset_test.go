package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
)

// setMeta merges into meta, which must be taken.
func (b *box) setMeta(raw string) {
	b.t.Helper()
	if err := b.Inventory.EditMeta(context.Background(), b.network(), false, setting.Edit{Body: object(b.t, raw)}); err != nil {
		b.t.Fatalf("%s: %v", raw, err)
	}
}

// meta returns meta, or a key of it, as JSON.
func (b *box) meta(key string) string {
	b.t.Helper()
	value, err := b.Inventory.Meta(b.network(), key)
	if err != nil {
		b.t.Fatal(err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw)
}

func TestMetaAndLeafsAreOneTruth(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		if got := b.meta("location"); got != `{"02:bb:00:00:00:31":"Kitchen","02:bb:00:00:00:32":"Hallway"}` {
			t.Errorf("location %s", got)
		}
		b.setMeta(`{"location":{"02:bb:00:00:00:31":null,"02:bb:00:00:00:32":"","02:bb:00:00:00:77":"Attic"},"friendly_name":{"02:bb:00:00:00:31":"Speaker"}}`)
		if got := b.meta("location"); got != `{"02:bb:00:00:00:32":"","02:bb:00:00:00:77":"Attic"}` {
			t.Errorf("location after the merge %s", got)
		}
		if c := b.client(kitchen); c.Location != "" || c.FriendlyName != "Speaker" {
			t.Errorf("kitchen %+v", c)
		}
		if c := b.client(motion.MAC{2, 0xbb, 0, 0, 0, 0x77}); c.Location != "Attic" {
			t.Errorf("a leaf that was not seen yet: %+v", c)
		}
		if err := b.Inventory.PlaceLeaf(context.Background(), id, hallway, "Hall", "Plug"); err != nil {
			t.Fatal(err)
		}
		if got := b.meta("friendly_name"); got != `{"02:bb:00:00:00:31":"Speaker","02:bb:00:00:00:32":"Plug"}` {
			t.Errorf("friendly_name %s", got)
		}
		b.sound(`{"sensitivity":3}`)
		if got := b.meta("home"); got != `{"cooldown":120,"sens":3,"sensitivity_level":"low"}` {
			t.Errorf("home %s", got)
		}
		if got := b.Inventory.NetworksByMeta(func(meta motion.Document) bool { return meta["friendly_name"] != nil }); len(got) != 1 {
			t.Errorf("found by friendly_name: %v", got)
		}
		err := b.Inventory.EditMeta(context.Background(), id, false, setting.Edit{Body: object(t, `{"note":"x","location":{"`+masterAP.String()+`":"Office"}}`)})
		if fault.KindOf(err) != fault.Invalid || strings.Contains(b.meta(""), "note") {
			t.Errorf("an address of a node: %v, meta %s", err, b.meta(""))
		}
	})
}

func TestResetEmptiesStatusAndTopologyUntilDevicesReport(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		b.setMeta(`{"guardian_env":"local","note":"x","home":{"sens":2}}`)
		time.Sleep(time.Second)
		if err := b.Inventory.Reset(context.Background(), id, inventory.Keep{Meta: []string{"guardian_env"}}, true); err != nil {
			t.Fatal(err)
		}
		wantEmpty := func(when string) {
			t.Helper()
			synctest.Wait()
			topology, err := b.Inventory.Topology(id, true)
			raw, _ := json.Marshal(topology)
			if err != nil || string(raw) != `{"ts":null,"devices":[],"links":[]}` {
				t.Errorf("%s: topology %s %v", when, raw, err)
			}
			if _, err := b.lastStatus(id); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: status %v", when, err)
			}
		}
		wantEmpty("afterwards")
		if got := b.meta(""); got != `{"guardian_env":"local"}` {
			t.Errorf("meta %s", got)
		}
		state, err := b.Inventory.NetworkState(id)
		if err != nil || state.Guardian().MotionEvents.Sens != 1 {
			t.Errorf("network %+v %v", state, err)
		}
		if got := b.devices.commands(masterKey, "config"); !strings.Contains(got[len(got)-1], `"sens":1`) {
			t.Errorf("sent %v", got)
		}
		if err := b.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		b.stop()
		b.start()
		wantEmpty("after a restart")
		b.reconnect()
		time.Sleep(time.Second)
		b.report(guardianKey, status())
		synctest.Wait()
		topology, err := b.Inventory.Topology(id, false)
		if err != nil || len(topology.Devices) != 4 || len(topology.Links) != 3 || topology.TS == nil {
			t.Errorf("after a report: %+v %v", topology, err)
		}
	})
}

func TestResetEndsOpenCommands(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		sent, waits := b.create(b.ping(masterID), "011"), b.create(b.ping(peerID), "011")
		b.report(masterKey, result(sent, "200"))
		if err := b.Inventory.Reset(context.Background(), b.network(), inventory.Keep{}, false); err != nil {
			t.Fatal(err)
		}
		b.wantState(sent, "200")
		b.wantState(waits, "409")
	})
}

func TestResetKeepsWhatItIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		keep inventory.Keep
		want string
	}{
		"nothing":  {inventory.Keep{}, "sens 1, cooldown 120, mode allow, meta {}, status false"},
		"guardian": {inventory.Keep{Guardian: true}, `sens 2, cooldown 60, mode allow, meta {"home":{"cooldown":60,"sens":2,"sensitivity_level":"medium"}}, status false`},
		"radar":    {inventory.Keep{Radar: true}, "sens 1, cooldown 120, mode deny, meta {}, status false"},
		"status":   {inventory.Keep{Status: true}, "sens 1, cooldown 120, mode allow, meta {}, status true"},
		"meta": {inventory.Keep{Meta: []string{"home", "location", "note"}},
			`sens 2, cooldown 60, mode allow, meta {"home":{"cooldown":60,"sens":2,"sensitivity_level":"medium"},"location":{"02:bb:00:00:00:31":"Kitchen","02:bb:00:00:00:32":"Hallway"},"note":"x"}, status false`},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				id := b.home()
				b.report(guardianKey, status())
				b.sound(`{"sensitivity":2,"cooldown":60,"sounding_mode":"deny"}`)
				b.setMeta(`{"note":"x","motion_paused":1,"guardian_env":"local"}`)
				if err := b.Inventory.Reset(context.Background(), id, c.keep, false); err != nil {
					t.Fatal(err)
				}
				settings, err := b.Inventory.SoundingSettings(id)
				if err != nil {
					t.Fatal(err)
				}
				_, err = b.lastStatus(id)
				got := fmt.Sprintf("sens %d, cooldown %d, mode %s, meta %s, status %t", settings.Sensitivity, settings.Cooldown, settings.SoundingMode, b.meta(""), err == nil)
				if got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		})
	}
}

func TestDeviceInfoIsKeptShownAndSent(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		b.State.Disconnected(peerKey, "gone")
		info := motion.DeviceInfo{MAC: kitchen, Hostname: "kitchen-speaker", Brand: "Acme", ModelNumber: "S1-CA"}
		if err := b.Devices.DescribeDevice(context.Background(), id, info); err != nil {
			t.Fatal(err)
		}
		info.TS = now()
		synctest.Wait()
		topology, err := b.Inventory.Topology(id, true)
		shown := false
		for _, d := range topology.Devices {
			shown = shown || d.DeviceInfo == any(info)
		}
		if err != nil || !shown {
			t.Errorf("topology %+v %v", topology, err)
		}
		if c := b.client(kitchen); c.DeviceInfo != info {
			t.Errorf("client %+v", c)
		}
		for key, want := range map[motion.DeviceKey]int{guardianKey: 1, masterKey: 1, peerKey: 0} {
			got := b.devices.commands(key, "device-info")
			if len(got) != want || want == 1 && !strings.Contains(got[0], `"modelNumber":"S1-CA"`) {
				t.Errorf("%s was sent %v", key, got)
			}
		}
		for _, mac := range []motion.MAC{masterAP, {2, 0xdd, 0, 0, 0, 1}} { // a node's own, and one that nobody knows
			info.MAC = mac
			if err := b.Devices.DescribeDevice(context.Background(), id, info); err != nil {
				t.Errorf("%s: %v", mac, err)
			}
			if got := b.devices.commands(guardianKey, "device-info"); len(got) != 1 || !strings.Contains(got[0], mac.String()) {
				t.Errorf("of %s the guardian was sent %v", mac, got)
			}
		}
		if all, err := b.Inventory.SoundingClients(id); err != nil || len(all.Leafs) != 2 {
			t.Errorf("clients %+v, %v", all.Leafs, err)
		}
		if after, err := b.Inventory.Topology(id, true); err != nil || len(after.Devices) != len(topology.Devices) {
			t.Errorf("topology %+v, %v", after, err)
		}
		if err := b.Devices.DescribeDevice(context.Background(), 77, info); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown network: %v", err)
		}
		b.report(guardianKey, motion.DeviceInfoAck{MAC: kitchen})
	})
}
