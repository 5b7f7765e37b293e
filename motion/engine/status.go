package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/store"
)

// statusReport takes in a guardian's report (device-protocol.md 2.1). A full one
// that changes a node, leaf, link or version is in the database when it returns;
// heartbeats and unchanged reports go with the next flush.
func (e *Engine) statusReport(ctx context.Context, n *network, s *session, r motion.StatusReport, now motion.Time) error {
	e.noteClock(s, r.TS, now)
	at, _ := e.clocks.stamp(r.TS, now)
	r.LastMotion = shifted(r.LastMotion, r.TS, at)
	r.TS, r.NetworkID, r.GuardianID = at, n.id, s.device.ID
	if err := e.admissible(ctx, n, s.device, &r); err != nil {
		return err
	}
	if !r.Heartbeat() {
		if err := e.takeStatus(ctx, n, r); err != nil {
			return err
		}
	}
	e.takeHeartbeat(n, r, now)
	if e.greets(s) && n.wantsLive(now, e.live.Readers(n.id)) {
		e.sendLive(n)
	}
	return nil
}

// greets reports whether this is the first status report of a connection.
func (e *Engine) greets(s *session) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := !s.greeted
	s.greeted = true
	return first
}

// takeHeartbeat keeps what a report of either form says of this minute.
func (e *Engine) takeHeartbeat(n *network, r motion.StatusReport, now motion.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reported = now
	n.heartbeat = r
	n.heartbeat.Radars, n.heartbeat.Leafblower = nil, nil
	if r.Rev != 0 {
		n.record.AppliedRev = r.Rev
	}
	if !r.Heartbeat() {
		n.status, n.statusDirty = &r, true
		n.noteSignals(r, now)
	} else if n.status != nil {
		n.status.TS, n.status.LastMotion = r.TS, r.LastMotion
		n.status.MotionTripped, n.status.MotionEnabled = r.MotionTripped, r.MotionEnabled
	}
	n.statusHeard = true
}

// takeStatus brings the records up to date with a full report.
func (e *Engine) takeStatus(ctx context.Context, n *network, r motion.StatusReport) error {
	n.mu.Lock()
	record := n.record
	n.mu.Unlock()
	one := inventoryEntry(n, func(tx *store.Tx) (*inventory, error) {
		v := newInventory(tx, record, r.TS)
		if many := len(r.Radars); many > maxNodes { // or else it would take long to find out
			known, err := tx.Nodes(n.id)
			if err != nil || many > len(known) {
				return nil, cmp.Or(err, error(fault.New(fault.TooLarge, "radars: %d nodes: at most %d", many, maxNodes)))
			}
		}
		names := slices.Sorted(maps.Keys(r.Radars))
		nodes := make([]motion.Node, len(names)) // all of them before the links between them
		for i, name := range names {
			if err := v.mayReport(r.Radars[name]); err != nil {
				return nil, err
			}
			var err error
			if nodes[i], err = putNode(tx, n.id, r.Radars[name]); err != nil {
				return nil, err
			}
		}
		if err := v.room(nodes); err != nil {
			return nil, err
		}
		for i, name := range names {
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
	one.ofGuardian = true
	_, err := e.recordEntry(ctx, one)
	return err
}

// admissible takes those nodes out of a report that a guardian cannot tell of: what they
// are is decided where devices are adopted.
func (e *Engine) admissible(ctx context.Context, n *network, guardian motion.Device, r *motion.StatusReport) error {
	if r.Heartbeat() {
		return nil
	}
	radars, foreign := map[string]motion.Radar{}, 0
	err := e.db.View(ctx, func(tx *store.Tx) error {
		network, err := tx.Network(n.id)
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
				e.BadInput(guardian.DeviceKey.String(), "radars: "+why, nil)
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
	_, err = tx.Device(radarOf(known))
	if fault.KindOf(err) == fault.NotFound { // a guardian has told of it before, and it never posted
		return "", nil
	}
	return fmt.Sprintf("node %q and node_id %q: adopted is %q as %q", radar.DeviceID, radar.NodeName, known.DeviceID, known.Name), err
}

// mayReport refuses a node that belongs to another network: a guardian speaks
// only for its own.
func (v *inventory) mayReport(radar motion.Radar) error {
	if !plainName(radar.DeviceID) || !plainName(radar.NodeName) {
		return fault.New(fault.Invalid, "radars: every node needs a deviceId and a node_id of letters, digits, '-', '_' or ':'")
	}
	node, err := v.tx.NodeByDevice(radar.DeviceID)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err == nil && node.NetworkID != v.network.ID {
		return fault.New(fault.Forbidden, "radars: node %s belongs to another network", radar.DeviceID)
	}
	return err
}

// noteSignals keeps what a report says of each link this minute; n.mu is held.
func (n *network) noteSignals(r motion.StatusReport, now motion.Time) {
	for _, radar := range r.Radars {
		for _, peer := range radar.Links {
			src := peer.MAC.Name()
			if id, ok := n.byMAC[peer.MAC]; ok {
				src = n.nodes[id].Name
			}
			link := n.links[motion.LinkName(radar.NodeName, src)]
			if link == nil {
				continue
			}
			link.heard = now
			link.RSSI = atoi(peer.RSSI)
			link.TxBitrateMbps, link.RxBitrateMbps = atof(peer.TxBitrate)/1e6, atof(peer.RxBitrate)/1e6
		}
	}
}

// Status returns the most recent status report of a network: the guardian's
// own, or, where no guardian has ever reported, one composed from the gatekeeper
// records, sessions and links (device-protocol.md 2.5). A network of which
// nothing was ever heard is NotFound.
func (e *Engine) Status(id motion.NetworkID) (motion.StatusReport, error) {
	n, err := e.network(id)
	if err != nil {
		return motion.StatusReport{}, err
	}
	now := e.now()
	present := e.nodePresence(n, now)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.status != nil {
		report := *n.status
		report.MotionTripped, report.Leafblower = n.tripped(now), n.allowed(report.Leafblower)
		return report, nil
	}
	report := n.compose(present, now)
	if report.TS.IsZero() {
		return motion.StatusReport{}, fault.New(fault.NotFound, "network %d has never reported", id)
	}
	return report, nil
}

// allowed returns what a guardian says of leafs with those that the settings deny as
// not sounded; n.mu is held.
func (n *network) allowed(choices map[string]motion.Choice) map[string]motion.Choice {
	choices = maps.Clone(choices)
	for text, choice := range choices {
		mac, err := motion.ParseMAC(text)
		if err == nil && choice.Sounding != nil && *choice.Sounding && !n.mayTakePart(fuse.Link{Src: mac}) {
			choice.Sounding = new(bool)
			choices[text] = choice
		}
	}
	return choices
}

// nodePresence returns the presence of every node: of its own session, of the links at
// it that only the figures of the guardian name, and of the figures themselves, which
// come from the master.
func (e *Engine) nodePresence(n *network, now motion.Time) map[motion.NodeID]Presence {
	n.mu.Lock()
	devices := make(map[motion.NodeID]string, len(n.nodes))
	stored, sensed := make(map[motion.NodeID]motion.Time, len(n.nodes)), map[motion.NodeID]motion.Time{}
	for id, node := range n.nodes {
		devices[id], stored[id] = node.DeviceID, node.LastHeard
	}
	for _, link := range n.links {
		if link.IfName != matrixInterface {
			continue // a guardian's report, or the session of its node, tells more
		}
		sensed[link.Dst] = max(sensed[link.Dst], link.heard)
		if link.Mesh {
			sensed[link.Src] = max(sensed[link.Src], link.heard)
		}
	}
	if master := n.record.MasterID; n.source.Holder == guardianHolds && n.status == nil {
		sensed[master] = max(sensed[master], n.source.Heard)
	}
	n.mu.Unlock()
	present := make(map[motion.NodeID]Presence, len(devices))
	for id, device := range devices {
		p := e.presence(motion.DeviceKey{Kind: motion.RadarKind, ID: device}, now)
		p.LastHeard = max(p.LastHeard, stored[id], sensed[id])
		p.Online = p.Online || !sensed[id].IsZero() && now.Since(sensed[id]) <= silentAfter
		present[id] = p
	}
	return present
}

// compose makes the status report of a network without a reporting guardian;
// n.mu is held.
func (n *network) compose(present map[motion.NodeID]Presence, now motion.Time) motion.StatusReport {
	report := motion.StatusReport{
		NetworkID: n.id, GuardianID: n.record.GuardianID, ShardID: "local",
		MotionEnabled: n.guardian.MotionEvents.Enabled, MotionTripped: n.tripped(now), LastMotion: n.lastMotion(),
		Version: motion.Document{}, Leafblower: map[string]motion.Choice{}, Radars: map[string]motion.Radar{},
	}
	if n.record.Paused() {
		report.MotionEnabled = 0
	}
	nodes := map[string]any{}
	for id, node := range n.nodes {
		p := present[id]
		if !n.heardSince(p.LastHeard) {
			continue
		}
		report.TS = max(report.TS, p.LastHeard)
		nodes[node.Name] = map[string]any{"online": p.Online, "last_heard": p.LastHeard}
		radar := n.radars[id]
		radar.DeviceID, radar.NodeName, radar.LocationID, radar.RootMode = node.DeviceID, node.Name, node.LocationID, node.RootMode
		radar.TS, radar.Age, radar.Links = p.LastHeard, max(0, now.Since(p.LastHeard)), []motion.RadarLink{}
		report.Radars[node.Name] = radar
	}
	total, ok := n.composeLinks(&report, now)
	score := 0.0
	if total > 0 {
		score = round(float64(ok)/float64(total), 2)
	}
	report.Health = motion.Document{
		"nodes":   nodes,
		"network": map[string]any{"score": score, "links_total": total, "links_ok": ok},
	}
	return report
}

// composeLinks adds the links to a composed report, and counts them.
func (n *network) composeLinks(report *motion.StatusReport, now motion.Time) (total, ok int) {
	for _, link := range n.links {
		total++
		if link.sounds(now) && !n.denied(link) {
			ok++
		}
		leaf, isLeaf := n.leafOf(link)
		if !isLeaf {
			continue
		}
		radar := report.Radars[link.DstName]
		radar.Links = append(radar.Links, motion.RadarLink{
			MAC: leaf.MAC, PeerType: motion.PeerClient, IfName: link.IfName, Hostname: leaf.Hostname, IP: leaf.IP,
			RSSI: strconv.Itoa(link.RSSI), RSSIdB: strconv.Itoa(link.RSSI), MLDMAC: leaf.MLDMAC,
		})
		report.Radars[link.DstName] = radar
		choice := report.Leafblower[leaf.MAC.String()]
		sounding := n.soundsNow(link, now) || choice.Sounding != nil && *choice.Sounding
		choice.IsStatic, choice.Sounding = n.staticness(leaf), &sounding
		choice.Leaf = motion.Document{"mac": leaf.MAC.String(), "hostname": leaf.Hostname, "peer_type": motion.PeerClient, "if_name": link.IfName}
		if choice.AP == nil {
			choice.AP = map[string]float64{}
		}
		choice.AP[link.DstName] = scoreOf(link)
		report.Leafblower[leaf.MAC.String()] = choice
	}
	return total, ok
}

// sounds reports whether a link delivers data.
func (l *linkState) sounds(now motion.Time) bool {
	return l.Online && l.Sounding && now.Since(l.heard) <= silentAfter
}

// leafOf returns the leaf at a link's source.
func (n *network) leafOf(link *linkState) (motion.Leaf, bool) {
	mac, err := motion.ParseMAC(link.SrcName)
	if err != nil {
		return motion.Leaf{}, false
	}
	leaf, ok := n.leafs[mac]
	return leaf, ok
}
