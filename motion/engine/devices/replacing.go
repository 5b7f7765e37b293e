package devices

import (
	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/fault"
)

// This file decides whether a device that is let in may take the place of another one.

// unlessLive is the verdict v unless the device would replace one that has a live
// session. Its own token lets a device replace its own session. failed says that the
// master has been silent, and that the device may report it.
func (p *post) unlessLive(v verdict, failed bool) (verdict, error) {
	if v.how != byToken {
		if reason, err := p.holdsOn(v); err != nil || reason != "" {
			return refuse(reason), err
		}
	}
	taken, err := p.takes(v.network)
	if err != nil {
		return verdict{}, err
	}
	guardian := v.network.GuardianKey()
	if taken.ID != 0 && (p.state.IsConnected(inventory.RadarOf(taken)) || taken.ID == v.network.MasterID && p.state.IsConnected(guardian)) {
		return refuse(nameConnected), nil
	}
	if held, err := p.holdsName(v.network); err != nil || held {
		return refuse(nameKnown), err
	}
	newOnly, err := p.forNewOnly(v)
	if err != nil {
		return verdict{}, err
	}
	if newOnly {
		if adopted, err := p.wasAdopted(taken); err != nil || adopted {
			return refuse(anotherDevice), err
		}
	}
	if !p.master() || v.network.ID == 0 || p.node.ID != 0 && p.node.ID == v.network.MasterID {
		return v, nil
	}
	leader, err := p.leader(v.network)
	if err != nil {
		return verdict{}, err
	}
	if p.state.IsConnected(guardian) || p.state.IsConnected(inventory.RadarOf(leader)) && !(failed && v.how == byToken) {
		return refuse(masterConnected), nil
	}
	if newOnly && leader.ID != 0 {
		return refuse(anotherMaster), nil
	}
	return v, nil
}

// forNewOnly reports whether the device is let in by the window that its network was claimed
// in. That window is for new devices and replaces no adopted one; a window that the owner has
// opened does (device-protocol.md 1 no. 7).
func (p *post) forNewOnly(v verdict) (bool, error) {
	if v.how != byWindow {
		return false, nil
	}
	return inFirstWindow(p.tx, v.network.ID)
}

// wasAdopted reports whether the device of a node is adopted. A node that only the guardian
// tells of has no such device, nor has the zero node.
func (p *post) wasAdopted(node motion.Node) (bool, error) {
	if node.ID == 0 {
		return false, nil
	}
	_, err := p.tx.Device(inventory.RadarOf(node))
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

// holdsOn returns why an adopted device that does not show its token stays as it is: it is
// connected from another address, or is connected and would change its network or, as a
// master, its role. A master is connected while its guardian is.
func (p *post) holdsOn(v verdict) (reason string, err error) {
	if !p.adopted() {
		return "", nil
	}
	home, err := p.tx.Network(p.device.NetworkID)
	if err != nil {
		return "", err
	}
	sessions := []motion.DeviceKey{p.key}
	leads := p.node.ID != 0 && p.node.ID == home.MasterID
	if leads {
		sessions = append(sessions, home.GuardianKey())
	}
	for _, session := range sessions {
		switch {
		case p.liveElsewhere(session):
			return deviceConnected, nil
		case p.state.IsConnected(session) && v.network.ID != home.ID:
			return anotherNetwork, nil
		case p.state.IsConnected(session) && leads && !p.master():
			return anotherRole, nil
		}
	}
	return "", nil
}

// takes returns the node of another device whose name the device shows; zero: none.
func (p *post) takes(network motion.Network) (motion.Node, error) {
	if network.ID == 0 || p.node.ID != 0 {
		return motion.Node{}, nil
	}
	return inventory.FindNode(p.tx, network.ID, p.b.Radar)
}

// holdsName reports whether the device has a node and shows the name of another one.
func (p *post) holdsName(network motion.Network) (bool, error) {
	if network.ID == 0 || p.node.ID == 0 {
		return false, nil
	}
	holder, err := p.tx.NodeByName(network.ID, p.b.Radar.NodeName)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil && holder.ID != p.node.ID, err
}

// leader returns the master node of a network; zero: none.
func (p *post) leader(network motion.Network) (motion.Node, error) {
	if network.MasterID == 0 {
		return motion.Node{}, nil
	}
	node, err := p.tx.Node(network.MasterID)
	if fault.KindOf(err) == fault.NotFound {
		return motion.Node{}, nil
	}
	return node, err
}

// liveElsewhere reports whether a device has a live session from another address than
// that of the post.
func (p *post) liveElsewhere(key motion.DeviceKey) bool {
	from, live := p.state.LiveFrom(key)
	return live && from != p.c.Address
}
