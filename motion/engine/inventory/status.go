package inventory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Report takes in a guardian's report (device-protocol.md 2.1). A full one
// that changes a node, leaf, link or version is in the database when it returns;
// heartbeats and unchanged reports go with the next flush.
func (in *Inventory) Report(ctx context.Context, n *state.Network, s *state.Session, r motion.StatusReport, now motion.Time) error {
	in.state.NoteClock(s, r.TS, now)
	at, _ := in.state.OwnClock.Stamp(r.TS, now)
	r.LastMotion = state.Shifted(r.LastMotion, r.TS, at)
	r.TS, r.NetworkID, r.GuardianID = at, n.ID, s.Device.ID
	if err := in.admissible(ctx, n, s.Device.DeviceKey, &r); err != nil {
		return err
	}
	if !r.Heartbeat() {
		if err := in.takeStatus(ctx, n, r); err != nil {
			return err
		}
	}
	in.takeHeartbeat(n, r, now)
	return nil
}

// takeHeartbeat keeps what a report of either form says of this minute.
func (in *Inventory) takeHeartbeat(n *state.Network, r motion.StatusReport, now motion.Time) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.Reported = now
	n.Heartbeat = r
	n.Heartbeat.Radars, n.Heartbeat.Leafblower = nil, nil
	if r.Rev != 0 {
		n.Record.AppliedRev = r.Rev
	}
	if !r.Heartbeat() {
		n.Status, n.StatusDirty = &r, true
		noteSignals(n, r, now)
	} else if n.Status != nil {
		n.Status.TS, n.Status.LastMotion = r.TS, r.LastMotion
		n.Status.MotionTripped, n.Status.MotionEnabled = r.MotionTripped, r.MotionEnabled
	}
	n.StatusHeard = true
}

// takeStatus brings the records up to date with a full report.
func (in *Inventory) takeStatus(ctx context.Context, n *state.Network, r motion.StatusReport) error {
	n.Mu.Lock()
	record := n.Record
	n.Mu.Unlock()
	one := UpdateEntry(n, func(tx *store.Tx) (*Update, error) {
		v := NewUpdate(tx, record, r.TS)
		if many := len(r.Radars); many > MaxNodes { // or else it would take long to find out
			known, err := tx.Nodes(n.ID)
			if err != nil || many > len(known) {
				return nil, cmp.Or(err, error(fault.New(fault.TooLarge, "radars: %d nodes: at most %d", many, MaxNodes)))
			}
		}
		names := slices.Sorted(maps.Keys(r.Radars))
		nodes := make([]motion.Node, len(names)) // all of them before the links between them
		for i, name := range names {
			if err := v.mayReport(r.Radars[name]); err != nil {
				return nil, err
			}
			var err error
			if nodes[i], err = PutNode(tx, n.ID, r.Radars[name]); err != nil {
				return nil, err
			}
		}
		if err := v.room(nodes); err != nil {
			return nil, err
		}
		for i, name := range names {
			if err := v.Unmask(nodes[i]); err != nil {
				return nil, err
			}
			if err := v.peers(nodes[i], r.Radars[name], r.Leafblower); err != nil {
				return nil, err
			}
		}
		// When it starts a guardian may not have heard all of its nodes yet; later it
		// speaks for every one, and a node it leaves out is gone with its links.
		return v, v.gone(func(id motion.NodeID) bool {
			return !r.Startup || slices.ContainsFunc(nodes, func(node motion.Node) bool { return node.ID == id })
		})
	})
	one.OfGuardian = true
	_, err := in.events.Put(ctx, one)
	return err
}

// admissible takes those nodes out of a report that a guardian cannot tell of: what they
// are is decided where devices are adopted.
func (in *Inventory) admissible(ctx context.Context, n *state.Network, guardian motion.DeviceKey, r *motion.StatusReport) error {
	if r.Heartbeat() {
		return nil
	}
	radars, foreign := map[string]motion.Radar{}, 0
	err := in.state.DB.View(ctx, func(tx *store.Tx) error {
		network, err := tx.Network(n.ID)
		if err != nil {
			return err
		}
		for name, radar := range r.Radars {
			why, err := untold(tx, network, radar)
			if err != nil {
				return err
			}
			if why == ofAnother {
				foreign++
			}
			if why != "" {
				in.state.BadInput(guardian.String(), "radars: "+why, nil)
				continue
			}
			radars[name] = radar
		}
		return nil
	})
	if err == nil && foreign > 0 && foreign == len(r.Radars) {
		return fault.New(fault.Forbidden, "radars: all nodes belong to another network")
	}
	r.Radars = radars
	return err
}

// ofAnother is why a guardian cannot tell of a node that is in another network.
const ofAnother = "a node is one of another network"

// untold returns why a guardian cannot tell of a node, "" when it can: the node was
// deleted and not adopted since, or would get the record or the node_id of an adopted
// device. An adopted device says itself, at the gatekeeper, what its node_id is, unless
// it has never said one.
func untold(tx *store.Tx, network motion.Network, radar motion.Radar) (why string, err error) {
	if slices.Contains(network.Removed, radar.DeviceID) {
		return fmt.Sprintf("node %q was deleted: it has to be adopted again", radar.DeviceID), nil
	}
	own, err := tx.NodeByDevice(radar.DeviceID)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return "", err
	}
	holder, err := tx.NodeByName(network.ID, radar.NodeName)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return "", err
	}
	known := own
	switch {
	case own.ID != 0 && own.NetworkID != network.ID: // whoever spoke of it first must not silence the rest of the report
		return ofAnother, nil
	case own.ID == holder.ID: // as it is known
		return "", nil
	case own.ID != 0 && holder.ID != 0:
		return fmt.Sprintf("node_id %q of node %q is that of node %q", radar.NodeName, radar.DeviceID, holder.DeviceID), nil
	case own.ID == 0:
		known = holder
	case own.Name == own.DeviceID: // it has said none
		return "", nil
	}
	_, err = tx.Device(RadarOf(known))
	if fault.KindOf(err) == fault.NotFound { // a guardian has told of it before, and it never posted
		return "", nil
	}
	return fmt.Sprintf("node %q and node_id %q: adopted is %q as %q", radar.DeviceID, radar.NodeName, known.DeviceID, known.Name), err
}

// mayReport refuses a node that belongs to another network: a guardian speaks
// only for its own.
func (v *Update) mayReport(radar motion.Radar) error {
	if !PlainName(radar.DeviceID) || !PlainName(radar.NodeName) {
		return fault.New(fault.Invalid, "radars: every node needs a deviceId and a node_id of letters, digits, '-', '_' or ':'")
	}
	node, err := v.Tx.NodeByDevice(radar.DeviceID)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err == nil && node.NetworkID != v.network.ID {
		return fault.New(fault.Forbidden, "radars: node %s belongs to another network", radar.DeviceID)
	}
	return err
}

// noteSignals keeps what a report says of each link this minute; n.Mu is held.
func noteSignals(n *state.Network, r motion.StatusReport, now motion.Time) {
	for _, radar := range r.Radars {
		for _, peer := range radar.Links {
			src := peer.MAC.Name()
			if id, ok := n.ByMAC[peer.MAC]; ok {
				src = n.Nodes[id].Name
			}
			link := n.Links[motion.LinkName(radar.NodeName, src)]
			if link == nil {
				continue
			}
			link.Heard = now
			link.RSSI = atoi(peer.RSSI)
			link.TxBitrateMbps, link.RxBitrateMbps = atof(peer.TxBitrate)/1e6, atof(peer.RxBitrate)/1e6
		}
	}
}

// presence returns the presence of every node: of its own session, of the links at it that
// only the figures of the guardian name, and of the figures themselves, which come from the
// master; and that of the guardian's own session. It uses the room of former presences.
func (in *Inventory) presence(room state.NodePresences, n *state.Network, now motion.Time) (nodes state.NodePresences, guardian state.NodePresence) {
	n.Mu.Lock()
	nodes = room[:0]
	for _, id := range n.NodeIDs {
		node := n.Nodes[id]
		nodes = append(nodes, state.NodePresence{Node: id, Device: node.DeviceID, LastHeard: node.LastHeard})
	}
	for _, link := range n.Figured { // of others a guardian's report, or the session of its node, tells more
		nodes.NoteFigures(link.Dst, link.Heard)
		if link.Mesh {
			nodes.NoteFigures(link.Src, link.Heard)
		}
	}
	if n.Source.Holder == state.GuardianHolds && n.Status == nil {
		nodes.NoteFigures(n.Record.MasterID, n.Source.Heard)
	}
	key := n.Record.GuardianKey()
	n.Mu.Unlock()
	for i := range nodes {
		node := &nodes[i]
		online, heard := in.state.Sign(motion.DeviceKey{Kind: motion.RadarKind, ID: node.Device}, now)
		node.Online = online || !node.Figured.IsZero() && now.Since(node.Figured) <= state.SilentAfter
		node.LastHeard = max(node.LastHeard, heard, node.Figured)
	}
	guardian.Online, guardian.LastHeard = in.state.Sign(key, now)
	return nodes, guardian
}

// leafOf returns the leaf at a link's source.
func leafOf(n *state.Network, link *state.Link) (motion.Leaf, bool) {
	mac, err := motion.ParseMAC(link.SrcName)
	if err != nil {
		return motion.Leaf{}, false
	}
	leaf, ok := n.Leafs[mac]
	return leaf, ok
}
