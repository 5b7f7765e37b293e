package sim

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"

	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

// Home is the nodes, leafs and place of a simulated home. It is read only once
// given to New or Backfill.
type Home struct {
	GuardianID string // location_id, and the client id of the guardian
	Nodes      []Node // Nodes[0] is the master; the others are meshed to it
	Leafs      []Leaf
	Local      *time.Location     // the day plan's time zone; nil = UTC
	Place      *scenario.Scenario // its rooms and people; nil for a replay
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
}

const (
	channel24   = 1
	channelMesh = 157
	usualRSSI   = -55 // dBm, in a home without a place
)

// NewHome returns HomeOf the scenario house.
func NewHome(index int) Home {
	place, err := scenario.Open("house")
	if err != nil {
		panic(err) // it is embedded
	}
	return HomeOf(place, index)
}

// HomeOf returns the home of a scenario. The index, 0..255, determines its ids and
// addresses; index 0 has the ids of the examples in payloads.md.
func HomeOf(place *scenario.Scenario, index int) Home {
	h := Home{GuardianID: guardianID(index), Place: place}
	for i, n := range place.Nodes {
		address := func(last byte) motion.MAC {
			return motion.MAC{0x02, 0xaa, 0, byte(index), byte(i + 1), last}
		}
		prefix := "EXA"
		if i == 0 {
			prefix = "GWA"
		}
		h.Nodes = append(h.Nodes, Node{
			Name:         fmt.Sprintf("%s1%06d", prefix, 133+10*index+i),
			DeviceID:     "csi-a-" + address(0x10).Name(),
			FriendlyName: n.Name, Location: place.RoomAt(n.At.Point()), IP: fmt.Sprintf("192.168.11.%d", i+1),
			Eth: address(0x10), AP24: address(0x12), AP5: address(0x13), Mesh: address(0x14),
		})
	}
	for i, l := range place.Leafs {
		h.Leafs = append(h.Leafs, Leaf{
			MAC: motion.MAC{0x02, 0xbb, 0, byte(index), byte(i >> 8), byte(0x31 + i)}, Node: l.Node,
			Hostname: strings.ReplaceAll(strings.ToLower(l.Name), " ", "-"), FriendlyName: l.Name,
			Location: place.RoomAt(l.At.Point()), DeviceType: l.Type, IP: fmt.Sprintf("192.168.11.%d", 14+i),
		})
	}
	return h
}

// guardianID returns the location_id of a home; index 0 has that of payloads.md.
func guardianID(index int) string {
	if index == 0 {
		return "a41f00c2d97b4e5580136c2e"
	}
	var id [12]byte
	for i := range id {
		id[i] = byte(chance.Mix(uint64(index), uint64(i)))
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
			Channel: channel24, RSSI: usualRSSI,
		})
	}
	master := h.Nodes[0]
	for i, node := range h.Nodes[1:] {
		links = append(links, Link{
			Name: motion.LinkName(master.Name, node.Name), Src: node.Mesh, Dst: master.Mesh,
			SrcName: node.Name, DstName: master.Name, Leaf: -1, Node: 0, Peer: i + 1,
			Channel: channelMesh, RSSI: usualRSSI,
		})
	}
	if h.Place == nil {
		return links
	}
	plan := h.Place.Plan()
	for i, physical := range h.Place.Links() {
		links[i].RSSI = int(math.Round(channel.NewLink(h.Place.Radio(plan, physical, 0)).Signal()))
	}
	return links
}

// Locations returns the distinct locations of the leafs, in the order of the leafs.
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
