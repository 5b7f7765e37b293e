package engine_test

import (
	"context"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
)

// A node of another maker, its MAC, and the router that it measures.
const otherNode = "node:ruview:7c2c6742bbac:2"

var (
	otherMAC      = motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xac}
	substitute    = motion.MAC{2, 'R', 'V', 10, 13, 2}
	routerOfOther = motion.MAC{0xa4, 0x2b, 0xb0, 0xc1, 0xd2, 0xe3}
)

// heard asks whether a node of another maker may come in that is heard from an address.
func (b *box) heard(id string, mac motion.MAC, from netip.Addr) (key motion.DeviceKey, receiver motion.MAC, why string) {
	b.t.Helper()
	said := motion.Radar{
		DeviceID: id, NodeName: strings.ReplaceAll(strings.TrimPrefix(id, "node:"), ":", "-"), RootMode: 1, HWID: "ruview",
		Interfaces: []motion.Interface{{Name: "wlan0", Type: "WIFI_CLIENT", MAC: mac, IP: from.String(), WifiChannel: 6}},
	}
	key, receiver, why, err := b.Receiver(context.Background(), said, substitute, motion.Credentials{Address: from, MAC: mac})
	if err != nil {
		b.t.Fatalf("%s: %v", id, err)
	}
	return key, receiver, why
}

// measured is a report of two frames of a link.
func measured(src, dst motion.MAC) motion.RawCSI {
	frame := csi.Frame{RSSI: -50, Noise: csi.NoiseUnknown, Data: make([]byte, 128)}
	return motion.RawCSI(csi.Append(nil, &csi.Batch{
		Src: src, Dst: dst, Start: uint64(time.Now().UnixMicro()), Flags: csi.ImagFirst, Channel: 6, Subcarriers: 64, Frames: []csi.Frame{frame, frame},
	}))
}

func TestNodeOfAnotherMakerFormsANetworkOnTheFirstDay(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		key, receiver, why := b.heard(otherNode, otherMAC, address)
		if why != "" || receiver != otherMAC || key.ID != otherNode {
			t.Fatalf("%v %s %q", key, receiver, why)
		}
		b.report(key, measured(routerOfOther, receiver))
		links, err := b.Sensing.ExplainLinks(0)
		if err != nil || len(links) != 1 || links[0].Link != "ruview-7c2c6742bbac-2.a42bb0c1d2e3" {
			t.Errorf("links %+v, %v", links, err)
		}
		zone := func() string {
			links, err := b.Sensing.ExplainLinks(0)
			if err != nil {
				t.Fatal(err)
			}
			return links[0].Zone
		}
		if err := b.Inventory.PlaceLeaf(context.Background(), b.State.All()[0].ID, routerOfOther, "Hallway", "Router"); err != nil {
			t.Fatal(err)
		}
		if zone() != "Hallway" {
			t.Errorf("a node without a room: its link is in %q, want where its router is", zone())
		}
		node, err := b.Inventory.NodeByDevice(context.Background(), otherNode)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Inventory.PlaceNode(context.Background(), node.ID, "Kitchen", ""); err != nil {
			t.Fatal(err)
		}
		if zone() != "Kitchen" {
			t.Errorf("a node in the kitchen: its link is in %q", zone())
		}
		if list, _, err := b.Devices.DeviceList(context.Background()); err != nil || len(list) != 1 || list[0].State != "online" || list[0].NetworkID == 0 {
			t.Errorf("devices %+v, %v", list, err)
		}
		// Another one with the same address joins the same network, and its links end elsewhere.
		second, receiver, why := b.heard("node:ruview:7c2c6742bbac:3", otherMAC, address)
		if why != "" || receiver != substitute {
			t.Fatalf("the second node: %s %q", receiver, why)
		}
		b.report(second, measured(routerOfOther, receiver))
		if len(b.State.All()) != 1 {
			t.Errorf("%d networks", len(b.State.All()))
		}
		b.State.Disconnected(key, "gone")
		b.stop()
		b.start()
		if _, receiver, why = b.heard(second.ID, otherMAC, address); why != "" || receiver != substitute {
			t.Errorf("after a restart: %s %q", receiver, why)
		}
	})
}

func TestNodeOfAnotherMakerWaitsAndIsLetIn(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.claim(id)
		time.Sleep(25 * time.Hour)
		if _, _, why := b.heard(otherNode, otherMAC, address); why != "waiting for adoption" {
			t.Fatalf("it waits for %q", why)
		}
		pending := b.Devices.Pending()
		if len(pending) != 1 || pending[0].DeviceID != otherNode || pending[0].NetworkID != id {
			t.Fatalf("pending %+v", pending)
		}
		if _, err := b.Devices.Adopt(context.Background(), pending[0].ID, id); err != nil {
			t.Fatal(err)
		}
		key, receiver, why := b.heard(otherNode, otherMAC, address)
		if why != "" {
			t.Fatalf("approved: %q", why)
		}
		if !slices.ContainsFunc(b.told(), func(s string) bool { return strings.HasPrefix(s, "Adopted "+otherNode) }) {
			t.Errorf("events %q", b.told())
		}
		b.report(key, measured(routerOfOther, receiver))
		if err := b.Devices.RemoveDevice(context.Background(), otherNode); err != nil {
			t.Fatal(err)
		}
		if err := b.Report(context.Background(), key, measured(routerOfOther, receiver)); err == nil || fault.KindOf(err) != 0 {
			t.Errorf("removed, its report is answered %v", err)
		}
		if _, _, why := b.heard(otherNode, otherMAC, address); why != "waiting for adoption" {
			t.Errorf("removed, it waits for %q", why)
		}
	})
}

func TestNodeThatLooksLikeAnotherOneWaitsInAnOpenWindow(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		if _, _, why := b.heard(otherNode, otherMAC, address); why != "" {
			t.Fatal(why)
		}
		like := "node:ruview:7c2c6742bbad:2"
		if _, _, why := b.heard(like, motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xad}, address); !strings.HasPrefix(why, "it looks like another device") {
			t.Errorf("it waits for %q", why)
		}
		if _, _, why := b.heard(like, motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xad}, elsewhere); why != "" {
			t.Errorf("at another address it waits for %q", why)
		}
	})
}

func TestNodeOfAnotherMakerWhereThereAreSeveralNetworks(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		first := b.home()
		b.claim(first)
		other := master()
		other.LocationID, other.Radar.DeviceID, other.Radar.NodeName = "second", "csi-other", "GWB2"
		other.Radar.APBSSID2GHz, other.Radar.MeshBSSID, other.Radar.Interfaces = motion.MAC{2, 1}, motion.MAC{2, 2}, nil
		second := b.postFrom(elsewhere, other, "").Network
		b.claim(second)
		time.Sleep(25 * time.Hour)
		if _, _, why := b.heard(otherNode, otherMAC, address); !strings.HasPrefix(why, "several networks are here") {
			t.Fatalf("it waits for %q", why)
		}
		if _, err := b.Devices.Adopt(context.Background(), otherNode, second); err != nil {
			t.Fatal(err)
		}
		key, _, why := b.heard(otherNode, otherMAC, address)
		device, err := b.Inventory.NodeByDevice(context.Background(), key.ID)
		if why != "" || err != nil || device.NetworkID != second {
			t.Errorf("%q, network %d of %d, %v", why, device.NetworkID, second, err)
		}
		named := "node:ruview:7c2c6742bbae:1"
		if _, _, why := b.heard(named, motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xae}, elsewhere); !strings.HasPrefix(why, "several networks") {
			t.Errorf("another one waits for %q", why)
		}
		b.stop()
		b.options.NodesNetwork = first
		b.start()
		if _, err := b.Devices.OpenAdoption(context.Background(), first, 600); err != nil {
			t.Fatal(err)
		}
		if _, _, why := b.heard(named, motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xae}, elsewhere); why != "" {
			t.Errorf("in the window of the network that is configured it waits for %q", why)
		}
	}, func(o *engine.Options) { o.Readopt = true })
}

func TestGatekeeperTakesNoNodeOfAnotherMaker(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		p := newcomer(location, 1)
		for _, id := range []string{otherNode, "node:", "NODE:x"} {
			p.Radar.DeviceID = id
			if _, err := b.Devices.Admit(context.Background(), p, motion.Credentials{Address: address}); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", id, err)
			}
		}
		if _, err := b.Devices.Admit(context.Background(), p, motion.Credentials{Address: address}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v", err)
		}
		said := motion.Radar{DeviceID: "csi-new", NodeName: "x", Interfaces: make([]motion.Interface, 1)}
		if _, _, _, err := b.Receiver(context.Background(), said, substitute, motion.Credentials{Address: address}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a device of ours comes in without its token: %v", err)
		}
	})
}

func TestNodeThatDecidesItselfDecidesAlone(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		var keys []motion.DeviceKey
		var receivers []motion.MAC
		for i := range byte(3) {
			mac := motion.MAC{2, 0, 0, 0, 9, i}
			key, receiver, why := b.heard("node:mqtt:esp-"+string(rune('a'+i)), mac, address)
			if why != "" {
				t.Fatal(why)
			}
			keys, receivers = append(keys, key), append(receivers, receiver)
		}
		id := b.State.All()[0].ID
		said := func(seconds int, values ...float64) {
			for range 2 * seconds {
				time.Sleep(500 * time.Millisecond)
				for i, key := range keys {
					b.report(key, motion.LinkMotions{TS: now(), Interval: 500, Links: []motion.LinkMotion{{
						Src: motion.MAC{2, 0, 0, 0, 8, byte(i)}, Dst: receivers[i], MKAI: values[i], LRaw: math.NaN(), Throughput: math.NaN(), Decides: true,
					}}})
				}
			}
		}
		said(40, 0, 0, 0)
		live := b.watch(id)
		drain(t, live)
		said(5, 0.9, 0, 0)
		tripped := false
		for _, f := range frames(t, live) {
			tripped = tripped || f.MotionTripped != nil && *f.MotionTripped == 1
		}
		if !tripped {
			t.Error("one of three nodes says that it sees motion, and nothing follows")
		}
		links, err := b.Sensing.ExplainLinks(id)
		if err != nil || len(links) != 3 || links[0].Can != "decides" {
			t.Errorf("links %+v, %v", links, err)
		}
	})
}

func TestNodesOfOtherMakersTakeAPartOfTheWaitingList(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.claim(b.home())
		time.Sleep(25 * time.Hour)
		b.wantWaiting(elsewhere, extender("EXTNEW"), "", "waiting for adoption")
		for i := range 100 {
			from := netip.AddrFrom4([4]byte{192, 168, 20, byte(i)})
			mac := motion.MAC{2, 0, 0, 0, 7, byte(i)}
			b.heard(motion.NodeDeviceID(motion.RuView, mac.Name(), "1"), mac, from)
		}
		if list := b.Devices.Pending(); len(list) != 65 || !slices.ContainsFunc(list, func(p motion.PendingDevice) bool { return p.DeviceID == "EXTNEW" }) {
			t.Errorf("%d wait", len(list))
		}
	})
}
