package inventory

import (
	"fmt"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/store"
)

// deviceChange is a change of nodes and leafs on its way, all of them or none.
type deviceChange struct {
	mistakes fault.Details
	tx       *store.Tx
	seen     map[motion.NodeID]string // place in the request of each device
}

// first reports whether a device is named for the first time.
func (c *deviceChange) first(at string, id motion.NodeID) bool {
	if before, twice := c.seen[id]; twice {
		c.mistakes.Add(at, nil, "is the same device as %s", before)
		return false
	}
	c.seen[id] = at
	return true
}

// named notes what is wrong with a name that is given and that the device does not have yet.
func (c *deviceChange) named(at string, given *string, before string) {
	if given == nil || *given == before {
		return
	}
	if wrong := motion.NameMistake(*given); wrong != "" {
		c.mistakes.Add(at, *given, "%s", wrong)
	}
}

// putNode gives a node the place and name that are asked for; at is their place in the request.
func (c *deviceChange) putNode(at string, node motion.Node, location, friendlyName *string) error {
	c.named(at+".location", location, node.Location)
	c.named(at+".friendly_name", friendlyName, node.FriendlyName)
	changed := node
	setText(&changed.Location, location)
	setText(&changed.FriendlyName, friendlyName)
	if changed.Location == node.Location && changed.FriendlyName == node.FriendlyName {
		return nil
	}
	changed.UpdatedAt = c.tx.Now()
	_, err := c.tx.PutNode(changed)
	return err
}

// putLeaf gives a leaf the place, name and mobility that are asked for; at is their place in the request.
func (c *deviceChange) putLeaf(at string, leaf motion.Leaf, location, friendlyName *string, mobile *bool) error {
	c.named(at+".location", location, leaf.Location)
	c.named(at+".friendly_name", friendlyName, leaf.FriendlyName)
	changed := leaf
	if location != nil {
		changed.Location, changed.Located = *location, true
	}
	setText(&changed.FriendlyName, friendlyName)
	if mobile != nil {
		changed.Mobile = *mobile
	}
	if changed == leaf {
		return nil
	}
	changed.UpdatedAt = c.tx.Now()
	_, err := c.tx.PutLeaf(changed)
	return err
}

// setText replaces a text that is given.
func setText(text, given *string) {
	if given != nil {
		*text = *given
	}
}

// clientChange is a change of sounding clients on its way.
type clientChange struct {
	deviceChange
	changes []setting.SoundingClientChange
	nodes   []motion.Node
	leafs   []motion.Leaf
}

// apply changes a network's radar configuration, nodes and leafs, or says all that
// is wrong.
func (c *clientChange) apply(tx *store.Tx, n *motion.Network) (err error) {
	c.tx, c.seen = tx, map[motion.NodeID]string{}
	if c.nodes, err = tx.Nodes(n.ID); err != nil {
		return err
	}
	if c.leafs, err = tx.Leafs(n.ID); err != nil {
		return err
	}
	after := *n
	for _, change := range c.changes {
		if after, err = c.one(after, change); err != nil {
			return err
		}
	}
	if err := setting.Fits(&c.mistakes, after, "body.devices"); err != nil {
		return err
	}
	sounds := slices.IndexFunc(c.changes, setting.SoundingClientChange.Sounds)
	if n.Paused() && sounds >= 0 {
		return setting.WhilePaused(c.changes[sounds].At)
	}
	*n = after
	return nil
}

// one takes in one entry.
func (c *clientChange) one(n motion.Network, p setting.SoundingClientChange) (motion.Network, error) {
	id, ok := c.find(p)
	if !ok || !c.first(p.At, id) {
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

// find returns the node or leaf that all names of an entry agree on. An entry
// without any has its mistake already.
func (c *clientChange) find(p setting.SoundingClientChange) (motion.NodeID, bool) {
	var found []motion.NodeID
	if p.ID != nil {
		found = append(found, c.device(func(id motion.NodeID, _ string, _ []motion.MAC) bool { return id == *p.ID }))
	}
	if p.MAC != nil {
		found = append(found, c.device(func(_ motion.NodeID, _ string, macs []motion.MAC) bool { return slices.Contains(macs, *p.MAC) }))
	}
	if p.DeviceID != nil && *p.DeviceID != "" {
		found = append(found, c.device(func(_ motion.NodeID, device string, _ []motion.MAC) bool { return device == *p.DeviceID }))
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
func (c *clientChange) toNode(n motion.Network, p setting.SoundingClientChange, node motion.Node) (motion.Network, error) {
	if p.SoundingMode != nil {
		c.mistakes.Add(p.At+".sounding_mode", *p.SoundingMode, "not for a node: it has sounding_mesh")
	}
	if p.SoundingMesh != nil {
		n = setting.SetMesh(n, node.DeviceID, *p.SoundingMesh)
	}
	if p.Sensitivity != nil || p.SensitivityMode != nil {
		radar, err := c.tx.Radar(node.ID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return n, err
		}
		all := state.Addresses(node, radar.Interfaces)
		if len(all) == 0 {
			c.mistakes.Add(p.At, nil, "the node has no address that a sensitivity could be kept under")
			return n, nil
		}
		p.SoundingMode = nil
		n = setting.SetClient(&c.mistakes, n, p, all)
	}
	if err := c.putNode(p.At, node, p.Location, p.FriendlyName); err != nil {
		return n, fmt.Errorf("place node: %w", err)
	}
	return n, nil
}

// toLeaf changes a client.
func (c *clientChange) toLeaf(n motion.Network, p setting.SoundingClientChange, leaf motion.Leaf) (motion.Network, error) {
	if state.MultiLink(leaf) {
		c.mistakes.Add(p.At, nil, "a multi-link device with peer_type 2 cannot be configured")
		return n, nil
	}
	if p.SoundingMesh != nil {
		c.mistakes.Add(p.At+".sounding_mesh", *p.SoundingMesh, "for nodes only: a client has sounding_mode")
	}
	n = setting.SetClient(&c.mistakes, n, p, []motion.MAC{leaf.MAC})
	if err := c.putLeaf(p.At, leaf, p.Location, p.FriendlyName, nil); err != nil {
		return n, fmt.Errorf("place leaf: %w", err)
	}
	return n, nil
}
