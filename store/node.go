package store

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// nodes is the table of nodes.
var nodes = table[motion.NodeID, motion.Node]{
	name: "nodes", vital: true, noun: "node", key: key32[motion.NodeID],
	indexes: []index[motion.Node]{
		{
			name: "nodes_by_device", noun: "device id", unique: true,
			keys: func(n motion.Node) [][]byte { return [][]byte{keyText(n.DeviceID)} },
		},
		{
			name: "nodes_by_bssid", noun: "BSSID",
			keys: func(n motion.Node) [][]byte {
				var keys [][]byte
				for _, mac := range n.BSSIDs() {
					keys = append(keys, mac[:])
				}
				return keys
			},
		},
		{
			name: "nodes_by_name", noun: "name in its network", unique: true,
			keys: func(n motion.Node) [][]byte {
				return [][]byte{join(key32(n.NetworkID), keyText(n.Name))}
			},
		},
	},
}

// radars is the table of the last record that each node sent of itself.
var radars = table[motion.NodeID, motion.Radar]{name: "radars", noun: "radar record of node", key: key32[motion.NodeID]}

// nextNodeID returns the next id of the one sequence of nodes and leafs.
func (tx *Tx) nextNodeID() (motion.NodeID, error) {
	sequence, err := tx.bucket(nodes.name).NextSequence()
	return motion.NodeID(sequence), err
}

// PutNode stores n as given and returns it. A node without an id gets the next
// one, and CreatedAt and UpdatedAt of now unless given. A device id that
// another node has, or a name that another node of the network has, is a
// Conflict; a node without a name is Invalid.
func (tx *Tx) PutNode(n motion.Node) (motion.Node, error) {
	if err := tx.requireNetwork(n.NetworkID); err != nil {
		return n, err
	}
	if n.Name == "" {
		return n, fault.New(fault.Invalid, "node_name: must not be empty")
	}
	if n.ID == 0 {
		id, err := tx.nextNodeID()
		if err != nil {
			return n, err
		}
		n.ID = id
		n.CreatedAt, n.UpdatedAt = tx.orNow(n.CreatedAt), tx.orNow(n.UpdatedAt)
	}
	return n, nodes.put(tx, n.ID, n)
}

// Node returns the node with the id.
func (tx *Tx) Node(id motion.NodeID) (motion.Node, error) {
	n, err := nodes.must(tx, id)
	if err != nil {
		return n, err
	}
	return tx.nodeHeard(n)
}

// NodeByDevice returns the node with the device id.
func (tx *Tx) NodeByDevice(deviceID string) (motion.Node, error) {
	n, ok, err := nodes.by(tx, "nodes_by_device", keyText(deviceID))
	return tx.foundNode(n, ok, err, "device "+deviceID)
}

// NodeByName returns the node of a network with the wire name.
func (tx *Tx) NodeByName(network motion.NetworkID, name string) (motion.Node, error) {
	n, ok, err := nodes.by(tx, "nodes_by_name", join(key32(network), keyText(name)))
	return tx.foundNode(n, ok, err, "node "+name)
}

// NodesByBSSID returns the nodes that say that mac is one of their BSSIDs, by id. Anybody
// can hear a BSSID and say so.
func (tx *Tx) NodesByBSSID(mac motion.MAC) ([]motion.Node, error) {
	return nodes.allBy(tx, "nodes_by_bssid", mac[:])
}

// AdoptedByBSSID returns of the nodes that NodesByBSSID returns those whose devices are
// adopted.
func (tx *Tx) AdoptedByBSSID(mac motion.MAC) ([]motion.Node, error) {
	list, err := tx.NodesByBSSID(mac)
	return slices.DeleteFunc(list, func(n motion.Node) bool {
		_, ok, unread := devices.get(tx, motion.DeviceKey{Kind: motion.RadarKind, ID: n.DeviceID})
		return !ok || unread != nil
	}), err
}

// foundNode completes a node that was looked for, or says that it is not there.
func (tx *Tx) foundNode(n motion.Node, ok bool, err error, what string) (motion.Node, error) {
	if err != nil {
		return n, err
	}
	if !ok {
		return n, fault.New(fault.NotFound, "%.80s: not found", what)
	}
	return tx.nodeHeard(n)
}

// Nodes returns the nodes of a network, by id.
func (tx *Tx) Nodes(network motion.NetworkID) ([]motion.Node, error) {
	list, err := nodes.allBy(tx, "nodes_by_name", key32(network))
	list, err = mapped(list, err, tx.nodeHeard)
	sortByID(list, func(n motion.Node) motion.NodeID { return n.ID })
	return list, err
}

// nodeHeard lays the last sign of life of the node's agent over n.
func (tx *Tx) nodeHeard(n motion.Node) (motion.Node, error) {
	last, _, err := heard.get(tx, motion.DeviceKey{Kind: motion.RadarKind, ID: n.DeviceID})
	n.LastHeard = max(n.LastHeard, last.At)
	return n, err
}

// DeleteNode removes a node and its radar record; its device stays.
func (tx *Tx) DeleteNode(id motion.NodeID) error {
	if err := nodes.mustDelete(tx, id); err != nil {
		return err
	}
	return radars.delete(tx, id)
}

// PutRadar stores what a node last said of itself.
func (tx *Tx) PutRadar(node motion.NodeID, r motion.Radar) error {
	if tx.bucket(nodes.name).Get(key32(node)) == nil {
		return fault.New(fault.NotFound, "node %d: not found", node)
	}
	return radars.put(tx, node, r)
}

// Radar returns what a node last said of itself.
func (tx *Tx) Radar(node motion.NodeID) (motion.Radar, error) { return radars.must(tx, node) }
