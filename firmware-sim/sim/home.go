package sim

import (
	"encoding/hex"
	"fmt"
	"time"

	"sensegate/motion"
)

// Home is a simulated home: what stands where. It is read only after it was
// given to New or Backfill.
type Home struct {
	GuardianID string // location_id, and the client id of the guardian
	Nodes      []Node // Nodes[0] is the master; the others are meshed to it
	Leafs      []Leaf
	Local      *time.Location // the day plan's time zone; nil = UTC
}

// Node is an access point or extender of the home.
type Node struct {
	Name         string // stable wire name, such as GWA1000133
	DeviceID     string
	FriendlyName string
	Location     string
	IP           string
	Eth          motion.MAC
	AP24, AP5    motion.MAC // ap_bssid_2ghz, ap_bssid_5ghz
	Mesh         motion.MAC // mesh_bssid
}

// Leaf is a Wi-Fi client of the home.
type Leaf struct {
	MAC          motion.MAC
	Node         int // index of the node it is attached to
	Hostname     string
	FriendlyName string
	Location     string
	DeviceType   string
	IP           string
}

// Link is one sounding link of the home.
type Link struct {
	Name             string // dst_name.src_name
	Src, Dst         motion.MAC
	SrcName, DstName string
	Leaf             int // index of the source leaf, -1 for a mesh link
	Node             int // index of the destination node
	Peer             int // index of the source node of a mesh link, -1 otherwise
	Channel          int
	RSSI             int // dBm
	near             map[string]float64
}

// Near returns how strongly somebody moving in location disturbs the link, 0..1.
func (l Link) Near(location string) float64 { return l.near[location] }

const (
	channel24   = 1
	channelMesh = 157
)

// NewHome returns the default home: a guardian with its access point, two
// extenders and nine leafs in six locations. Homes of another index, 0..255,
// differ in their ids and addresses only; index 0 carries the ids of payloads.md.
func NewHome(index int) Home {
	h := Home{GuardianID: guardianID(index)}
	for i, n := range []struct{ prefix, friendly, location string }{
		{"GWA", "Gateway", "Living room"},
		{"EXA", "Hall extender", "Hallway"},
		{"EXA", "Office extender", "Office"},
	} {
		address := func(last byte) motion.MAC {
			return motion.MAC{0x02, 0xaa, 0, byte(index), byte(i + 1), last}
		}
		h.Nodes = append(h.Nodes, Node{
			Name:         fmt.Sprintf("%s1%06d", n.prefix, 133+10*index+i),
			DeviceID:     "csi-a-" + address(0x10).Name(),
			FriendlyName: n.friendly, Location: n.location, IP: fmt.Sprintf("192.168.11.%d", i+1),
			Eth: address(0x10), AP24: address(0x12), AP5: address(0x13), Mesh: address(0x14),
		})
	}
	for i, l := range []struct {
		node                                   int
		hostname, friendly, location, category string
	}{
		{0, "kitchen-speaker", "Kitchen speaker", "Kitchen", "Smart speaker"},
		{0, "hall-plug", "Hall plug", "Hallway", "Smart plug"},
		{0, "living-tv", "Television", "Living room", "Television"},
		{1, "fridge", "Fridge", "Kitchen", "Appliance"},
		{1, "hall-lamp", "Hall lamp", "Hallway", "Smart bulb"},
		{1, "bath-scale", "Bathroom scale", "Bathroom", "Scale"},
		{2, "bedroom-speaker", "Bedroom speaker", "Bedroom", "Smart speaker"},
		{2, "office-printer", "Printer", "Office", "Printer"},
		{2, "bedroom-lamp", "Bedroom lamp", "Bedroom", "Smart bulb"},
	} {
		h.Leafs = append(h.Leafs, Leaf{
			MAC: motion.MAC{0x02, 0xbb, 0, byte(index), 0, byte(0x31 + i)}, Node: l.node,
			Hostname: l.hostname, FriendlyName: l.friendly, Location: l.location, DeviceType: l.category,
			IP: fmt.Sprintf("192.168.11.%d", 14+i),
		})
	}
	return h
}

// guardianID returns the location_id of a home: that of payloads.md for index 0.
func guardianID(index int) string {
	if index == 0 {
		return "a41f00c2d97b4e5580136c2e"
	}
	var id [12]byte
	for i := range id {
		id[i] = byte(mix(uint64(index), uint64(i)))
	}
	return hex.EncodeToString(id[:])
}

// Links returns the links of the home: one from each leaf to its node, then one
// from each extender to the master. Their order never changes.
func (h Home) Links() []Link {
	links := make([]Link, 0, len(h.Leafs)+len(h.Nodes)-1)
	for i, leaf := range h.Leafs {
		node := h.Nodes[leaf.Node]
		links = append(links, Link{
			Name: motion.LinkName(node.Name, leaf.MAC.Name()), Src: leaf.MAC, Dst: node.AP24,
			SrcName: leaf.MAC.Name(), DstName: node.Name, Leaf: i, Node: leaf.Node, Peer: -1,
			Channel: channel24, RSSI: -52 - 3*(i%5), near: map[string]float64{leaf.Location: 1},
		})
	}
	master := h.Nodes[0]
	for i, node := range h.Nodes[1:] {
		links = append(links, Link{
			Name: motion.LinkName(master.Name, node.Name), Src: node.Mesh, Dst: master.Mesh,
			SrcName: node.Name, DstName: master.Name, Leaf: -1, Node: 0, Peer: i + 1,
			Channel: channelMesh, RSSI: -41 - 6*i, near: map[string]float64{master.Location: 0.5, node.Location: 0.5},
		})
	}
	return links
}

// Locations returns where the leafs of the home stand, each once, in the order of
// the leafs.
func (h Home) Locations() []string {
	var names []string
	seen := map[string]bool{}
	for _, leaf := range h.Leafs {
		if !seen[leaf.Location] {
			seen[leaf.Location] = true
			names = append(names, leaf.Location)
		}
	}
	return names
}

// zone returns the time zone of the day plan.
func (h Home) zone() *time.Location {
	if h.Local == nil {
		return time.UTC
	}
	return h.Local
}
