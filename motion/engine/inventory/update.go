// Package inventory keeps the records of networks, nodes, leafs and links: what reports say of
// them, what people set, and what is told of them in status, topology and configuration.
package inventory

import (
	"context"
	"slices"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/engine/events"
	"sensegate/motion/engine/management"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Inventory keeps the records of networks, nodes, leafs and links up to date with what is
// reported, and tells of them. Make it with New.
type Inventory struct {
	state    *state.State
	events   *events.Writer
	commands *management.Manager
}

// New makes the inventory.
func New(s *state.State, w *events.Writer, m *management.Manager) *Inventory {
	return &Inventory{state: s, events: w, commands: m}
}

// UpdateFunc brings the records of a network up to date.
type UpdateFunc func(*store.Tx) (*Update, error)

// Update takes the links of a network's nodes into the records, and collects
// the link events that this yields (device-protocol.md 2.1).
type Update struct {
	Tx      *store.Tx
	network motion.Network
	now     motion.Time // of the report
	seen    map[string]bool
	Silent  bool   // it takes in silence, not a report
	turns   []turn // links that have come or gone
	events  []motion.Event
}

// NewUpdate begins the inventory of one report.
func NewUpdate(tx *store.Tx, network motion.Network, now motion.Time) *Update {
	return &Update{Tx: tx, network: network, now: now, seen: map[string]bool{}}
}

// peers takes in the links of one node's part of a report. choices say which leafs
// are sounded; nil means all.
func (v *Update) peers(node motion.Node, radar motion.Radar, choices map[string]motion.Choice) error {
	for _, peer := range radar.Links {
		if peer.MAC.IsZero() {
			continue
		}
		if err := v.Peer(node, radar, peer, choices); err != nil {
			return err
		}
	}
	return nil
}

// Peer takes in one peer of a node: a mesh link to another node, or a leaf and
// its link.
func (v *Update) Peer(node motion.Node, radar motion.Radar, peer motion.RadarLink, choices map[string]motion.Choice) error {
	link := motion.Link{
		NetworkID: v.network.ID, Dst: node.ID, DstName: node.Name, IfName: peer.IfName, Channel: channelOf(radar, peer.IfName),
		RSSI: atoi(peer.RSSI), TxBitrateMbps: atof(peer.TxBitrate) / 1e6, RxBitrateMbps: atof(peer.RxBitrate) / 1e6,
	}
	if peer.PeerType == motion.PeerMesh {
		other, err := v.NodeAt(peer.MAC)
		if err != nil || other.ID == 0 {
			return err // its own report will name the link
		}
		link.Src, link.SrcName, link.Mesh, link.Sounding = other.ID, other.Name, true, true
		return v.Link(link)
	}
	leaf, err := v.leaf(node, peer)
	if err != nil {
		return err
	}
	link.Src, link.SrcName = leaf.ID, peer.MAC.Name()
	choice, chosen := choices[peer.MAC.String()]
	link.Sounding = choices == nil || chosen && choice.Sounding != nil && *choice.Sounding
	return v.Link(link)
}

// leaf brings a leaf's record up to date; it is made when the address is new.
func (v *Update) leaf(node motion.Node, peer motion.RadarLink) (motion.Leaf, error) {
	leaf, err := v.Tx.LeafByMAC(v.network.ID, peer.MAC)
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
		leaf.CreatedAt = v.Tx.Now()
	}
	leaf.UpdatedAt = v.Tx.Now()
	return v.Tx.PutLeaf(leaf)
}

// PutClients takes the clients that a node names at the gatekeeper into the
// records, so that a network without a reporting guardian knows their host names
// (device-protocol.md 2.5). Their links are made when data comes. As many are taken
// as a network can sense.
func PutClients(tx *store.Tx, network motion.Network, node motion.Node, radar motion.Radar) error {
	known, err := tx.Leafs(network.ID)
	if err != nil {
		return err
	}
	room := MaxLinks - len(known)
	v := NewUpdate(tx, network, tx.Now())
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

// Link brings a link's record up to date and collects the event when it appears
// or comes back.
func (v *Update) Link(link motion.Link) error {
	link.Name, link.Online = motion.LinkName(link.DstName, link.SrcName), true
	if v.seen[link.Name] {
		return nil
	}
	v.seen[link.Name] = true
	before, err := v.Tx.Link(v.network.ID, link.Name)
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
	return v.Tx.PutLink(link)
}

// gone marks the links that end at one of the nodes and were not seen as
// disconnected; those that raw reports keep alive are not the guardian's to end.
func (v *Update) gone(reporting func(motion.NodeID) bool) error {
	links, err := v.Tx.Links(v.network.ID)
	if err != nil {
		return err
	}
	for _, link := range links {
		if !link.Online || v.seen[link.Name] || state.SensedHere(link) || !reporting(link.Dst) {
			continue
		}
		if err := v.Disconnect(link); err != nil {
			return err
		}
	}
	return nil
}

// Disconnect marks one link as gone.
func (v *Update) Disconnect(link motion.Link) error {
	link.Online = false
	v.event(motion.LinkDisconnectedEvent, link)
	v.turned(link, -1)
	return v.Tx.PutLink(link)
}

// event collects a link event.
func (v *Update) event(kind string, link motion.Link) {
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

// room refuses a report that has brought the network more nodes than it can have; reported
// are those that it tells of. They are counted only when one of them is new.
func (v *Update) room(reported []motion.Node) error {
	if !slices.ContainsFunc(reported, func(n motion.Node) bool { return n.CreatedAt == v.Tx.Now() }) {
		return nil
	}
	nodes, err := v.Tx.Nodes(v.network.ID)
	if n := len(nodes); n > MaxNodes {
		return fault.New(fault.TooLarge, "radars: the network would have %d nodes: at most %d", n, MaxNodes)
	}
	return err
}

// Apply brings the records of a network up to date and stores the events
// that come of it, in one commit; then the memory follows and the events are pushed.
func (in *Inventory) Apply(ctx context.Context, n *state.Network, take UpdateFunc) error {
	_, err := in.events.Put(ctx, UpdateEntry(n, take))
	return err
}

// UpdateEntry is the entry that has take's update stored by the writer of events.
func UpdateEntry(n *state.Network, take UpdateFunc) events.Entry {
	return events.Entry{Event: motion.Event{NetworkID: n.ID}, Change: func(tx *store.Tx) ([]motion.Event, error) {
		v, err := take(tx)
		if err != nil {
			return nil, err
		}
		err = v.deviceEvents()
		return v.events, err
	}}
}

// MaxNodes is how many nodes a network has at most.
const MaxNodes = 128

// MaxLinks bounds the links that raw reports make known, so that a receiver that
// hears the whole neighbourhood does not fill the box: a block of samples holds
// 256 series, the network's and two of each link. Beyond it one gives way (yields).
const MaxLinks = 120

// DropLink deletes the link of a client, and the client if it has neither a name nor another
// link.
func (v *Update) DropLink(name string) error {
	link, err := v.Tx.Link(v.network.ID, name)
	if err != nil {
		return err
	}
	if link.Online {
		if err := v.Disconnect(link); err != nil {
			return err
		}
	}
	if err := v.Tx.DeleteLink(v.network.ID, name); err != nil {
		return err
	}
	leaf, err := v.Tx.Leaf(link.Src)
	if err != nil || NamedLeaf(leaf) {
		return err
	}
	others, err := v.Tx.Links(v.network.ID)
	if err != nil || slices.ContainsFunc(others, func(l motion.Link) bool { return l.Src == leaf.ID }) {
		return err
	}
	return v.Tx.DeleteLeaf(leaf.ID)
}

// DropLeaf deletes a leaf of the network with its links, and returns its address. NotFound: no such
// leaf.
func (v *Update) DropLeaf(id motion.NodeID) (motion.MAC, error) {
	leaf, err := v.Tx.Leaf(id)
	if fault.KindOf(err) == fault.NotFound || err == nil && leaf.NetworkID != v.network.ID {
		return motion.MAC{}, fault.New(fault.NotFound, "leaf %d is not known", id)
	}
	if err != nil {
		return motion.MAC{}, err
	}
	links, err := v.Tx.Links(v.network.ID)
	if err != nil {
		return motion.MAC{}, err
	}
	for _, link := range links {
		if link.Mesh || link.Src != id {
			continue
		}
		if err := v.DropLink(link.Name); err != nil {
			return motion.MAC{}, err
		}
	}
	if _, err := v.Tx.Leaf(id); fault.KindOf(err) == fault.NotFound {
		return leaf.MAC, nil // with its last link
	}
	return leaf.MAC, v.Tx.DeleteLeaf(id)
}

func NamedLeaf(leaf motion.Leaf) bool {
	return leaf.FriendlyName != "" || leaf.Hostname != "" || leaf.Located || leaf.Mobile
}
