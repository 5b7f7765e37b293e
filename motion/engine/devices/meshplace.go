package devices

import (
	"errors"
	"slices"

	"sensegate/motion"
)

// meshPlace returns the network of a mesh peer that is adopted, or else the one where the
// device's node is; none for a master, which forms the network of its location_id. A device
// that is not adopted, and hears what adopted nodes of several networks say they have, may
// be any of theirs, whoever tells of its node: chosen decides.
func (p *post) meshPlace() (motion.Network, error) {
	if p.master() {
		return motion.Network{}, nil
	}
	var rivals []motion.Node
	for _, link := range p.b.Radar.Links {
		if link.PeerType != motion.PeerMesh {
			continue
		}
		peers, err := p.tx.AdoptedByBSSID(link.MAC)
		if err != nil {
			return motion.Network{}, err
		}
		if networks := motion.NetworksOf(peers); len(networks) == 1 {
			return p.tx.Network(networks[0])
		}
		rivals = append(rivals, peers...)
	}
	if p.node.NetworkID != 0 && (p.adopted() || len(rivals) == 0) {
		return p.tx.Network(p.node.NetworkID)
	}
	for _, id := range motion.NetworksOf(rivals) {
		network, err := p.tx.Network(id)
		if err != nil {
			return motion.Network{}, err
		}
		p.rivals = append(p.rivals, network)
	}
	return p.chosen()
}

// chosen returns of the rivals the one whose owner has approved the device, or else the only
// one that has an owner and an open window; zero: none.
func (p *post) chosen() (chosen motion.Network, err error) {
	for _, entry := range p.Waiting.approvals(p.shown("")) {
		at := slices.IndexFunc(p.rivals, func(n motion.Network) bool { return n.ID == entry.ApprovedBy })
		if at < 0 {
			continue
		}
		if holds, err := p.holds(p.tx, entry); err != nil || holds {
			return p.rivals[at], err
		}
	}
	for _, n := range p.rivals {
		owned, err1 := hasOwner(p.tx, n.ID)
		until, err2 := p.windowUntil(p.tx, n.ID)
		switch {
		case err1 != nil || err2 != nil:
			return motion.Network{}, errors.Join(err1, err2)
		case !owned || until <= p.state.Now():
		case chosen.ID != 0:
			return motion.Network{}, nil
		default:
			chosen = n
		}
	}
	return chosen, nil
}
