package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/store"
)

// network is the state of one network. Everything below mu is guarded by it,
// except what stands before it.
type network struct {
	id   motion.NetworkID
	pace pace
	cut  historyCut

	mu        sync.Mutex
	deletions int // under way or done: samples are not kept any more
	record    motion.Network
	guardian  motion.GuardianConfig // in force
	radar     motion.RadarConfig    // in force
	inForce   documents
	meta      motion.Document // as callers see it; replaced as a whole, never changed

	nodes  map[motion.NodeID]motion.Node
	byMAC  map[motion.MAC]motion.NodeID // every address of every node
	leafs  map[motion.MAC]motion.Leaf
	links  map[string]*linkState // by link name
	radars map[motion.NodeID]motion.Radar

	status       *motion.StatusReport // last full report of a guardian
	statusDirty  bool                 // a full one came since it was stored
	statusStored bool                 // the database holds one
	statusHeard  bool                 // one of any form came since the last flush
	heartbeat    motion.StatusReport  // last report of any form, without radars
	reported     motion.Time          // when a guardian last reported
	named        motion.Time          // when links of its figures were last made known
	detected     detectedAt

	source  source
	sensing sensing
	live    liveState

	throughput throughputWatch
}

// documents are the whole configuration documents in force, defaults included.
// They are replaced and never changed, so that readers may keep them.
type documents struct{ guardian, radar motion.Document }

// linkState is a link's record with what is known of it this minute.
type linkState struct {
	motion.Link
	heard      motion.Time  // receive time of its last data
	throughput fuse.Reading // of its last sample
	left       string       // the reason why the leaf blower leaves it out; "": it does not
}

// loadNetwork reads a network from the database. What its links have learned, and the
// state of its events, come again by themselves: when they cannot be read, it begins
// without them.
func (e *Engine) loadNetwork(tx *store.Tx, record motion.Network) (*network, error) {
	n := &network{id: record.ID, pace: newPace()}
	if err := n.readRecords(tx, record); err != nil {
		return nil, fmt.Errorf("network %d: %w", record.ID, err)
	}
	status, err := tx.Status(record.ID)
	switch {
	case err == nil:
		n.status, n.statusStored = &status, true
	case fault.KindOf(err) != fault.NotFound:
		return nil, err
	}
	l, _, err := stateFrom[learned](tx.DetectorState(record.ID))
	if err != nil {
		e.log.Warn("what links have learned cannot be read: they learn anew", "network", record.ID, "err", err)
	}
	n.sensing = newSensing(n, l)
	events, stored, err := stateFrom[fuse.State](tx.EventState(record.ID))
	if err != nil {
		e.log.Warn("the state of events cannot be read: it begins anew", "network", record.ID, "err", err)
	}
	if stored {
		n.sensing.events.Restore(events)
	}
	return n, nil
}

// stateFrom decodes what was stored of a state. ok is whether there is one; on an error it
// is the zero state.
func stateFrom[S any](raw json.RawMessage, err error) (state S, ok bool, _ error) {
	if err != nil || raw == nil {
		return state, false, err
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return *new(S), false, err
	}
	return state, true, nil
}

// readRecords takes the records of a network from the database into memory,
// keeping what is known of each link this minute.
func (n *network) readRecords(tx *store.Tx, record motion.Network) error {
	nodes, err := tx.Nodes(n.id)
	if err != nil {
		return err
	}
	leafs, err := tx.Leafs(n.id)
	if err != nil {
		return err
	}
	links, err := tx.Links(n.id)
	if err != nil {
		return err
	}
	if n.record.ID != 0 {
		record.AppliedRev = n.record.AppliedRev // the database has it with the next flush
	}
	n.record, n.guardian, n.radar = record, record.Guardian(), record.Radar()
	n.inForce = documents{motion.WithDefaults(n.guardian, record.GuardianConfig), motion.WithDefaults(n.radar, record.RadarConfig)}
	n.nodes, n.byMAC = map[motion.NodeID]motion.Node{}, map[motion.MAC]motion.NodeID{}
	n.radars = map[motion.NodeID]motion.Radar{}
	for _, node := range nodes {
		radar, err := tx.Radar(node.ID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		n.nodes[node.ID], n.radars[node.ID] = node, radar
		for _, mac := range addresses(node, radar) {
			n.byMAC[mac] = node.ID
		}
	}
	n.leafs = map[motion.MAC]motion.Leaf{}
	for _, leaf := range leafs {
		n.leafs[leaf.MAC] = leaf
	}
	before := n.links
	n.links = map[string]*linkState{}
	for _, link := range links {
		state := &linkState{Link: link}
		if old := before[link.Name]; old != nil {
			state.heard, state.throughput, state.left, state.RSSI = old.heard, old.throughput, old.left, old.RSSI
			if state.sensedHere() && old.Channel != 0 {
				state.Channel = old.Channel
			}
			state.TxBitrateMbps, state.RxBitrateMbps = old.TxBitrateMbps, old.RxBitrateMbps
		}
		n.links[link.Name] = state
	}
	n.meta = metaOf(record, slices.Values(leafs)).View()
	return nil
}

// addresses returns every address a node receives and sends with.
func addresses(node motion.Node, radar motion.Radar) []motion.MAC {
	macs := node.BSSIDs()
	if !node.EthMAC.IsZero() {
		macs = append(macs, node.EthMAC)
	}
	for _, i := range radar.Interfaces {
		if !i.MAC.IsZero() {
			macs = append(macs, i.MAC)
		}
	}
	return macs
}

// reload brings a network's records in memory up to date after a commit.
func (e *Engine) reload(ctx context.Context, id motion.NetworkID) error {
	e.reloading.Lock()
	defer e.reloading.Unlock()
	return e.db.View(ctx, func(tx *store.Tx) error {
		record, err := tx.Network(id)
		if err != nil {
			return err
		}
		e.mu.Lock()
		n := e.networks[id]
		e.mu.Unlock()
		if n == nil {
			if n, err = e.loadNetwork(tx, record); err != nil {
				return err
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.networks[id] == nil {
				e.networks[id] = n
			}
			return nil
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if err := n.readRecords(tx, record); err != nil {
			return err
		}
		n.sensing.reconfigure(n)
		n.chooseLinks(e.now())
		e.configureEvents(n, e.now(), "")
		return nil
	})
}

// end is one end of a link.
type end struct {
	id       motion.NodeID
	name     string // stable wire name
	location string
	friendly string
	mac      motion.MAC
	mesh     bool // a node
}

// endOf returns the node or leaf that has an address.
func (n *network) endOf(mac motion.MAC) (end, bool) {
	if id, ok := n.byMAC[mac]; ok {
		node := n.nodes[id]
		return end{id: id, name: node.Name, location: node.Location, friendly: node.FriendlyName, mac: mac, mesh: true}, true
	}
	if leaf, ok := n.leafs[mac]; ok {
		return end{id: leaf.ID, name: mac.Name(), location: leaf.Location, friendly: leaf.DisplayName(), mac: mac}, true
	}
	return end{}, false
}

// endNamed returns the node or leaf that has a stable wire name.
func (n *network) endNamed(name string) (end, bool) {
	if mac, err := motion.ParseMAC(name); err == nil {
		if e, ok := n.endOf(mac); ok {
			return e, true
		}
	}
	for id, node := range n.nodes {
		if node.Name != name {
			continue
		}
		e := end{id: id, name: name, location: node.Location, friendly: node.FriendlyName, mesh: true}
		if macs := addresses(node, n.radars[id]); len(macs) > 0 {
			e.mac = macs[0]
		}
		return e, true
	}
	return end{}, false
}
