package inventory

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/store"
)

// PlaceDevices gives nodes and leafs of a network their places, names and sounding
// modes, all of them or none; a sounding mode is sent to the devices at once.
// found is what is wrong with the request so far. Invalid: all that is wrong. Conflict:
// motion is paused, and a sounding mode is to be changed. NotFound: no such network.
func (in *Inventory) PlaceDevices(ctx context.Context, id motion.NetworkID, placements []setting.Placement, found fault.Details) error {
	p := placing{deviceChange{mistakes: found}, placements}
	sounds := slices.ContainsFunc(placements, func(p setting.Placement) bool { return p.Mode != nil })
	_, err := in.ChangeConfig(ctx, id, sounds, p.apply)
	return err
}

// placing is a change of places on its way.
type placing struct {
	deviceChange
	placements []setting.Placement
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
	if err != nil || !p.first(one.At, node.ID) {
		return err
	}
	return p.putNode(one.At, node, one.Location, one.FriendlyName)
}

// leaf places a leaf, and reports whether its sounding mode has changed.
func (p *placing) leaf(n motion.Network, one setting.Placement) (after motion.Network, sounds bool, err error) {
	leaf, err := p.tx.LeafByMAC(n.ID, one.MAC)
	if fault.KindOf(err) == fault.NotFound {
		p.mistakes.Add(one.At+".mac_address", one.MAC.String(), "no such leaf in this network")
		return n, false, nil
	}
	if err != nil || !p.first(one.At, leaf.ID) {
		return n, false, err
	}
	if one.Mode != nil && *one.Mode != setting.Client(n.Radar(), leaf.MAC).Mode {
		if state.MultiLink(leaf) {
			p.mistakes.Add(one.At+".auto", nil, "a multi-link device with peer_type 2 cannot be configured")
		}
		n, sounds = setting.SetMode(&p.mistakes, n, one.At+".auto", leaf.MAC, *one.Mode), true
	}
	return n, sounds, p.putLeaf(one.At, leaf, one.Location, one.FriendlyName, one.Mobile)
}
