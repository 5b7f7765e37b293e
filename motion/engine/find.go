package engine

import (
	"cmp"
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Now returns the wall clock that the engine works by.
func (e *Engine) Now() motion.Time { return e.now() }

// Known returns NotFound when there is no such network.
func (e *Engine) Known(id motion.NetworkID) error {
	_, err := e.network(id)
	return err
}

// NetworkState is a network as it is now.
type NetworkState struct {
	// Network with its last sign of life, of the guardian or of any node, and with
	// the whole configuration documents in force. Its documents are to be read only.
	motion.Network
	Online        bool                 // the guardian or any node is
	Status        *motion.StatusReport // what Status returns; nil: never reported
	LastMotion    motion.Time          // when motion was last detected; 0: never
	MotionTripped *int                 // 1 while a detection is open, 0 while none is; nil: not known
	Nodes         []motion.Node        // as Nodes returns them
}

// NetworkState returns a network as it is now, or NotFound.
func (e *Engine) NetworkState(id motion.NetworkID) (NetworkState, error) {
	n, err := e.network(id)
	if err != nil {
		return NetworkState{}, err
	}
	state := NetworkState{Nodes: e.nodesNow(n)}
	if report, err := e.Status(id); err == nil {
		state.Status = &report
	}
	n.mu.Lock()
	state.Network = n.record
	state.GuardianConfig, state.RadarConfig = n.inForce.guardian, n.inForce.radar
	state.Meta = n.meta
	state.LastMotion, state.MotionTripped = n.lastMotion(), n.tripped(e.now())
	n.mu.Unlock()
	guardian := e.presence(state.GuardianKey(), e.now())
	state.Online, state.LastHeard = guardian.Online, max(state.LastHeard, guardian.LastHeard)
	for _, node := range state.Nodes {
		state.Online = state.Online || node.Online
		state.LastHeard = max(state.LastHeard, node.LastHeard)
	}
	return state, nil
}

// Nodes returns the nodes of a network, by id, with Online and LastHeard as they
// are now.
func (e *Engine) Nodes(id motion.NetworkID) ([]motion.Node, error) {
	n, err := e.network(id)
	if err != nil {
		return nil, err
	}
	return e.nodesNow(n), nil
}

// nodesNow is Nodes of a network that is at hand.
func (e *Engine) nodesNow(n *network) []motion.Node {
	now := e.now()
	present := e.nodePresence(n, now)
	n.mu.Lock()
	defer n.mu.Unlock()
	nodes := make([]motion.Node, 0, len(n.nodes))
	for id, node := range n.nodes {
		node.Online = n.nodeOnline(id, present, now)
		node.LastHeard = max(node.LastHeard, present[id].LastHeard, n.nodeReported(node.Name))
		if node.Version == nil {
			node.Version = motion.Document{}
		}
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, func(a, b motion.Node) int { return cmp.Compare(a.ID, b.ID) })
	return nodes
}

// nodeReported returns when the guardian last saw a node alive, by its reports
// since the start; n.mu is held.
func (n *network) nodeReported(name string) motion.Time {
	if n.status == nil || n.reported.IsZero() {
		return 0
	}
	radar, listed := n.status.Radars[name]
	if !listed {
		return 0
	}
	return n.reported.Add(-radar.Age)
}

// Node returns the node with the id as it is now, or NotFound.
func (e *Engine) Node(ctx context.Context, id motion.NodeID) (motion.Node, error) {
	return e.nodeNow(ctx, func(tx *store.Tx) (motion.Node, error) { return tx.Node(id) })
}

// NodeByDevice returns the node with the deviceId as it is now, or NotFound.
func (e *Engine) NodeByDevice(ctx context.Context, deviceID string) (motion.Node, error) {
	return e.nodeNow(ctx, func(tx *store.Tx) (motion.Node, error) { return tx.NodeByDevice(deviceID) })
}

// nodeNow looks a node up by an index of the database, which searches all
// networks at once, and returns it as it is now.
func (e *Engine) nodeNow(ctx context.Context, lookUp func(*store.Tx) (motion.Node, error)) (motion.Node, error) {
	var found motion.Node
	err := e.db.View(ctx, func(tx *store.Tx) (err error) {
		found, err = lookUp(tx)
		return err
	})
	if err != nil {
		return motion.Node{}, err
	}
	nodes, err := e.Nodes(found.NetworkID)
	if err != nil {
		return motion.Node{}, err
	}
	at := slices.IndexFunc(nodes, func(n motion.Node) bool { return n.ID == found.ID })
	if at < 0 { // deleted meanwhile
		return motion.Node{}, fault.New(fault.NotFound, "node %d: not found", found.ID)
	}
	return nodes[at], nil
}

// NodesByBSSID returns the nodes, by id, of which mac is the 2.4 GHz or 5 GHz
// access point, the mesh or the p2p BSSID. There can be several: a replaced node
// keeps its record.
func (e *Engine) NodesByBSSID(mac motion.MAC) []motion.Node {
	found := []motion.Node{}
	for _, n := range e.all() {
		n.mu.Lock()
		_, known := n.byMAC[mac]
		n.mu.Unlock()
		if !known {
			continue
		}
		for _, node := range e.nodesNow(n) {
			if slices.Contains(node.BSSIDs(), mac) {
				found = append(found, node)
			}
		}
	}
	slices.SortFunc(found, func(a, b motion.Node) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

// NetworksByMaster returns the networks whose master is the node with the id.
func (e *Engine) NetworksByMaster(ctx context.Context, id motion.NodeID) ([]motion.NetworkID, error) {
	return e.networksOf(ctx, func(tx *store.Tx) (motion.Network, error) {
		return ledBy(tx, func() (motion.Node, error) { return tx.Node(id) })
	})
}

// NetworksByMeta returns the networks whose meta matches.
func (e *Engine) NetworksByMeta(match func(motion.Document) bool) []motion.NetworkID {
	found := []motion.NetworkID{}
	for _, n := range e.all() {
		n.mu.Lock()
		meta := n.meta
		n.mu.Unlock()
		if match(meta) {
			found = append(found, n.id)
		}
	}
	slices.Sort(found)
	return found
}

// NetworksByGuardian returns the networks that a guardian leads: by its
// guardian_id, which is what callers of Core know as its deviceId, or
// by the deviceId of the master node that it runs on.
func (e *Engine) NetworksByGuardian(ctx context.Context, deviceID string) ([]motion.NetworkID, error) {
	return e.networksOf(ctx,
		func(tx *store.Tx) (motion.Network, error) { return tx.NetworkByGuardian(deviceID) },
		func(tx *store.Tx) (motion.Network, error) {
			return ledBy(tx, func() (motion.Node, error) { return tx.NodeByDevice(deviceID) })
		})
}

// ledBy returns the network whose master is the node that lookUp finds.
func ledBy(tx *store.Tx, lookUp func() (motion.Node, error)) (motion.Network, error) {
	node, err := lookUp()
	if err != nil {
		return motion.Network{}, err
	}
	network, err := tx.Network(node.NetworkID)
	if err == nil && network.MasterID != node.ID {
		return motion.Network{}, fault.New(fault.NotFound, "node %d leads no network", node.ID)
	}
	return network, err
}

// networksOf returns the networks that the look-ups find, in ascending order and
// each once.
func (e *Engine) networksOf(ctx context.Context, lookUps ...func(*store.Tx) (motion.Network, error)) ([]motion.NetworkID, error) {
	found := []motion.NetworkID{}
	err := e.db.View(ctx, func(tx *store.Tx) error {
		for _, lookUp := range lookUps {
			network, err := lookUp(tx)
			switch {
			case err == nil:
				found = append(found, network.ID)
			case fault.KindOf(err) != fault.NotFound:
				return err
			}
		}
		return nil
	})
	slices.Sort(found)
	return slices.Compact(found), err
}
