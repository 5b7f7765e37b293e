package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/motion/jsonwriter"
	"sensegate/motion/setting"
	"sensegate/store"
)

// Network is the state of one network. Everything from Mu on is guarded by it,
// what stands before it by itself.
type Network struct {
	ID   motion.NetworkID
	Pace pace

	Mu        sync.Mutex
	Deletions int // under way or done: samples are not kept any more
	Record    motion.Network
	Guardian  motion.GuardianConfig // in force
	Radar     motion.RadarConfig    // in force
	InForce   documents
	Meta      motion.Document // as callers see it; replaced as a whole, never changed

	Nodes   map[motion.NodeID]motion.Node
	NodeIDs []motion.NodeID              // of Nodes, ascending
	ByMAC   map[motion.MAC]motion.NodeID // every address of every node
	Leafs   map[motion.MAC]motion.Leaf
	Links   map[string]*Link // by link name
	Figured []*Link          // those of Links that a guardian names in its figures alone
	Radars  map[motion.NodeID]Radar

	Status       *motion.StatusReport // last full report of a guardian
	StatusDirty  bool                 // a full one came since it was stored
	StatusStored bool                 // the database holds one
	StatusHeard  bool                 // one of any form came since the last flush
	Heartbeat    motion.StatusReport  // last report of any form, without radars
	Reported     motion.Time          // when a guardian last reported

	Source Source
	Reach  reach // zero before data has come
	Sense  Sense

	names map[fuse.Link]string // link names of keys that records do not explain
	keys  map[string]namedLink // of names, while the records stay
	facts linkFacts            // what follows from the records and names
}

// GuardianID returns the id of the network's guardian.
func (n *Network) GuardianID() string {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return n.Record.GuardianID
}

// Sense is what is kept of a network where motion is decided; package sensing has it. The
// network's mutex guards it.
type Sense interface {
	// Follow takes in changed records and configuration.
	Follow(now motion.Time)
	// ClockSet stamps anew what a clock has stamped that was set since.
	ClockSet(anew func(motion.Time) motion.Time)
	// Detection returns when motion was last seen, 0 for never, and whether a detection is
	// open.
	Detection() (last motion.Time, open bool)
	// AuthenticatedMotion returns when a link that is not unauthenticated was last in motion, 0 for not since
	// the start.
	AuthenticatedMotion() motion.Time
	// Calibrating returns how long a link still learns its quiet, and whether it does.
	Calibrating(link string) (left motion.Seconds, running bool)
}

// documents are meta as callers see it, and the whole configuration documents in force, defaults
// included, as JSON text: they are sent far more often than looked at. They are replaced and never
// changed, so that readers may keep them.
type documents struct{ Meta, Guardian, Radar json.RawMessage }

// Radar is what is kept of how a node has described itself. Nobody looks at most of it, so it is text.
type Radar struct {
	Uptime     string             // s
	Interfaces []motion.Interface // their addresses alone
	Text       string             // as in a status report: see [jsonwriter.RadarDescription]; "": it has not
}

// radarOf returns what is kept of a description.
func radarOf(r motion.Radar) Radar {
	kept := Radar{Uptime: r.Uptime, Text: jsonwriter.RadarDescription(&r)}
	for _, i := range r.Interfaces {
		if !i.MAC.IsZero() || i.IP != "" {
			kept.Interfaces = append(kept.Interfaces, motion.Interface{MAC: i.MAC, IP: i.IP})
		}
	}
	return kept
}

// Link is a link's record with what is known of it this minute.
type Link struct {
	motion.Link
	Heard      motion.Time  // receive time of its last data
	Throughput fuse.Reading // of its last sample
	LeftOut    string       // the reason why the leaf blower leaves it out; "": it does not
}

// loadNetwork reads a network's records; AttachSense adds what senses it.
func (st *State) loadNetwork(tx *store.Tx, record motion.Network) (*Network, error) {
	n := &Network{ID: record.ID, Pace: NewPace(), names: map[fuse.Link]string{}}
	if err := n.readRecords(tx, record); err != nil {
		return nil, fmt.Errorf("network %d: %w", record.ID, err)
	}
	status, err := tx.Status(record.ID)
	switch {
	case err == nil:
		n.Status, n.StatusStored = &status, true
	case fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	st.AttachSense(tx, n)
	return n, nil
}

// readRecords takes the records of a network from the database into memory,
// keeping what is known of each link this minute.
func (n *Network) readRecords(tx *store.Tx, record motion.Network) error {
	nodes, err := tx.Nodes(n.ID)
	if err != nil {
		return err
	}
	leafs, err := tx.Leafs(n.ID)
	if err != nil {
		return err
	}
	links, err := tx.Links(n.ID)
	if err != nil {
		return err
	}
	if n.Record.ID != 0 {
		record.AppliedRev = n.Record.AppliedRev // the database has it with the next flush
	}
	n.Record, n.Guardian, n.Radar = record, record.Guardian(), record.Radar()
	n.Nodes, n.NodeIDs, n.ByMAC = map[motion.NodeID]motion.Node{}, nil, map[motion.MAC]motion.NodeID{}
	n.Radars = map[motion.NodeID]Radar{}
	for _, node := range nodes {
		radar, err := tx.Radar(node.ID)
		switch {
		case err == nil:
			n.Radars[node.ID] = radarOf(radar)
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
		n.Nodes[node.ID], n.NodeIDs = node, append(n.NodeIDs, node.ID) // they come by id
		for _, mac := range Addresses(node, radar.Interfaces) {
			n.ByMAC[mac] = node.ID
		}
	}
	n.keys, n.facts = nil, linkFacts{}
	n.Leafs = map[motion.MAC]motion.Leaf{}
	for _, leaf := range leafs {
		n.Leafs[leaf.MAC] = leaf
	}
	before := n.Links
	n.Links, n.Figured = map[string]*Link{}, nil
	for _, link := range links {
		live := &Link{Link: link}
		if old := before[link.Name]; old != nil {
			live.Heard, live.Throughput, live.LeftOut, live.RSSI = old.Heard, old.Throughput, old.LeftOut, old.RSSI
			if SensedHere(link) && old.Channel != 0 {
				live.Channel = old.Channel
			}
			live.TxBitrateMbps, live.RxBitrateMbps = old.TxBitrateMbps, old.RxBitrateMbps
		}
		n.Links[link.Name] = live
		if link.IfName == MatrixInterface {
			n.Figured = append(n.Figured, live)
		}
	}
	n.Meta = MetaOf(record, slices.Values(leafs)).View()
	n.InForce, err = n.documents()
	return err
}

// documents returns the documents of a network as it is.
func (n *Network) documents() (d documents, err error) {
	if d.Meta, err = n.Meta.JSON(); err != nil {
		return d, err
	}
	if d.Guardian, err = motion.WithDefaults(n.Guardian, n.Record.GuardianConfig).JSON(); err != nil {
		return d, err
	}
	d.Radar, err = motion.WithDefaults(n.Radar, n.Record.RadarConfig).JSON()
	return d, err
}

// Addresses returns every address a node with these interfaces receives and sends with.
func Addresses(node motion.Node, interfaces []motion.Interface) []motion.MAC {
	macs := node.BSSIDs()
	if !node.EthMAC.IsZero() {
		macs = append(macs, node.EthMAC)
	}
	for _, i := range interfaces {
		if !i.MAC.IsZero() {
			macs = append(macs, i.MAC)
		}
	}
	return macs
}

// end is one end of a link.
type end struct {
	ID       motion.NodeID
	Name     string // stable wire name
	Location string
	Friendly string
	mac      motion.MAC
	Mesh     bool // a node
}

// EndOf returns the node or leaf that has an address.
func (n *Network) EndOf(mac motion.MAC) (end, bool) {
	if id, ok := n.ByMAC[mac]; ok {
		node := n.Nodes[id]
		return end{ID: id, Name: node.Name, Location: node.Location, Friendly: node.FriendlyName, mac: mac, Mesh: true}, true
	}
	if leaf, ok := n.Leafs[mac]; ok {
		return end{ID: leaf.ID, Name: mac.Name(), Location: leaf.Location, Friendly: leaf.DisplayName(), mac: mac}, true
	}
	return end{}, false
}

// endNamed returns the node or leaf that has a stable wire name.
func (n *Network) endNamed(name string) (end, bool) {
	if mac, err := motion.ParseMAC(name); err == nil {
		if e, ok := n.EndOf(mac); ok {
			return e, true
		}
	}
	for id, node := range n.Nodes {
		if node.Name != name {
			continue
		}
		e := end{ID: id, Name: name, Location: node.Location, Friendly: node.FriendlyName, Mesh: true}
		if macs := Addresses(node, n.Radars[id].Interfaces); len(macs) > 0 {
			e.mac = macs[0]
		}
		return e, true
	}
	return end{}, false
}

// MetaOf returns the meta of a network that has the leafs.
func MetaOf(n motion.Network, leafs func(func(motion.Leaf) bool)) setting.Meta {
	meta := setting.Meta{Network: n, Locations: map[string]string{}, FriendlyNames: map[string]string{}}
	for leaf := range leafs {
		if leaf.Located {
			meta.Locations[leaf.MAC.String()] = leaf.Location
		}
		if leaf.FriendlyName != "" {
			meta.FriendlyNames[leaf.MAC.String()] = leaf.FriendlyName
		}
	}
	return meta
}

// ShowsSignAt reports whether a sign of life at t is shown: it is, unless status was
// cleared after it; n.Mu is held.
func (n *Network) ShowsSignAt(t motion.Time) bool {
	return n.Record.StatusCleared.IsZero() || t > n.Record.StatusCleared
}

// ClearStatus forgets the status that was reported until at.
func (n *Network) ClearStatus(at motion.Time) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.Reported > at {
		return // it has reported again meanwhile
	}
	n.Status, n.StatusDirty, n.StatusStored, n.StatusHeard, n.Reported = nil, false, false, false, 0
	n.Heartbeat = motion.StatusReport{}
}

// LastMotion returns when motion was last seen.
func (n *Network) LastMotion() motion.Time {
	last, _ := n.Sense.Detection()
	return max(last, n.Heartbeat.LastMotion)
}

// Tripped returns 1 while a detection is open, 0 while none is, and nil where that
// is not known: nothing was heard lately, or the network is paused. Our own event
// machine knows it when it runs on the samples, otherwise the guardian does.
func (n *Network) Tripped(now motion.Time) *int {
	sampled := now.Since(n.Reach.Received) <= SilentAfter
	switch {
	case n.Record.Paused():
		return nil
	case sampled && !n.Source.GuardianDecides():
		tripped := 0
		if _, open := n.Sense.Detection(); open {
			tripped = 1
		}
		return &tripped
	case sampled || now.Since(n.Reported) <= SilentAfter:
		return n.Heartbeat.MotionTripped
	}
	return nil
}

// NodeOnline reports whether a node is alive: its own session is, or its
// guardian lately reported it; n.Mu is held.
func (n *Network) NodeOnline(id motion.NodeID, present NodePresences, now motion.Time) bool {
	if present.Of(id).Online {
		return true
	}
	if now.Since(n.Reported) > SilentAfter {
		return false
	}
	radar, listed := n.Listed(n.Nodes[id].Name)
	return listed && radar.Age <= SilentAfter
}

// MultiLink reports whether a leaf is a multi-link device with peer_type 2, which
// is neither listed nor configurable.
func MultiLink(leaf motion.Leaf) bool {
	return leaf.PeerType == motion.PeerClient && !leaf.MLDMAC.IsZero()
}

// ForgetRadar takes a node out of the last status report.
func (n *Network) ForgetRadar(deviceID string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.Status == nil {
		return
	}
	status := *n.Status
	status.Radars = maps.Clone(status.Radars)
	maps.DeleteFunc(status.Radars, func(_ string, radar motion.Radar) bool { return radar.DeviceID == deviceID })
	n.Status, n.StatusDirty, n.StatusStored = &status, true, false // the stored one shows it
}

// HasReported reports whether the guardian's newest full report tells of a node, also when
// it is of before the start.
func (n *Network) HasReported(name string) bool {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	_, listed := n.Listed(name)
	return listed
}

// BeginDeletion refuses further samples of the network, so that a flush meets none of a
// network that is not there.
func (n *Network) BeginDeletion() { n.countDeletion(1) }

// CancelDeletion takes them again after a deletion that has failed.
func (n *Network) CancelDeletion() { n.countDeletion(-1) }

func (n *Network) countDeletion(by int) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.Deletions += by
}
