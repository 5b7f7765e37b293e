package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// linkEvents returns the stored link events as "kind link", oldest first.
func (b *box) linkEvents() []string {
	b.t.Helper()
	list := []string{}
	for _, e := range b.events(motion.LinkCreatedEvent, motion.LinkConnectedEvent, motion.LinkDisconnectedEvent) {
		list = append(list, e.Event+" "+e.LinkID)
		if e.Category != motion.CategoryLink || e.Armed != nil || e.GuardianID != location || e.NodeName != e.LinkDstName {
			b.t.Errorf("event %+v", e)
		}
	}
	return list
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestStatusReportMakesRecordsAndLinkEvents(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		created := []string{
			"LinkCreatedEvent EXA1000134.02bb00000032", "LinkCreatedEvent GWA1000133.02bb00000031", "LinkCreatedEvent GWA1000133.EXA1000134",
		}
		equal(t, "first report", b.linkEvents(), created)

		time.Sleep(time.Minute)
		gone := status()
		m := gone.Radars[masterName]
		m.Links = m.Links[1:]
		gone.Radars[masterName] = m
		b.report(guardianKey, gone)
		time.Sleep(time.Minute)
		b.report(guardianKey, status())
		equal(t, "a link goes and comes back", b.linkEvents(), append(created,
			"LinkDisconnectedEvent GWA1000133.02bb00000031", "LinkConnectedEvent GWA1000133.02bb00000031"))

		top, err := b.Inventory.Topology(b.network(), false)
		if err != nil || len(top.Devices) != 4 || len(top.Links) != 3 {
			t.Fatalf("topology %+v, %v", top, err)
		}
		leaf := top.Devices[slices.IndexFunc(top.Devices, func(d motion.TopologyDevice) bool { return d.Name == kitchen.Name() })]
		if leaf.Type != motion.LeafRole || leaf.Icon != "LEAF" || leaf.Location != "Kitchen" || leaf.FriendlyName != "kitchen-speaker" || leaf.NodeName != masterName || !leaf.Online {
			t.Errorf("leaf %+v", leaf)
		}
		link := top.Links[1]
		if link.LinkID != masterName+"."+kitchen.Name() || link.Channel != 6 || link.Band != "2.4" || link.RSSI != -59 || link.TxBitrateMbps != 72 || !link.Sounding || !link.Online || link.Type != "LEAF" {
			t.Errorf("link %+v", link)
		}
		if *top.TS != now() {
			t.Errorf("ts %v, want %v", *top.TS, now())
		}
	})
}

func TestUnchangedReportWritesNothing(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		b.linkEvents()
		before := b.transaction()
		time.Sleep(30 * time.Second)
		again := status()
		for name, radar := range again.Radars {
			radar.Uptime, radar.Load = "99", []string{"0.5"}
			for i := range radar.Links {
				radar.Links[i].RSSI, radar.Links[i].TxBitrate = "-70", "1000000"
			}
			again.Radars[name] = radar
		}
		b.report(guardianKey, again)
		b.report(guardianKey, motion.StatusReport{TS: now(), MotionEnabled: 1})
		if after := b.transaction(); after != before {
			t.Errorf("%d commits for reports without news", after-before)
		}
		top, _ := b.Inventory.Topology(b.network(), false)
		if top.Links[1].RSSI != -70 {
			t.Errorf("signal %d, want the newest", top.Links[1].RSSI)
		}
	})
}

// transaction returns the number of the last commit, as bbolt's meta pages count.
func (b *box) transaction() uint64 {
	b.t.Helper()
	synctest.Wait()
	data, err := os.ReadFile(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	page := os.Getpagesize()
	id := func(meta []byte) uint64 { // page header 16, txid at 48
		var v uint64
		for i := range 8 {
			v |= uint64(meta[16+48+i]) << (8 * i)
		}
		return v
	}
	return max(id(data), id(data[page:]))
}

func TestGuardianSpeaksForItsOwnNetworkOnly(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		other := master()
		other.LocationID, other.Radar.DeviceID, other.Radar.NodeName = "second", "csi-other", "GWB2"
		other.Radar.APBSSID2GHz, other.Radar.MeshBSSID, other.Radar.Interfaces = motion.MAC{2, 1}, motion.MAC{2, 2}, nil
		second := b.post(other, "")
		b.connect("second", second.GuardianToken)
		key := motion.DeviceKey{Kind: motion.Guardian, ID: "second"}

		b.refuse(key, status(), fault.Forbidden)
		own := status()
		own.Radars = map[string]motion.Radar{"GWB2": other.Radar}
		radar := own.Radars["GWB2"]
		radar.Links = []motion.RadarLink{{MAC: masterBH, PeerType: motion.PeerMesh}} // a neighbour's node is no end of ours
		own.Radars["GWB2"] = radar
		b.report(key, own)
		if top, err := b.Inventory.Topology(second.Network, true); err != nil || len(top.Links) != 0 {
			t.Errorf("links %+v, %v", top.Links, err)
		}
		b.refuse(masterKey, status(), fault.Forbidden)
		b.refuse(masterKey, matrix(0, 0), fault.Forbidden)
		b.refuse(masterKey, motion.History{TS: now()}, fault.Forbidden)
		b.refuse(guardianKey, motion.RawCSI("CSI1"), fault.Forbidden)
		b.refuse(guardianKey, motion.LinkMotions{TS: now()}, fault.Forbidden)
		b.refuse(masterKey, motion.EventReport{Event: motion.Event{Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, TS: now()}}, fault.Forbidden)
	})
}

func TestHeartbeatRefreshesTheStatus(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		time.Sleep(time.Minute)
		tripped := 1
		b.report(guardianKey, motion.StatusReport{TS: now(), LastMotion: now() - 5, MotionTripped: &tripped, MotionEnabled: 1})
		got, err := b.lastStatus(id)
		if err != nil || got.TS != now() || got.MotionTripped == nil || *got.MotionTripped != 1 || got.LastMotion != now()-5 || len(got.Radars) != 2 {
			t.Errorf("status %+v, %v", got, err)
		}
		time.Sleep(2 * time.Minute)
		if got, err := b.lastStatus(id); err != nil || got.MotionTripped != nil {
			t.Errorf("after two minutes of silence motion_tripped is %v, %v; want null", got.MotionTripped, err)
		}
		if got.NetworkID != id || got.GuardianID != location {
			t.Errorf("status of network %d, guardian %s", got.NetworkID, got.GuardianID)
		}
	})
}

func TestReportOfAWrongClockGetsTheServerTime(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		for _, ts := range []motion.Time{0, now() - 25*3600, now() + 310} {
			time.Sleep(time.Second)
			b.report(guardianKey, motion.StatusReport{TS: ts})
			r := status()
			r.TS = ts
			if ts != 0 {
				r.LastMotion = ts - 5
			}
			b.report(guardianKey, r)
			if got, err := b.lastStatus(id); err != nil || got.TS != now() || got.LastMotion != 0 && got.LastMotion != now()-5 {
				t.Errorf("ts %v became %v, last motion %v, %v, want %v", ts, got.TS, got.LastMotion, err, now())
			}
		}
	})
}

func TestStatusIsComposedWithoutAGuardian(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "")
		if _, err := b.lastStatus(a.Network); fault.KindOf(err) != fault.NotFound {
			t.Errorf("before anything was heard: %v", err)
		}
		b.connect(masterID, a.RadarToken)
		b.report(masterKey, batch(kitchen, masterAP, now(), nil))
		got, err := b.lastStatus(a.Network)
		if err != nil {
			t.Fatal(err)
		}
		radar := got.Radars[masterName]
		if got.ShardID != "local" || got.TS != now() || got.MotionEnabled != 1 || radar.DeviceID != masterID || len(radar.Links) != 1 || len(radar.Interfaces) != 2 {
			t.Errorf("status %+v", got)
		}
		choice := got.Leafblower[kitchen.String()]
		if choice.Sounding == nil || !*choice.Sounding || choice.IsStatic != "MOBILE" || choice.AP[masterName] != 0 || radar.Links[0].RSSI != "-55" {
			t.Errorf("leaf %+v, link %+v", choice, radar.Links[0])
		}
		health, _ := json.Marshal(got.Health["network"])
		if string(health) != `{"links_ok":1,"links_total":1,"score":1}` {
			t.Errorf("health %s", health)
		}
	})
}

func TestClientThatIsNotSoundedIsNoLeaf(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		if err := b.clients(`{"devices":[{"mac":"02:bb:00:00:00:31","sounding_mode":"deny"}]}`); err != nil {
			t.Fatal(err)
		}
		top, err := b.Inventory.Topology(b.network(), false)
		if err != nil {
			t.Fatal(err)
		}
		shown := map[string]string{}
		for _, d := range top.Devices {
			shown[d.Name] = string(d.Type) + " " + d.Icon
		}
		if shown[kitchen.Name()] != "CLIENT DEFAULT" || shown[hallway.Name()] != "LEAF LEAF" {
			t.Errorf("devices %v", shown)
		}
	})
}

func TestTopologyLeavesOutWhatIsOffline(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		time.Sleep(91 * time.Second)
		if top, _ := b.Inventory.Topology(id, false); len(top.Devices) != 0 || len(top.Links) != 0 {
			t.Errorf("after 91 s of silence: %+v", top)
		}
		top, err := b.Inventory.Topology(id, true)
		if err != nil || len(top.Devices) != 4 || len(top.Links) != 3 {
			t.Fatalf("with what is offline: %+v, %v", top, err)
		}
		for _, d := range top.Devices {
			if d.Online {
				t.Errorf("%s is online", d.Name)
			}
		}
		b.report(guardianKey, motion.StatusReport{TS: now()})
		if top, _ := b.Inventory.Topology(id, false); len(top.Links) != 3 {
			t.Errorf("after a heartbeat: %+v", top)
		}
		if _, err := b.Inventory.Topology(id+1, true); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown network: %v", err)
		}
	})
}

func TestPeopleKeepTheirNames(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		top, _ := b.Inventory.Topology(id, true)
		root := top.Devices[0]
		if err := b.Inventory.PlaceNode(context.Background(), root.ID, "Living room", "Gateway"); err != nil {
			t.Fatal(err)
		}
		moved := status()
		radar := moved.Radars[masterName]
		radar.FWVersion = "2.0"
		moved.Radars[masterName] = radar
		b.report(guardianKey, moved)
		top, _ = b.Inventory.Topology(id, true)
		if d := top.Devices[0]; d.Location != "Living room" || d.FriendlyName != "Gateway" || d.Type != motion.MeshRoot || d.IP != "192.168.10.13" {
			t.Errorf("node %+v", d)
		}
		if err := b.Inventory.PlaceNode(context.Background(), 9999, "", ""); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown node: %v", err)
		}
		if err := b.Inventory.PlaceLeaf(context.Background(), id+1, kitchen, "", ""); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown network: %v", err)
		}
	})
}

func TestAppliedRevisionIsKept(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, motion.StatusReport{TS: now(), Rev: 7})
		if err := b.Inventory.PlaceLeaf(context.Background(), id, kitchen, "Pantry", ""); err != nil { // reads the records again
			t.Fatal(err)
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		b.view(func(tx *store.Tx) error {
			n, err := tx.Network(id)
			if n.AppliedRev != 7 {
				t.Errorf("applied revision %d", n.AppliedRev)
			}
			return err
		})
	})
}

// lastStatus returns the last status report of a network.
func (b *box) lastStatus(id motion.NetworkID) (report motion.StatusReport, err error) {
	text, err := b.Inventory.Status(id)
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	return report, err
}
