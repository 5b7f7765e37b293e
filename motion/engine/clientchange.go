package engine

import (
	"fmt"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/store"
)

// clientChange is a change of sounding clients on its way.
type clientChange struct {
	network  motion.NetworkID
	patches  []setting.ClientPatch
	mistakes setting.Mistakes

	tx    *store.Tx
	nodes []motion.Node
	leafs []motion.Leaf
	seen  map[motion.NodeID]string // place in the request of each device
}

// apply changes a network's radar configuration, nodes and leafs, or says all that
// is wrong.
func (c *clientChange) apply(tx *store.Tx, n *motion.Network) (err error) {
	c.tx, c.seen = tx, map[motion.NodeID]string{}
	if c.nodes, err = tx.Nodes(c.network); err != nil {
		return err
	}
	if c.leafs, err = tx.Leafs(c.network); err != nil {
		return err
	}
	after := *n
	for _, p := range c.patches {
		if after, err = c.one(after, p); err != nil {
			return err
		}
	}
	if err := setting.Fits(&c.mistakes, after, "body.devices"); err != nil {
		return err
	}
	sounds := slices.IndexFunc(c.patches, setting.ClientPatch.Sounds)
	if n.Paused() && sounds >= 0 {
		return setting.WhilePaused(c.patches[sounds].At)
	}
	*n = after
	return nil
}

// one takes in one entry.
func (c *clientChange) one(n motion.Network, p setting.ClientPatch) (motion.Network, error) {
	id, ok := c.find(p)
	if !ok || !c.first(p, id) {
		return n, nil
	}
	for _, node := range c.nodes {
		if node.ID == id {
			return c.toNode(n, p, node)
		}
	}
	for _, leaf := range c.leafs {
		if leaf.ID == id {
			return c.toLeaf(n, p, leaf)
		}
	}
	return n, fmt.Errorf("sounding clients: device %d is gone", id)
}

// first reports whether a device is named for the first time.
func (c *clientChange) first(p setting.ClientPatch, id motion.NodeID) bool {
	if before, twice := c.seen[id]; twice {
		c.mistakes.Add(p.At, nil, "is the same device as %s", before)
		return false
	}
	c.seen[id] = p.At
	return true
}

// find returns the node or leaf that all names of an entry agree on. An entry
// without any has its mistake already.
func (c *clientChange) find(p setting.ClientPatch) (motion.NodeID, bool) {
	var found []motion.NodeID
	if p.ID != 0 {
		found = append(found, c.device(func(id motion.NodeID, _ string, _ []motion.MAC) bool { return id == p.ID }))
	}
	if !p.MAC.IsZero() {
		found = append(found, c.device(func(_ motion.NodeID, _ string, macs []motion.MAC) bool { return slices.Contains(macs, p.MAC) }))
	}
	if p.DeviceID != "" {
		found = append(found, c.device(func(_ motion.NodeID, device string, _ []motion.MAC) bool { return device == p.DeviceID }))
	}
	found = slices.Compact(found)
	switch {
	case len(found) > 1:
		c.mistakes.Add(p.At, nil, "mac, id and device_id do not name the same device")
	case len(found) == 1 && found[0] == 0:
		c.mistakes.Add(p.At, nil, "no such node or client in this network")
	}
	return slices.Max(append(found, 0)), len(found) == 1 && found[0] != 0
}

// device returns the id of the first node or leaf that matches, 0 when none does.
func (c *clientChange) device(matches func(id motion.NodeID, device string, macs []motion.MAC) bool) motion.NodeID {
	for _, node := range c.nodes {
		if matches(node.ID, node.DeviceID, append(node.BSSIDs(), node.EthMAC)) {
			return node.ID
		}
	}
	for _, leaf := range c.leafs {
		if matches(leaf.ID, "", []motion.MAC{leaf.MAC}) {
			return leaf.ID
		}
	}
	return 0
}

// toNode changes a node.
func (c *clientChange) toNode(n motion.Network, p setting.ClientPatch, node motion.Node) (motion.Network, error) {
	if p.Mode != nil {
		c.mistakes.Add(p.At+".sounding_mode", *p.Mode, "not for a node: it has sounding_mesh")
	}
	if p.Mesh != nil {
		n = setting.SetMesh(n, node.DeviceID, *p.Mesh)
	}
	if p.Sensitivity != nil || p.SensitivityMode != nil {
		radar, err := c.tx.Radar(node.ID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return n, err
		}
		all := addresses(node, radar)
		if len(all) == 0 {
			c.mistakes.Add(p.At, nil, "the node has no address that a sensitivity could be kept under")
			return n, nil
		}
		p.Mode = nil
		n = setting.SetClient(&c.mistakes, n, p, all)
	}
	changed := node
	setText(&changed.Location, p.Location)
	setText(&changed.FriendlyName, p.FriendlyName)
	if changed.Location == node.Location && changed.FriendlyName == node.FriendlyName {
		return n, nil
	}
	changed.UpdatedAt = c.tx.Now()
	if _, err := c.tx.PutNode(changed); err != nil {
		return n, fmt.Errorf("place node: %w", err)
	}
	return n, nil
}

// toLeaf changes a client.
func (c *clientChange) toLeaf(n motion.Network, p setting.ClientPatch, leaf motion.Leaf) (motion.Network, error) {
	if multiLink(leaf) {
		c.mistakes.Add(p.At, nil, "a multi-link device with peer_type 2 cannot be configured")
		return n, nil
	}
	if p.Mesh != nil {
		c.mistakes.Add(p.At+".sounding_mesh", *p.Mesh, "for nodes only: a client has sounding_mode")
	}
	n = setting.SetClient(&c.mistakes, n, p, []motion.MAC{leaf.MAC})
	changed := leaf
	if p.Location != nil {
		changed.Location, changed.Located = *p.Location, true
	}
	setText(&changed.FriendlyName, p.FriendlyName)
	if changed == leaf {
		return n, nil
	}
	changed.UpdatedAt = c.tx.Now()
	if _, err := c.tx.PutLeaf(changed); err != nil {
		return n, fmt.Errorf("place leaf: %w", err)
	}
	return n, nil
}

// setText replaces a text that is given.
func setText(text, given *string) {
	if given != nil {
		*text = *given
	}
}
