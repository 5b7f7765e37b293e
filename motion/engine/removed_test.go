package engine_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
)

// nodes returns the nodes of the network as "deviceId node_id", in order.
func (b *box) nodes() []string {
	b.t.Helper()
	list, err := b.Inventory.Nodes(b.network())
	if err != nil {
		b.t.Fatal(err)
	}
	names := []string{}
	for _, node := range list {
		names = append(names, node.DeviceID+" "+node.Name)
	}
	slices.Sort(names)
	return names
}

const (
	masterNode = masterID + " " + masterName
	peerNode   = peerID + " " + peerName
)

func TestDeletedNodeStaysDeletedUntilItIsAdopted(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		window := func() {
			if _, err := b.Devices.OpenAdoption(context.Background(), 0, 60); err != nil {
				t.Fatal(err)
			}
		}
		window()
		id := b.home()
		time.Sleep(2 * time.Minute)
		b.report(guardianKey, status())
		node, err := b.Inventory.NodeByDevice(context.Background(), peerID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Devices.DeleteNode(context.Background(), node.ID); err != nil {
			t.Fatal(err)
		}
		gone := func(when string) {
			t.Helper()
			equal(t, when, b.nodes(), []string{masterNode})
			report, err := b.lastStatus(id)
			if err != nil || len(report.Radars) != 1 {
				t.Errorf("%s: status %+v, %v", when, report.Radars, err)
			}
			topology, err := b.Inventory.Topology(id, true)
			if err != nil || slices.ContainsFunc(topology.Devices, func(d motion.TopologyDevice) bool { return d.Name == peerName }) {
				t.Errorf("%s: topology %+v, %v", when, topology, err)
			}
		}
		gone("after the deletion")
		for range 3 {
			time.Sleep(time.Minute)
			b.report(guardianKey, status())
		}
		gone("after more reports")
		b.stop()
		b.start()
		b.reconnectMaster()
		b.report(guardianKey, status())
		gone("after a restart")
		if a := b.postFrom(netip.MustParseAddr("192.168.10.77"), peer(), ""); a.TryAgain == "" {
			t.Fatalf("it was adopted: %+v", a)
		}
		b.report(guardianKey, status())
		gone("while it waits")
		window()
		b.post(peer(), "")
		b.report(guardianKey, status())
		equal(t, "adopted again", b.nodes(), []string{masterNode, peerNode})
	}, func(o *engine.Options) { o.FirstWindow = 0 })
}

// reconnectMaster logs master and guardian in again after a restart.
func (b *box) reconnectMaster() {
	b.t.Helper()
	a := b.post(master(), "")
	b.connect(location, a.GuardianToken)
	b.connect(masterID, a.RadarToken)
}

func TestReportGivesNoAdoptedNodeAway(t *testing.T) {
	const evil = "csi-e-02ee00000110"
	for name, c := range map[string]struct {
		device, node string   // as the guardian reports a third node
		want         []string // besides master and peer
		refused      bool
	}{
		"a new node":                             {evil, "EVIL", []string{evil + " EVIL"}, false},
		"another device under an adopted name":   {evil, peerName, nil, true},
		"an adopted device under another's name": {peerID, masterName, nil, true},
		"an adopted device under a new name":     {peerID, "OTHER", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.report(guardianKey, status())
				r := status()
				radar := peer().Radar
				radar.DeviceID, radar.NodeName, radar.APBSSID2GHz, radar.MeshBSSID = c.device, c.node, motion.MAC{2, 0xee, 1}, motion.MAC{2, 0xee, 2}
				r.Radars["third"] = radar
				for range 2 {
					b.report(guardianKey, r)
					want := append([]string{peerNode, masterNode}, c.want...)
					slices.Sort(want)
					equal(t, "nodes", b.nodes(), want)
				}
				noted := false
				devices, _, err := b.Devices.DeviceList(context.Background())
				for _, d := range devices {
					noted = noted || d.ID == location && len(d.Refused) > 0
				}
				if err != nil || noted != c.refused {
					t.Errorf("noted %v, %v", noted, err)
				}
				if b.post(peer(), "").TryAgain != "" {
					t.Error("the adopted device is not let in any more")
				}
			})
		})
	}
}

// A device that never posted has no claim; one that posted without a node_id gets the
// one that its guardian knows.
func TestReportNamesNodesThatHaveNoName(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		nameless := peer()
		nameless.Radar.DeviceID, nameless.Radar.NodeName = "csi-n-1", ""
		nameless.Radar.APBSSID2GHz, nameless.Radar.MeshBSSID = motion.MAC{2, 0xee, 1}, motion.MAC{2, 0xee, 2}
		b.post(nameless, "")
		r := status()
		named, told := nameless.Radar, nameless.Radar
		named.NodeName = "NAMED"
		told.DeviceID, told.NodeName, told.APBSSID2GHz, told.MeshBSSID = "csi-t-1", "TOLD", motion.MAC{2, 0xee, 3}, motion.MAC{2, 0xee, 4}
		r.Radars["NAMED"], r.Radars["TOLD"] = named, told
		b.report(guardianKey, r)
		told.DeviceID = "csi-t-2" // it was exchanged
		r.Radars["TOLD"] = told
		b.report(guardianKey, r)
		want := []string{peerNode, masterNode, "csi-n-1 NAMED", "csi-t-2 TOLD"}
		slices.Sort(want)
		equal(t, "nodes", b.nodes(), want)
		if err := b.Report(context.Background(), guardianKey, motion.StatusReport{TS: now(), Radars: map[string]motion.Radar{"x": {DeviceID: "a b", NodeName: "x"}}}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a name that is none: %v", fmt.Sprint(err))
		}
	})
}
