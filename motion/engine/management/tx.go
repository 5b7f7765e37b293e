package management

import (
	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/store"
)

// commandTx is the transaction of one event.
type commandTx struct {
	*store.Tx
	engine *Manager
	now    motion.Time
	routes map[motion.NodeID]commandRoute
}

// commandRoute is how a node can be reached now.
type commandRoute struct {
	network motion.NetworkID
	device  motion.DeviceKey // empty: not at all
	room    int              // how many commands it takes
}

// beginCommands makes the event's view of a transaction; m.open.mu is held.
func (m *Manager) beginCommands(tx *store.Tx) *commandTx {
	return &commandTx{Tx: tx, engine: m, now: m.state.Now(), routes: map[motion.NodeID]commandRoute{}}
}

// route returns how a node can be reached: through its own agent, or through the
// guardian that runs on it when that alone is connected.
func (tx *commandTx) route(id motion.NodeID) commandRoute {
	r, known := tx.routes[id]
	if known {
		return r
	}
	node, err := tx.Node(id)
	if err == nil {
		r = commandRoute{network: node.NetworkID, room: commandWindow - tx.engine.open.nodes[id].sent}
		r.device = tx.engine.commandDevice(tx.Tx, node)
	}
	tx.routes[id] = r
	return r
}

// commandDevice returns the connected device that gets the commands of a node; an
// empty key when there is none.
func (m *Manager) commandDevice(tx *store.Tx, node motion.Node) motion.DeviceKey {
	radar := motion.DeviceKey{Kind: motion.RadarKind, ID: node.DeviceID}
	if m.state.IsConnected(radar) {
		return radar
	}
	network, err := tx.Network(node.NetworkID)
	guardian := network.GuardianKey()
	if err == nil && network.MasterID == node.ID && m.state.IsConnected(guardian) {
		return guardian
	}
	return motion.DeviceKey{}
}

// online reports whether a node takes one more command now; it then counts as
// sent.
func (tx *commandTx) online(id motion.NodeID) bool {
	r := tx.route(id)
	if r.device.ID == "" || r.room <= 0 {
		return false
	}
	r.room--
	tx.routes[id] = r
	return true
}

// cancel returns the steps that cancel the open commands of a node, or of a
// network when node is 0.
func (tx *commandTx) cancel(network motion.NetworkID, node motion.NodeID) ([]command.Step, error) {
	open, err := tx.OpenCommands(network, node)
	if err != nil {
		return nil, err
	}
	steps := make([]command.Step, len(open))
	for i, c := range open {
		steps[i] = c.Cancel(tx.now)
	}
	return steps, nil
}
