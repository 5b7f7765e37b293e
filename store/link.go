package store

import (
	"fmt"

	"sensegate/motion"
	"sensegate/motion/fault"
)

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
	if err := tx.requireNetwork(l.NetworkID); err != nil {
		return err
	}
	return links.put(tx, linkKey{l.NetworkID, l.Name}, l)
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
	key := linkKey{network, name}
	ok, err := links.delete(tx, key)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "link %v: not found", key)
	}
	return err
}
