package inventory

import (
	"context"
	"maps"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/store"
)

// Meta returns the meta of a network (interfaces.md 2.1) as callers see it:
// home, location and friendly_name are views of the guardian configuration and the
// leafs. With a key it is the value at that top-level key; home always has the
// values in force then. NotFound: no such network or key. The value is shared and
// must not be changed.
func (in *Inventory) Meta(id motion.NetworkID, key string) (any, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return nil, err
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	switch key {
	case "":
		return n.Meta, nil
	case "home":
		return setting.Home(n.Guardian.MotionEvents), nil
	case "location", "friendly_name":
		if n.Meta[key] == nil {
			return motion.Document{}, nil
		}
	}
	return valueOf(n.Meta, "meta", key)
}

// valueOf returns the value at a top-level key of a document, or NotFound.
func valueOf(d motion.Document, document, key string) (any, error) {
	value, there := d[key]
	if !there {
		return nil, fault.New(fault.NotFound, "key: %s has no %.64q", document, key)
	}
	return value, nil
}

// EditMeta changes the meta of a network, and what its views are views of, with
// one edit. Conflict and push are as in EditGuardian.
func (in *Inventory) EditMeta(ctx context.Context, id motion.NetworkID, push bool, edit setting.Edit) error {
	_, err := in.ChangeConfig(ctx, id, push, func(tx *store.Tx, n *motion.Network) error {
		leafs, err := tx.Leafs(id)
		if err != nil {
			return err
		}
		before := state.MetaOf(*n, slices.Values(leafs))
		after, err := before.Edit(edit)
		if err != nil {
			return err
		}
		if err := setting.HeldByPause(*n, after.Network); err != nil {
			return err
		}
		*n = after.Network
		return putTexts(tx, leafs, before, after)
	})
	return err
}

// putTexts brings the leafs of a network in line with the places and names of its
// meta. A leaf that was not seen yet is made known.
func putTexts(tx *store.Tx, leafs []motion.Leaf, before, after setting.Meta) error {
	if maps.Equal(before.Locations, after.Locations) && maps.Equal(before.FriendlyNames, after.FriendlyNames) {
		return nil
	}
	byMAC := map[string]motion.Leaf{}
	for _, leaf := range leafs {
		byMAC[leaf.MAC.String()] = leaf
	}
	var mistakes fault.Details
	for _, texts := range []map[string]string{after.Locations, after.FriendlyNames} {
		for mac := range texts {
			if _, known := byMAC[mac]; known {
				continue
			}
			leaf, err := newLeaf(tx, after.Network.ID, mac, &mistakes)
			if err != nil {
				return err
			}
			byMAC[mac] = leaf
		}
	}
	if err := mistakes.Err(); err != nil {
		return err
	}
	for mac, leaf := range byMAC {
		changed := leaf
		changed.Location, changed.Located = after.Locations[mac]
		changed.FriendlyName = after.FriendlyNames[mac]
		if changed == leaf && leaf.ID != 0 {
			continue
		}
		changed.UpdatedAt = tx.Now()
		if _, err := tx.PutLeaf(changed); err != nil {
			return err
		}
	}
	return nil
}

// newLeaf returns a leaf that was not seen yet; an address of a node is a mistake.
func newLeaf(tx *store.Tx, network motion.NetworkID, text string, m *fault.Details) (motion.Leaf, error) {
	mac, err := motion.ParseMAC(text)
	if err != nil {
		return motion.Leaf{}, err
	}
	nodes, err := tx.NodesByBSSID(mac)
	if err != nil {
		return motion.Leaf{}, err
	}
	if slices.ContainsFunc(nodes, func(n motion.Node) bool { return n.NetworkID == network }) {
		m.Add("body", text, "is an address of a node: nodes are placed with sounding clients")
	}
	return motion.Leaf{NetworkID: network, MAC: mac, PeerType: motion.PeerClient, CreatedAt: tx.Now()}, nil
}
