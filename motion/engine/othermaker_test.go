package engine_test

import (
	"context"
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
		p.Radar.DeviceID = otherNode
		if _, err := b.Devices.Admit(context.Background(), p, motion.Credentials{Address: address}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v", err)
		}
		said := motion.Radar{DeviceID: "csi-new", NodeName: "x", Interfaces: make([]motion.Interface, 1)}
		if _, _, _, err := b.Receiver(context.Background(), said, substitute, motion.Credentials{Address: address}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a device of ours comes in without its token: %v", err)
		}
	})
}
