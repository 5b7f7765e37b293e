package inventory

import (
	"slices"
	"sort"

	"sensegate/motion"
	"sensegate/motion/engine/state"
)

// Topology returns the devices and links of a network (payloads.md 4.3); what is
// offline is left out unless asked for.
func (in *Inventory) Topology(id motion.NetworkID, offline bool) (motion.Topology, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return motion.Topology{}, err
	}
	now := in.state.Now()
	present, _ := in.presence(nil, n, now)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	t := motion.Topology{Devices: []motion.TopologyDevice{}, Links: []motion.TopologyLink{}}
	sounding := soundingEnds(n, now)
	latest := n.Reported
	if n.Status == nil && !n.Record.StatusCleared.IsZero() {
		latest = 0 // a heartbeat tells of no device
	}
	for id, node := range n.Nodes {
		if _, listed := n.Listed(node.Name); !listed && !n.ShowsSignAt(present.Of(id).LastHeard) {
			continue
		}
		latest = max(latest, present.Of(id).LastHeard)
		t.Devices = append(t.Devices, nodeDevice(n, node, n.NodeOnline(id, present, now), sounding[id]))
	}
	for _, leaf := range n.Leafs {
		if !n.Record.StatusCleared.IsZero() && !linked(n, leaf.ID) {
			continue
		}
		t.Devices = append(t.Devices, leafDevice(n, leaf, now, sounding[leaf.ID]))
	}
	for _, link := range n.Links {
		t.Links = append(t.Links, topologyLink(n, link, now))
	}
	if !offline {
		t.Devices = slices.DeleteFunc(t.Devices, func(d motion.TopologyDevice) bool { return !d.Online })
		t.Links = slices.DeleteFunc(t.Links, func(l motion.TopologyLink) bool { return !l.Online })
	}
	sort.Slice(t.Devices, func(i, j int) bool { return t.Devices[i].ID < t.Devices[j].ID })
	sort.Slice(t.Links, func(i, j int) bool { return t.Links[i].LinkID < t.Links[j].LinkID })
	if !latest.IsZero() {
		t.TS = &latest
	}
	return t, nil
}

// linked reports whether a link of a leaf is known; n.Mu is held.
func linked(n *state.Network, leaf motion.NodeID) bool {
	for _, link := range n.Links {
		if link.Src == leaf {
			return true
		}
	}
	return false
}

// soundingEnds returns the nodes and leafs at the ends of links that sound.
func soundingEnds(n *state.Network, now motion.Time) map[motion.NodeID]bool {
	ends := map[motion.NodeID]bool{}
	for _, link := range n.Links {
		if n.SoundsNow(link, now) {
			ends[link.Src] = true
			if link.Mesh {
				ends[link.Dst] = true
			}
		}
	}
	return ends
}

func nodeDevice(n *state.Network, node motion.Node, online, sounding bool) motion.TopologyDevice {
	interfaces := n.Radars[node.ID].Interfaces
	if n.Status != nil {
		if reported, ok := n.Status.Radars[node.Name]; ok {
			interfaces = reported.Interfaces
		}
	}
	d := motion.TopologyDevice{
		ID: node.ID, Name: node.Name, FriendlyName: node.FriendlyName, NodeName: node.Name, Location: node.Location,
		Type: node.Role, MACs: []string{}, HWPlatform: node.HWVersion, Icon: "DEFAULT",
		Online: online, IsStatic: isStatic, IsMeshSounding: sounding, DeviceInfo: map[string]any{},
	}
	for _, i := range interfaces {
		if i.IP != "" && d.IP == "" {
			d.IP = i.IP
		}
	}
	for _, mac := range append([]motion.MAC{node.EthMAC}, state.Addresses(node, interfaces)...) {
		if text := mac.String(); text != "" && !slices.Contains(d.MACs, text) {
			d.MACs = append(d.MACs, text)
		}
	}
	return d
}

func leafDevice(n *state.Network, leaf motion.Leaf, now motion.Time, sounding bool) motion.TopologyDevice {
	d := motion.TopologyDevice{
		ID: leaf.ID, Name: leaf.MAC.Name(), FriendlyName: leaf.DisplayName(), NodeName: n.Nodes[leaf.NodeID].Name,
		Location: leaf.Location, Type: motion.ClientRole, IP: leaf.IP, MACs: []string{leaf.MAC.String()}, Icon: "DEFAULT",
		Mobile: moves(n, leaf), IsStatic: staticness(n, leaf), DeviceInfo: map[string]any{},
	}
	if sounding {
		d.Type, d.Icon = motion.LeafRole, "LEAF"
	}
	for _, link := range n.Links {
		d.Online = d.Online || link.Src == leaf.ID && n.LinkOnline(link, now)
	}
	if !leaf.DeviceInfo.MAC.IsZero() {
		d.DeviceInfo = leaf.DeviceInfo
	}
	return d
}

func topologyLink(n *state.Network, link *state.Link, now motion.Time) motion.TopologyLink {
	kind := "LEAF"
	if link.Mesh {
		kind = "MESH"
	}
	return motion.TopologyLink{
		LinkID: link.Name, Dst: link.Dst, Src: link.Src, DstName: link.DstName, SrcName: link.SrcName, Type: kind,
		IfName: link.IfName, Channel: link.Channel, Band: bandOf(link.Channel), RSSI: link.RSSI,
		TxBitrateMbps: link.TxBitrateMbps, RxBitrateMbps: link.RxBitrateMbps,
		Sounding: n.SoundsNow(link, now), Online: n.LinkOnline(link, now),
	}
}

// bandOf returns the band of a Wi-Fi channel number (IEEE 802.11 annex E): 1 to 14
// are 2.4 GHz, 36 to 177 are 5 GHz.
func bandOf(channel int) string {
	switch {
	case channel >= 1 && channel <= 14:
		return "2.4"
	case channel >= 36 && channel <= 177:
		return "5"
	}
	return ""
}

// The words of is_static.
const (
	isStatic = "STATIC"
	isMobile = "MOBILE"
)

// staticness returns the is_static word of a leaf: what the guardian's last full report
// says of it, else what its record says; n.Mu is held.
func staticness(n *state.Network, leaf motion.Leaf) string {
	if n.Status != nil {
		if said := n.Status.Leafblower[leaf.MAC.String()].IsStatic; said == isStatic || said == isMobile {
			return said
		}
	}
	if leaf.IsMobile() {
		return isMobile
	}
	return isStatic
}

// moves reports whether a leaf moves about, as its record says or its guardian has
// found; n.Mu is held.
func moves(n *state.Network, leaf motion.Leaf) bool {
	return leaf.IsMobile() || staticness(n, leaf) == isMobile
}
