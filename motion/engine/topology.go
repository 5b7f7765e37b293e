package engine

import (
	"cmp"
	"slices"

	"sensegate/motion"
)

// Topology returns the devices and links of a network (payloads.md 4.3); what is
// offline is left out unless asked for.
func (e *Engine) Topology(id motion.NetworkID, offline bool) (motion.Topology, error) {
	n, err := e.network(id)
	if err != nil {
		return motion.Topology{}, err
	}
	now := e.now()
	present := e.nodePresence(n, now)
	n.mu.Lock()
	defer n.mu.Unlock()
	t := motion.Topology{Devices: []motion.TopologyDevice{}, Links: []motion.TopologyLink{}}
	sounding := n.soundingEnds(now)
	latest := n.reported
	if n.status == nil && !n.record.StatusCleared.IsZero() {
		latest = 0 // a heartbeat tells of no device
	}
	for id, node := range n.nodes {
		if _, listed := n.listed(node.Name); !listed && !n.heardSince(present[id].LastHeard) {
			continue
		}
		latest = max(latest, present[id].LastHeard)
		t.Devices = append(t.Devices, n.nodeDevice(node, n.nodeOnline(id, present, now), sounding[id]))
	}
	for _, leaf := range n.leafs {
		if !n.record.StatusCleared.IsZero() && !n.linked(leaf.ID) {
			continue
		}
		t.Devices = append(t.Devices, n.leafDevice(leaf, now, sounding[leaf.ID]))
	}
	for _, link := range n.links {
		t.Links = append(t.Links, n.topologyLink(link, now))
	}
	if !offline {
		t.Devices = slices.DeleteFunc(t.Devices, func(d motion.TopologyDevice) bool { return !d.Online })
		t.Links = slices.DeleteFunc(t.Links, func(l motion.TopologyLink) bool { return !l.Online })
	}
	slices.SortFunc(t.Devices, func(a, b motion.TopologyDevice) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(t.Links, func(a, b motion.TopologyLink) int { return cmp.Compare(a.LinkID, b.LinkID) })
	if !latest.IsZero() {
		t.TS = &latest
	}
	return t, nil
}

// listed returns what the guardian's last full report says of a node; n.mu is held.
func (n *network) listed(name string) (motion.Radar, bool) {
	if n.status == nil {
		return motion.Radar{}, false
	}
	radar, ok := n.status.Radars[name]
	return radar, ok
}

// linked reports whether a link of a leaf is known; n.mu is held.
func (n *network) linked(leaf motion.NodeID) bool {
	for _, link := range n.links {
		if link.Src == leaf {
			return true
		}
	}
	return false
}

// nodeOnline reports whether a node is alive: its own session is, or its
// guardian lately reported it; n.mu is held.
func (n *network) nodeOnline(id motion.NodeID, present map[motion.NodeID]Presence, now motion.Time) bool {
	if present[id].Online {
		return true
	}
	if n.status == nil || now.Since(n.reported) > silentAfter {
		return false
	}
	radar, listed := n.status.Radars[n.nodes[id].Name]
	return listed && radar.Age <= silentAfter
}

// soundingEnds returns the nodes and leafs at the ends of links that sound.
func (n *network) soundingEnds(now motion.Time) map[motion.NodeID]bool {
	ends := map[motion.NodeID]bool{}
	for _, link := range n.links {
		if n.soundsNow(link, now) {
			ends[link.Src] = true
			if link.Mesh {
				ends[link.Dst] = true
			}
		}
	}
	return ends
}

// soundsNow reports whether a link takes part in sounding: it delivers data, or
// a guardian that is alive says so, and the settings do not forbid it.
func (n *network) soundsNow(link *linkState, now motion.Time) bool {
	return (link.sounds(now) || n.linkOnline(link, now) && link.Sounding) && !n.denied(link) && link.left == ""
}

// linkOnline reports whether a link is there: it delivered data lately, or a
// guardian that is alive lists it.
func (n *network) linkOnline(link *linkState, now motion.Time) bool {
	return link.Online && (now.Since(link.heard) <= silentAfter || now.Since(n.reported) <= silentAfter)
}

func (n *network) nodeDevice(node motion.Node, online, sounding bool) motion.TopologyDevice {
	radar := n.radars[node.ID]
	if n.status != nil {
		if reported, ok := n.status.Radars[node.Name]; ok {
			radar = reported
		}
	}
	d := motion.TopologyDevice{
		ID: node.ID, Name: node.Name, FriendlyName: node.FriendlyName, NodeName: node.Name, Location: node.Location,
		Type: node.Role, MACs: []string{}, HWPlatform: node.HWVersion, Icon: "DEFAULT",
		Online: online, IsStatic: isStatic, IsMeshSounding: sounding, DeviceInfo: map[string]any{},
	}
	for _, i := range radar.Interfaces {
		if i.IP != "" && d.IP == "" {
			d.IP = i.IP
		}
	}
	for _, mac := range append([]motion.MAC{node.EthMAC}, addresses(node, radar)...) {
		if text := mac.String(); text != "" && !slices.Contains(d.MACs, text) {
			d.MACs = append(d.MACs, text)
		}
	}
	return d
}

func (n *network) leafDevice(leaf motion.Leaf, now motion.Time, sounding bool) motion.TopologyDevice {
	d := motion.TopologyDevice{
		ID: leaf.ID, Name: leaf.MAC.Name(), FriendlyName: leaf.DisplayName(), NodeName: n.nodes[leaf.NodeID].Name,
		Location: leaf.Location, Type: motion.ClientRole, IP: leaf.IP, MACs: []string{leaf.MAC.String()}, Icon: "DEFAULT",
		Mobile: n.moves(leaf), IsStatic: n.staticness(leaf), DeviceInfo: map[string]any{},
	}
	if sounding {
		d.Type, d.Icon = motion.LeafRole, "LEAF"
	}
	for _, link := range n.links {
		d.Online = d.Online || link.Src == leaf.ID && n.linkOnline(link, now)
	}
	if !leaf.DeviceInfo.MAC.IsZero() {
		d.DeviceInfo = leaf.DeviceInfo
	}
	return d
}

func (n *network) topologyLink(link *linkState, now motion.Time) motion.TopologyLink {
	kind := "LEAF"
	if link.Mesh {
		kind = "MESH"
	}
	return motion.TopologyLink{
		LinkID: link.Name, Dst: link.Dst, Src: link.Src, DstName: link.DstName, SrcName: link.SrcName, Type: kind,
		IfName: link.IfName, Channel: link.Channel, Band: bandOf(link.Channel), RSSI: link.RSSI,
		TxBitrateMbps: link.TxBitrateMbps, RxBitrateMbps: link.RxBitrateMbps,
		Sounding: n.soundsNow(link, now), Online: n.linkOnline(link, now),
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
// says of it, else what its record says; n.mu is held.
func (n *network) staticness(leaf motion.Leaf) string {
	if n.status != nil {
		if said := n.status.Leafblower[leaf.MAC.String()].IsStatic; said == isStatic || said == isMobile {
			return said
		}
	}
	if leaf.IsMobile() {
		return isMobile
	}
	return isStatic
}

// moves reports whether a leaf moves about, as its record says or its guardian has
// found; n.mu is held.
func (n *network) moves(leaf motion.Leaf) bool {
	return leaf.IsMobile() || n.staticness(leaf) == isMobile
}
