package inventory

import (
	"context"
	"slices"
	"sort"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/store"
)

// NetworkState is a network as it is now.
type NetworkState struct {
	// Network with its last sign of life, of the guardian or of any node, and with its meta as
	// callers see it. Its documents are to be read only.
	motion.Network
	Online        bool          // the guardian or any node is
	MotionEnabled int           // 1 while motion is sensed, as the guardian says, or else the settings; 0 while it is paused, too
	LastMotion    motion.Time   // when motion was last detected; 0: never
	MotionTripped *int          // 1 while a detection is open, 0 while none is; nil: not known
	Nodes         []motion.Node // as Nodes returns them
}

// NetworkState returns a network as it is now, or NotFound.
func (in *Inventory) NetworkState(id motion.NetworkID) (NetworkState, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return NetworkState{}, err
	}
	now := in.state.Now()
	present, guardian := in.presence(nil, n, now)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	current := NetworkState{Network: n.Record, LastMotion: n.LastMotion(), MotionTripped: n.Tripped(now), Nodes: nodesOf(n, present, now)}
	current.Meta = n.Meta
	current.MotionEnabled = motionEnabled(n)
	current.Online, current.LastHeard = sign(n, present, guardian, now)
	return current, nil
}

// MotionSince returns the last motion and whether it goes on as they are shown to who claimed the home at a time: what was
// before belongs to those who lived there then. nil stays nil.
func MotionSince(last *motion.Time, tripped *int, claim motion.Time) (*motion.Time, *int) {
	if last == nil || *last > claim {
		return last, tripped
	}
	if tripped != nil {
		tripped = new(int)
	}
	return nil, tripped
}

// MotionSince is the motion of a network by the function of that name; last is nil when there was none.
func (n NetworkState) MotionSince(claim motion.Time) (last *motion.Time, tripped *int) {
	if !n.LastMotion.IsZero() {
		last = &n.LastMotion
	}
	return MotionSince(last, n.MotionTripped, claim)
}

// motionEnabled returns 1 while motion is sensed: as the guardian says, or else the settings; n.Mu is held.
func motionEnabled(n *state.Network) int {
	switch {
	case n.Record.Paused(): // whatever the last report says
		return 0
	case n.Status != nil:
		return n.Status.MotionEnabled
	}
	return n.Guardian.MotionEvents.Enabled
}

// sign returns whether a network is online, and its last sign of life: of the guardian, or of any node; n.Mu is held.
func sign(n *state.Network, present state.NodePresences, guardian state.NodePresence, now motion.Time) (online bool, lastHeard motion.Time) {
	online, lastHeard = guardian.Online, max(n.Record.LastHeard, guardian.LastHeard)
	for _, id := range n.NodeIDs {
		node := nodeNow(n, id, present, now)
		online, lastHeard = online || node.Online, max(lastHeard, node.LastHeard)
	}
	return online, lastHeard
}

// Nodes returns the nodes of a network, by id, with Online and LastHeard as they
// are now.
func (in *Inventory) Nodes(id motion.NetworkID) ([]motion.Node, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return nil, err
	}
	return in.NodesOf(n), nil
}

// NodesOf is Nodes of a network that is at hand.
func (in *Inventory) NodesOf(n *state.Network) []motion.Node {
	now := in.state.Now()
	present, _ := in.presence(nil, n, now)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return nodesOf(n, present, now)
}

// nodeNow returns a node with Online and LastHeard as they are now; n.Mu is held.
func nodeNow(n *state.Network, id motion.NodeID, present state.NodePresences, now motion.Time) motion.Node {
	node := n.Nodes[id]
	node.Online = n.NodeOnline(id, present, now)
	node.LastHeard = max(node.LastHeard, present.Of(id).LastHeard, nodeReported(n, node.Name))
	return node
}

// nodesOf is NodesOf with the presence of the nodes; n.Mu is held.
func nodesOf(n *state.Network, present state.NodePresences, now motion.Time) []motion.Node {
	nodes := make([]motion.Node, 0, len(n.NodeIDs))
	for _, id := range n.NodeIDs {
		node := nodeNow(n, id, present, now)
		if node.Version == nil {
			node.Version = motion.Document{}
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// nodeReported returns when the guardian last saw a node alive, by its reports
// since the start; n.Mu is held.
func nodeReported(n *state.Network, name string) motion.Time {
	if n.Status == nil || n.Reported.IsZero() {
		return 0
	}
	radar, listed := n.Status.Radars[name]
	if !listed {
		return 0
	}
	return n.Reported.Add(-radar.Age)
}

// Node returns the node with the id as it is now, or NotFound.
func (in *Inventory) Node(ctx context.Context, id motion.NodeID) (motion.Node, error) {
	return in.nodeNow(ctx, func(tx *store.Tx) (motion.Node, error) { return tx.Node(id) })
}

// NodeByDevice returns the node with the deviceId as it is now, or NotFound.
func (in *Inventory) NodeByDevice(ctx context.Context, deviceID string) (motion.Node, error) {
	return in.nodeNow(ctx, func(tx *store.Tx) (motion.Node, error) { return tx.NodeByDevice(deviceID) })
}

// nodeNow looks a node up by an index of the database, which searches all
// networks at once, and returns it as it is now.
func (in *Inventory) nodeNow(ctx context.Context, lookUp func(*store.Tx) (motion.Node, error)) (motion.Node, error) {
	var found motion.Node
	err := in.state.DB.View(ctx, func(tx *store.Tx) (err error) {
		found, err = lookUp(tx)
		return err
	})
	if err != nil {
		return motion.Node{}, err
	}
	nodes, err := in.Nodes(found.NetworkID)
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
func (in *Inventory) NodesByBSSID(mac motion.MAC) []motion.Node {
	found := []motion.Node{}
	for _, n := range in.state.All() {
		n.Mu.Lock()
		_, known := n.ByMAC[mac]
		n.Mu.Unlock()
		if !known {
			continue
		}
		for _, node := range in.NodesOf(n) {
			if slices.Contains(node.BSSIDs(), mac) {
				found = append(found, node)
			}
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].ID < found[j].ID })
	return found
}

// NetworksByMaster returns the networks whose master is the node with the id.
func (in *Inventory) NetworksByMaster(ctx context.Context, id motion.NodeID) ([]motion.NetworkID, error) {
	return in.networksOf(ctx, func(tx *store.Tx) (motion.Network, error) {
		return ledBy(tx, func() (motion.Node, error) { return tx.Node(id) })
	})
}

// NetworksByMeta returns the networks whose meta matches.
func (in *Inventory) NetworksByMeta(match func(motion.Document) bool) []motion.NetworkID {
	found := []motion.NetworkID{}
	for _, n := range in.state.All() {
		n.Mu.Lock()
		meta := n.Meta
		n.Mu.Unlock()
		if match(meta) {
			found = append(found, n.ID)
		}
	}
	slices.Sort(found)
	return found
}

// NetworksByGuardian returns the networks that a guardian leads: by its
// guardian_id, which is what callers of Core know as its deviceId, or
// by the deviceId of the master node that it runs on.
func (in *Inventory) NetworksByGuardian(ctx context.Context, deviceID string) ([]motion.NetworkID, error) {
	return in.networksOf(ctx,
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
func (in *Inventory) networksOf(ctx context.Context, lookUps ...func(*store.Tx) (motion.Network, error)) ([]motion.NetworkID, error) {
	found := []motion.NetworkID{}
	err := in.state.DB.View(ctx, func(tx *store.Tx) error {
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
