package store

import (
	"fmt"
	"sort"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// leafs is the table of leafs.
var leafs = table[motion.NodeID, motion.Leaf]{
	name: "leafs", noun: "leaf", key: key32[motion.NodeID],
	indexes: []index[motion.Leaf]{{
		name: "leafs_by_mac", noun: "MAC in its network", unique: true,
		keys: func(l motion.Leaf) [][]byte { return [][]byte{leafMAC(l.NetworkID, l.MAC)} },
	}},
}

// leafMAC returns the key of a leaf in the index by MAC.
func leafMAC(network motion.NetworkID, mac motion.MAC) []byte {
	return join(key32(network), mac[:])
}

// PutLeaf stores l as given and returns it. A leaf without an id gets the next
// one of the sequence shared with nodes, and CreatedAt and UpdatedAt of now
// unless given. A MAC that another leaf of the network has is a Conflict.
func (tx *Tx) PutLeaf(l motion.Leaf) (motion.Leaf, error) {
	if err := tx.requireNetwork(l.NetworkID); err != nil {
		return l, err
	}
	if l.ID == 0 {
		id, err := tx.nextNodeID()
		if err != nil {
			return l, err
		}
		l.ID = id
		l.CreatedAt, l.UpdatedAt = tx.orNow(l.CreatedAt), tx.orNow(l.UpdatedAt)
	}
	return l, leafs.put(tx, l.ID, l)
}

// Leaf returns the leaf with the id.
func (tx *Tx) Leaf(id motion.NodeID) (motion.Leaf, error) { return leafs.must(tx, id) }

// LeafByMAC returns the leaf of a network with the MAC.
func (tx *Tx) LeafByMAC(network motion.NetworkID, mac motion.MAC) (motion.Leaf, error) {
	l, ok, err := leafs.by(tx, "leafs_by_mac", leafMAC(network, mac))
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "leaf %s: not found", mac)
	}
	return l, err
}

// Leafs returns the leafs of a network, by id.
func (tx *Tx) Leafs(network motion.NetworkID) ([]motion.Leaf, error) {
	list, err := leafs.allBy(tx, "leafs_by_mac", key32(network))
	if err != nil {
		return nil, err
	}
	sortByID(list, func(l motion.Leaf) motion.NodeID { return l.ID })
	return list, nil
}

// DeleteLeaf removes a leaf.
func (tx *Tx) DeleteLeaf(id motion.NodeID) error {
	return leafs.mustDelete(tx, id)
}

// orNow returns t, or the time of the transaction when t is not known.
func (tx *Tx) orNow(t motion.Time) motion.Time {
	if t.IsZero() {
		return tx.now
	}
	return t
}

// sortByID orders records by their id.
func sortByID[V any](list []V, id func(V) motion.NodeID) {
	sort.Slice(list, func(i, j int) bool { return id(list[i]) < id(list[j]) })
}

// linkKey names a link: its name is unique in its network.
type linkKey struct {
	network motion.NetworkID
	name    string
}

// String returns the name of the link and its network, for messages.
func (k linkKey) String() string { return fmt.Sprintf("%.80s of network %d", k.name, k.network) }

// bytes returns the key in the table.
func (k linkKey) bytes() []byte { return join(key32(k.network), keyText(k.name)) }

// links is the table of links.
var links = table[linkKey, motion.Link]{name: "links", noun: "link", key: linkKey.bytes}

// PutLink stores a link under its network and name.
func (tx *Tx) PutLink(l motion.Link) error {
	return links.putOf(tx, l.NetworkID, linkKey{l.NetworkID, l.Name}, l)
}

// Link returns the link of a network with the name.
func (tx *Tx) Link(network motion.NetworkID, name string) (motion.Link, error) {
	return links.must(tx, linkKey{network, name})
}

// Links returns the links of a network, by name.
func (tx *Tx) Links(network motion.NetworkID) ([]motion.Link, error) {
	return links.all(tx, key32(network))
}

// DeleteLink removes a link.
func (tx *Tx) DeleteLink(network motion.NetworkID, name string) error {
	return links.mustDelete(tx, linkKey{network, name})
}
