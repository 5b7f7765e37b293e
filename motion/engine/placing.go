package engine

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/store"
)

// PlaceDevices gives nodes and leafs of a network their places, names and sounding
// modes, all of them or none; a sounding mode is sent to the devices at once.
// mistakes are those of the request so far. Invalid: all that is wrong. Conflict:
// motion is paused, and a sounding mode is to be changed. NotFound: no such network.
func (e *Engine) PlaceDevices(ctx context.Context, id motion.NetworkID, placements []setting.Placement, mistakes setting.Mistakes) error {
	p := placing{placements: placements, mistakes: mistakes}
	sounds := slices.ContainsFunc(placements, func(p setting.Placement) bool { return p.Mode != nil })
	_, err := e.ChangeConfig(ctx, id, sounds, p.apply)
	return err
}

// placing is a change of places on its way.
type placing struct {
	placements []setting.Placement
	mistakes   setting.Mistakes

	tx   *store.Tx
	seen map[motion.NodeID]string // place in the request of each device
}

// apply changes a network's radar configuration, nodes and leafs, or says all that is
// wrong.
func (p *placing) apply(tx *store.Tx, n *motion.Network) (err error) {
	p.tx, p.seen = tx, map[motion.NodeID]string{}
	after, paused := *n, ""
	for _, one := range p.placements {
		switch {
		case one.Node != 0:
			err = p.node(n.ID, one)
		case !one.MAC.IsZero():
			before := len(p.mistakes)
			var changed bool
			if after, changed, err = p.leaf(after, one); changed && n.Paused() && len(p.mistakes) == before {
				paused = one.At + ".auto"
			}
		}
		if err != nil {
			return err
		}
	}
	if err := setting.Fits(&p.mistakes, after, "body"); err != nil {
		return err
	}
	if paused != "" {
		return setting.WhilePaused(paused)
	}
	*n = after
	return nil
}

// node places a node.
func (p *placing) node(network motion.NetworkID, one setting.Placement) error {
	node, err := p.tx.Node(one.Node)
	if fault.KindOf(err) == fault.NotFound || err == nil && node.NetworkID != network {
		p.mistakes.Add(one.At+".node_id", one.Node, "no such node in this network")
		return nil
	}
	if err != nil || !p.first(one, node.ID) {
		return err
	}
	changed := node
	setText(&changed.Location, one.Location)
	setText(&changed.FriendlyName, one.FriendlyName)
	if changed.Location == node.Location && changed.FriendlyName == node.FriendlyName {
		return nil
	}
	changed.UpdatedAt = p.tx.Now()
	_, err = p.tx.PutNode(changed)
	return err
}

// leaf places a leaf, and reports whether its sounding mode has changed.
func (p *placing) leaf(n motion.Network, one setting.Placement) (after motion.Network, sounds bool, err error) {
	leaf, err := p.tx.LeafByMAC(n.ID, one.MAC)
	if fault.KindOf(err) == fault.NotFound {
		p.mistakes.Add(one.At+".mac_address", one.MAC.String(), "no such leaf in this network")
		return n, false, nil
	}
	if err != nil || !p.first(one, leaf.ID) {
		return n, false, err
	}
	if one.Mode != nil && *one.Mode != setting.Client(n.Radar(), leaf.MAC).Mode {
		if multiLink(leaf) {
			p.mistakes.Add(one.At+".auto", nil, "a multi-link device with peer_type 2 cannot be configured")
		}
		n, sounds = setting.SetMode(&p.mistakes, n, one.At+".auto", leaf.MAC, *one.Mode), true
	}
	changed := leaf
	if one.Location != nil {
		changed.Location, changed.Located = *one.Location, true
	}
	setText(&changed.FriendlyName, one.FriendlyName)
	if one.Mobile != nil {
		changed.Mobile = *one.Mobile
	}
	if changed == leaf {
		return n, sounds, nil
	}
	changed.UpdatedAt = p.tx.Now()
	_, err = p.tx.PutLeaf(changed)
	return n, sounds, err
}

// first reports whether a device is named for the first time.
func (p *placing) first(one setting.Placement, id motion.NodeID) bool {
	if before, twice := p.seen[id]; twice {
		p.mistakes.Add(one.At, nil, "is the same device as %s", before)
		return false
	}
	p.seen[id] = one.At
	return true
}
