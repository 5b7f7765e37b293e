package engine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// putNode brings a node's record up to date with what its agent says of it. What
// people have set (location, friendly name) stays. Nothing is written when
// nothing has changed.
func putNode(tx *store.Tx, network motion.NetworkID, radar motion.Radar) (motion.Node, error) {
	if err := bounded(radar); err != nil {
		return motion.Node{}, err
	}
	node, err := findNode(tx, network, radar)
	if err != nil {
		return motion.Node{}, err
	}
	before := node
	node.NetworkID, node.DeviceID, node.Name = network, radar.DeviceID, radar.NodeName
	node.RootMode, node.Role = radar.RootMode, motion.MeshNode
	if radar.RootMode == motion.RootModeMaster {
		node.Role = motion.MeshRoot
	}
	node.APBSSID2GHz, node.APBSSID5GHz = radar.APBSSID2GHz, radar.APBSSID5GHz
	node.MeshBSSID, node.P2PBSSID, node.GatewayBSSID = radar.MeshBSSID, radar.P2PBSSID, radar.GatewayBSSID
	if eth := ethernetOf(radar); !eth.IsZero() {
		node.EthMAC = eth
	}
	if radar.LocationID != "" {
		node.LocationID = radar.LocationID
	}
	node.HWID, node.HWVersion, node.FWVersion, node.Version = radar.HWID, radar.HWVersion, radar.FWVersion, radar.Version
	if node.ID != 0 && sameNode(before, node) {
		return before, refreshInterfaces(tx, node.ID, radar)
	}
	if node.CreatedAt.IsZero() {
		node.CreatedAt = tx.Now()
	}
	node.UpdatedAt = tx.Now()
	if node, err = tx.PutNode(node); err != nil {
		return motion.Node{}, err
	}
	return node, tx.PutRadar(node.ID, radar)
}

// The most that is kept of what a node says of itself, in bytes of JSON, beside its links.
const (
	maxRadar   = 16 << 10
	maxVersion = 4 << 10 // and of its hardware and firmware: these are in memory
)

// bounded refuses a node that says more of itself than is kept.
func bounded(radar motion.Radar) error {
	radar.Links = nil
	whole, err := json.Marshal(radar)
	if err != nil || len(whole) > maxRadar {
		return fault.New(fault.TooLarge, "node %q: more than %d bytes", radar.DeviceID, maxRadar)
	}
	version, err := json.Marshal(radar.Version)
	if err != nil || len(version)+len(radar.HWID)+len(radar.HWVersion)+len(radar.FWVersion) > maxVersion {
		return fault.New(fault.TooLarge, "node %q: version, hw_id, hw_version and fw_version of more than %d bytes", radar.DeviceID, maxVersion)
	}
	return nil
}

// refreshInterfaces keeps the addresses of a node, whose record is as it was, up to
// date.
func refreshInterfaces(tx *store.Tx, id motion.NodeID, radar motion.Radar) error {
	before, err := tx.Radar(id)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	same := slices.EqualFunc(before.Interfaces, radar.Interfaces, func(a, b motion.Interface) bool {
		return a.Name == b.Name && a.Type == b.Type && a.MAC == b.MAC && a.IP == b.IP && a.WifiChannel == b.WifiChannel
	})
	if same {
		return nil // counters alone are not worth a commit
	}
	return tx.PutRadar(id, radar)
}

// sameNode compares two records of a node but for their times. Documents that
// were read from the database and ones that a device sent have the same types.
func sameNode(a, b motion.Node) bool {
	a.UpdatedAt, b.UpdatedAt = 0, 0
	a.LastHeard, b.LastHeard = 0, 0
	if len(a.Version) == 0 && len(b.Version) == 0 {
		a.Version, b.Version = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// findNode returns the record of a reporting node, by device id, else by name; an
// empty one when it is new.
func findNode(tx *store.Tx, network motion.NetworkID, radar motion.Radar) (motion.Node, error) {
	node, err := tx.NodeByDevice(radar.DeviceID)
	if fault.KindOf(err) == fault.NotFound {
		node, err = tx.NodeByName(network, radar.NodeName)
	}
	if fault.KindOf(err) == fault.NotFound {
		return motion.Node{}, nil
	}
	return node, err
}

func ethernetOf(radar motion.Radar) motion.MAC {
	for _, i := range radar.Interfaces {
		if i.Type == "ETHERNET" {
			return i.MAC
		}
	}
	return motion.MAC{}
}

// inventory takes the links of a network's nodes into the records, and collects
// the link events that this yields (device-protocol.md 2.1).
type inventory struct {
	tx      *store.Tx
	network motion.Network
	now     motion.Time // of the report
	seen    map[string]bool
	silent  bool   // it takes in silence, not a report
	turns   []turn // links that have come or gone
	events  []motion.Event
}

// newInventory begins the inventory of one report.
func newInventory(tx *store.Tx, network motion.Network, now motion.Time) *inventory {
	return &inventory{tx: tx, network: network, now: now, seen: map[string]bool{}}
}

// peers takes in the links of one node's part of a report. choices say which leafs
// are sounded; nil means all.
func (v *inventory) peers(node motion.Node, radar motion.Radar, choices map[string]motion.Choice) error {
	for _, peer := range radar.Links {
		if peer.MAC.IsZero() {
			continue
		}
		if err := v.peer(node, radar, peer, choices); err != nil {
			return err
		}
	}
	return nil
}

// peer takes in one peer of a node: a mesh link to another node, or a leaf and
// its link.
func (v *inventory) peer(node motion.Node, radar motion.Radar, peer motion.RadarLink, choices map[string]motion.Choice) error {
	link := motion.Link{
		NetworkID: v.network.ID, Dst: node.ID, DstName: node.Name, IfName: peer.IfName, Channel: channelOf(radar, peer.IfName),
		RSSI: atoi(peer.RSSI), TxBitrateMbps: atof(peer.TxBitrate) / 1e6, RxBitrateMbps: atof(peer.RxBitrate) / 1e6,
	}
	if peer.PeerType == motion.PeerMesh {
		nodes, err := v.tx.NodesByBSSID(peer.MAC)
		at := slices.IndexFunc(nodes, func(n motion.Node) bool { return n.NetworkID == v.network.ID })
		if err != nil || at < 0 {
			return err // its own report will name the link
		}
		other := nodes[at]
		link.Src, link.SrcName, link.Mesh, link.Sounding = other.ID, other.Name, true, true
		return v.link(link)
	}
	leaf, err := v.leaf(node, peer)
	if err != nil {
		return err
	}
	link.Src, link.SrcName = leaf.ID, peer.MAC.Name()
	choice, chosen := choices[peer.MAC.String()]
	link.Sounding = choices == nil || chosen && choice.Sounding != nil && *choice.Sounding
	return v.link(link)
}

// leaf brings a leaf's record up to date; it is made when the address is new.
func (v *inventory) leaf(node motion.Node, peer motion.RadarLink) (motion.Leaf, error) {
	leaf, err := v.tx.LeafByMAC(v.network.ID, peer.MAC)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return motion.Leaf{}, err
	}
	before := leaf
	leaf.NetworkID, leaf.MAC, leaf.NodeID, leaf.PeerType = v.network.ID, peer.MAC, node.ID, peer.PeerType
	if peer.Hostname != "" {
		leaf.Hostname = peer.Hostname
	}
	if peer.IP != "" {
		leaf.IP = peer.IP
	}
	if !peer.MLDMAC.IsZero() {
		leaf.MLDMAC = peer.MLDMAC
	}
	if leaf.ID != 0 && leaf == before {
		return leaf, nil
	}
	if leaf.CreatedAt.IsZero() {
		leaf.CreatedAt = v.tx.Now()
	}
	leaf.UpdatedAt = v.tx.Now()
	return v.tx.PutLeaf(leaf)
}

// putClients takes the clients that a node names at the gatekeeper into the
// records, so that a network without a reporting guardian knows their host names
// (device-protocol.md 2.5). Their links are made when data comes. As many are taken
// as a network can sense.
func putClients(tx *store.Tx, network motion.Network, node motion.Node, radar motion.Radar) error {
	known, err := tx.Leafs(network.ID)
	if err != nil {
		return err
	}
	room := maxLinks - len(known)
	v := newInventory(tx, network, tx.Now())
	for _, peer := range radar.Links {
		if peer.MAC.IsZero() || peer.PeerType == motion.PeerMesh {
			continue
		}
		if _, err := tx.LeafByMAC(network.ID, peer.MAC); err != nil {
			if room--; room < 0 {
				continue
			}
		}
		if _, err := v.leaf(node, peer); err != nil {
			return err
		}
	}
	return nil
}

// link brings a link's record up to date and collects the event when it appears
// or comes back.
func (v *inventory) link(link motion.Link) error {
	link.Name, link.Online = motion.LinkName(link.DstName, link.SrcName), true
	if v.seen[link.Name] {
		return nil
	}
	v.seen[link.Name] = true
	before, err := v.tx.Link(v.network.ID, link.Name)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		link.CreatedAt = v.now
		v.event(motion.LinkCreatedEvent, link)
		v.turned(link, 1)
	case err != nil:
		return err
	case !before.Online:
		link.CreatedAt = before.CreatedAt
		v.event(motion.LinkConnectedEvent, link)
		v.turned(link, 1)
	default:
		link.CreatedAt = before.CreatedAt
		same := before
		same.RSSI, same.TxBitrateMbps, same.RxBitrateMbps, same.LastHeard = link.RSSI, link.TxBitrateMbps, link.RxBitrateMbps, link.LastHeard
		if same == link {
			return nil // signal and rates alone are not worth a commit
		}
	}
	link.LastHeard = v.now
	return v.tx.PutLink(link)
}

// gone marks the links that end at one of the nodes and were not seen as
// disconnected; those that raw reports keep alive are not the guardian's to end.
func (v *inventory) gone(reporting func(motion.NodeID) bool) error {
	links, err := v.tx.Links(v.network.ID)
	if err != nil {
		return err
	}
	for _, link := range links {
		if !link.Online || v.seen[link.Name] || sensedHere(link) || !reporting(link.Dst) {
			continue
		}
		if err := v.disconnect(link); err != nil {
			return err
		}
	}
	return nil
}

// disconnect marks one link as gone.
func (v *inventory) disconnect(link motion.Link) error {
	link.Online = false
	v.event(motion.LinkDisconnectedEvent, link)
	v.turned(link, -1)
	return v.tx.PutLink(link)
}

// event collects a link event.
func (v *inventory) event(kind string, link motion.Link) {
	v.events = append(v.events, motion.Event{
		Event: kind, NetworkID: v.network.ID, GuardianID: v.network.GuardianID,
		TS: v.now, LinkID: link.Name, LinkDstName: link.DstName, LinkSrcName: link.SrcName, NodeID: link.Dst, NodeName: link.DstName,
	})
}

func channelOf(radar motion.Radar, ifName string) int {
	for _, i := range radar.Interfaces {
		if i.Name == ifName {
			return i.WifiChannel
		}
	}
	return 0
}

// atoi and atof read the numbers that agents send as text; what is no number is 0.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func atof(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64)
	return f
}
