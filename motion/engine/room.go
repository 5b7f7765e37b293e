package engine

import (
	"cmp"
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// What an appliance takes in without being told by those who own it.
const (
	maxNodes     = 128 // of one network
	maxUnclaimed = 100 // networks without an owner that windows form
)

// unheardAfter is how long a device, or a network that windows have formed, keeps its place
// although nothing was ever heard of it.
const unheardAfter motion.Seconds = 600

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
		if err != nil || len(nodes) < maxNodes {
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

// room refuses a report that has brought the network more nodes than it can have; reported
// are those that it tells of. They are counted only when one of them is new.
func (v *inventory) room(reported []motion.Node) error {
	if !slices.ContainsFunc(reported, func(n motion.Node) bool { return n.CreatedAt == v.tx.Now() }) {
		return nil
	}
	nodes, err := v.tx.Nodes(v.network.ID)
	if n := len(nodes); n > maxNodes {
		return fault.New(fault.TooLarge, "radars: the network would have %d nodes: at most %d", n, maxNodes)
	}
	return err
}

// giveWay deletes the oldest network without an owner of whose devices nothing was ever
// heard, so that another one can be formed, and reports whether there was one.
func (e *Engine) giveWay(ctx context.Context) bool {
	var oldest motion.Network
	err := e.db.View(ctx, func(tx *store.Tx) error {
		networks, err := tx.Networks()
		for _, n := range networks {
			if unheard, err := e.unheard(tx, n); err != nil {
				return err
			} else if unheard && (oldest.ID == 0 || n.CreatedAt < oldest.CreatedAt) {
				oldest = n
			}
		}
		return err
	})
	if err != nil || oldest.ID == 0 {
		return false
	}
	err = e.DeleteNetwork(ctx, oldest.ID, func(tx *store.Tx) error {
		if unheard, err := e.unheard(tx, oldest); err != nil || !unheard {
			return cmp.Or(err, error(fault.New(fault.Conflict, "network %d is in use", oldest.ID)))
		}
		return nil
	})
	if err == nil {
		e.log.Warn("a network of which nothing was ever heard gives way to a new one", "network", oldest.ID)
	}
	return err == nil
}

// nodeGivesWay deletes the node of a network whose device was adopted first and has never
// connected, so that another one can come in, and reports whether there was one.
func (e *Engine) nodeGivesWay(ctx context.Context, network motion.NetworkID) bool {
	var oldest motion.Device
	err := e.db.View(ctx, func(tx *store.Tx) error {
		devices, err := tx.NetworkDevices(network)
		for _, d := range devices {
			due := d.Kind == motion.RadarKind && e.now().Since(d.AdoptedAt) >= unheardAfter && !e.everHeard(d)
			if due && (oldest.ID == "" || d.AdoptedAt < oldest.AdoptedAt) {
				oldest = d
			}
		}
		return err
	})
	if err != nil || oldest.ID == "" {
		return false
	}
	if _, err := e.DeleteNode(ctx, oldest.NodeID); err != nil {
		return false
	}
	e.log.Warn("a node of which nothing was ever heard gives way to a new one", "network", network, "device", oldest.ID)
	return true
}

// unheard reports whether a network has no owner, and none of its devices has connected in
// the time that it is given.
func (e *Engine) unheard(tx *store.Tx, n motion.Network) (bool, error) {
	owned, err := hasOwner(tx, n.ID)
	if err != nil || owned || e.now().Since(n.CreatedAt) < unheardAfter {
		return false, err
	}
	devices, err := tx.NetworkDevices(n.ID)
	return !slices.ContainsFunc(devices, e.everHeard), err
}

// everHeard reports whether a device has ever connected.
func (e *Engine) everHeard(d motion.Device) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[d.DeviceKey]
	return !d.LastHeard.IsZero() || s != nil && (s.connections > 0 || !s.lastHeard.IsZero())
}
