package devices

import (
	"cmp"
	"context"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/fault"
	"sensegate/store"
)

// What an appliance takes in without being told by those who own it.
const maxUnclaimed = 100 // networks without an owner that windows form

// How many devices that nothing tells from strangers a window lets into a network, and how
// often one device is let in: at once, and then a second. Each is a commit, and most have an
// event.
const (
	entryBurst, entryRate   = 2 * inventory.MaxNodes, 1. / 10
	comingBurst, comingRate = 16, 1. / 60
)

// How long what a window has let in keeps its place where there is no room for another: never
// heard, and heard once but silent since. What has been there for a day is left alone then.
const (
	unheardAfter motion.Seconds = 120
	unusedAfter  motion.Seconds = 3600
	settledAfter motion.Seconds = 24 * 3600
)

// full returns why there is no room for the device: it would be one more node of a network
// that has as many as one can have, or as many networks as windows form wait for an owner;
// "" when there is.
func (p *post) full(invitation how) (string, error) {
	if p.place.ID != 0 {
		if p.node.NetworkID == p.place.ID {
			return "", nil
		}
		taken, err := p.takes(p.place)
		if err != nil || taken.ID != 0 {
			return "", err
		}
		nodes, err := p.tx.Nodes(p.place.ID)
		if err != nil || len(nodes) < inventory.MaxNodes {
			return "", err
		}
		return networkFull, nil
	}
	if invitation != byWindow {
		return "", nil
	}
	if reforms, err := p.reforms(); err != nil || reforms {
		return "", err
	}
	networks, err := p.tx.Networks()
	if err != nil {
		return "", err
	}
	unclaimed := 0
	for _, n := range networks {
		owned, err := hasOwner(p.tx, n.ID)
		if err != nil {
			return "", err
		}
		if !owned {
			unclaimed++
		}
	}
	if unclaimed < maxUnclaimed {
		return "", nil
	}
	return unclaimedFull, nil
}

// givesWay reports whether what was let in at a time, and heard last at another one, 0 for
// never, makes room for others. Nothing was heard while the appliance did not run.
func (f *Fleet) givesWay(since, heard motion.Time) bool {
	now, started := f.state.Now(), f.state.Begun()
	if heard.IsZero() {
		return now.Since(max(since, started)) >= unheardAfter
	}
	return now.Since(since) < settledAfter && now.Since(max(heard, started)) >= unusedAfter
}

// giveWay deletes a network without an owner of which nothing is heard, so that another one
// can be formed, and reports whether there was one. The newest goes first: who comes later
// pushes out nobody who was there. Its devices have no right to form it anew: networks formed
// so are not counted, and would make more and more of them.
func (f *Fleet) giveWay(ctx context.Context) bool {
	var newest motion.Network
	err := f.state.DB.View(ctx, func(tx *store.Tx) error {
		networks, err := tx.Networks()
		for _, n := range networks {
			if unused, err := f.unused(tx, n); err != nil {
				return err
			} else if unused && n.CreatedAt >= newest.CreatedAt {
				newest = n
			}
		}
		return err
	})
	if err != nil || newest.ID == 0 {
		return false
	}
	err = f.deleteNetwork(ctx, newest.ID, func(tx *store.Tx) error {
		if unused, err := f.unused(tx, newest); err != nil || !unused {
			return cmp.Or(err, error(fault.New(fault.Conflict, "network %d is in use", newest.ID)))
		}
		return nil
	}, true)
	if err == nil {
		f.state.Log.Warn("silent network replaced by a new one", "network", newest.ID)
	}
	return err == nil
}

// unused reports whether a network has no owner and nothing is heard of its devices.
func (f *Fleet) unused(tx *store.Tx, n motion.Network) (bool, error) {
	if owned, err := hasOwner(tx, n.ID); err != nil || owned {
		return false, err
	}
	devices, err := tx.NetworkDevices(n.ID)
	var heard motion.Time
	for _, d := range devices {
		at, live := f.state.LastHeard(d)
		if live {
			return false, err
		}
		heard = max(heard, at)
	}
	return f.givesWay(n.CreatedAt, heard), err
}

// nodeGivesWay deletes a node of a network of which nothing is heard, neither from its device
// nor from the guardian, so that another one can come in, and reports whether there was one.
// The master stays, and the node adopted last goes first.
func (f *Fleet) nodeGivesWay(ctx context.Context, network motion.NetworkID) bool {
	live, err := f.state.Network(network)
	if err != nil {
		return false
	}
	var newest motion.Device
	err = f.state.DB.View(ctx, func(tx *store.Tx) error {
		n, err := tx.Network(network)
		if err != nil {
			return err
		}
		for _, node := range f.inventory.NodesOf(live) {
			device, err := tx.Device(inventory.RadarOf(node))
			if fault.KindOf(err) == fault.NotFound || node.ID == n.MasterID {
				continue
			} else if err != nil {
				return err
			}
			heard, connected := f.state.LastHeard(device)
			heard = max(heard, node.LastHeard)
			if heard.IsZero() && live.HasReported(node.Name) {
				heard = device.AdoptedAt
			}
			if !connected && !node.Online && f.givesWay(device.AdoptedAt, heard) && device.AdoptedAt >= newest.AdoptedAt {
				newest = device
			}
		}
		return nil
	})
	if err != nil || newest.ID == "" {
		return false
	}
	_, err = f.deleteNode(ctx, newest.NodeID, func(tx *store.Tx) error {
		n, err := tx.Network(network)
		if _, live := f.state.LastHeard(newest); err == nil && (live || n.MasterID == newest.NodeID) {
			return fault.New(fault.Conflict, "node %d is in use", newest.NodeID)
		}
		return err
	})
	if err != nil {
		return false
	}
	f.state.Log.Warn("silent node replaced by a new one", "network", network, "device", newest.ID)
	return true
}
