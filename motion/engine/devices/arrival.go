package devices

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// arrival is what a post that is let in brings about.
type arrival struct {
	admission     motion.Admission
	how           how
	before, after motion.Node        // of the device; before is zero when it is new
	replaced      string             // deviceId of the device or master whose place it takes; "" = nobody's
	ended         []motion.DeviceKey // adopted no longer: the device whose node it takes, the guardian of who led before
	events        []motion.Event
}

// arrive gives a device that the rules let in its place in a network and new tokens. Its
// admission says why not when they do not.
func (f *Fleet) arrive(tx *store.Tx, b motion.Bootstrap, c motion.Credentials) (in arrival, err error) {
	p, err := f.newPost(tx, b, c)
	if err != nil {
		return in, err
	}
	v, err := p.judge()
	if err != nil || v.reason != "" {
		in.admission.TryAgain = v.reason
		return in, err
	}
	in.how, in.before = v.how, p.node
	network := v.network
	if network.ID == 0 {
		network, err = tx.CreateNetwork(motion.Network{GuardianID: cmp.Or(b.LocationID, "nodes-"+strings.ToLower(rand.Text()[:8])), CreatedAt: tx.Now(), UpdatedAt: tx.Now(), ConfigRev: 1})
	} else {
		err = p.replace(network, &in)
	}
	if err != nil {
		return in, err
	}
	if network, err = p.settle(network, &in); err != nil {
		return in, err
	}
	by, err := p.letInBy(network, in.how)
	if err != nil {
		return in, err
	}
	in.events = append(in.events, p.events(network, in, by)...)
	in.admission, err = p.tokens(network, in.after)
	return in, err
}

// replace notes whose place the device takes in a network, and removes the device whose
// node it takes.
func (p *post) replace(network motion.Network, in *arrival) error {
	leader, err := p.leader(network)
	if err != nil {
		return err
	}
	if p.master() && leader.ID != p.node.ID {
		in.replaced = leader.DeviceID
	}
	if in.replaced != "" {
		if err := in.end(p.tx, network.GuardianKey()); err != nil {
			return err
		}
	}
	taken, err := p.takes(network)
	if err != nil || taken.ID == 0 {
		return err
	}
	in.replaced = taken.DeviceID
	return in.end(p.tx, inventory.RadarOf(taken))
}

// end ends the tokens of a device, if it has posted before.
func (in *arrival) end(tx *store.Tx, key motion.DeviceKey) error {
	err := tx.DeleteDevice(key)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	in.ended = append(in.ended, key)
	return err
}

// leaderless ends the guardian of a network whose master leads it no more.
func (in *arrival) leaderless(tx *store.Tx, network *motion.Network) error {
	network.MasterID = 0
	return in.end(tx, network.GuardianKey())
}

// settle puts the device's node in its place and returns the network as it is then.
func (p *post) settle(network motion.Network, in *arrival) (motion.Network, error) {
	if in.before.NetworkID != 0 && in.before.NetworkID != network.ID {
		if err := p.moveOut(in); err != nil {
			return network, err
		}
	}
	var err error
	if in.after, err = inventory.PutNode(p.tx, network.ID, p.b.Radar); err != nil {
		return network, err
	}
	unmasked, err := inventory.Unmask(p.tx, network, in.after)
	if err != nil {
		return network, err
	}
	in.events = append(in.events, unmasked...)
	if err := inventory.PutClients(p.tx, network, in.after, p.b.Radar); err != nil {
		return network, err
	}
	deleted, leads := slices.Contains(network.Removed, p.key.ID), p.master() && network.MasterID != in.after.ID
	stepsDown := !p.master() && network.MasterID == in.after.ID
	switch {
	case leads:
		network.MasterID = in.after.ID
	case stepsDown:
		if err := in.leaderless(p.tx, &network); err != nil {
			return network, err
		}
	case !deleted:
		return network, nil
	}
	network.Removed = slices.DeleteFunc(slices.Clone(network.Removed), func(id string) bool { return id == p.key.ID })
	network.UpdatedAt = p.tx.Now()
	return network, p.tx.PutNetwork(network)
}

// events returns the event of the arrival. Of returns, which may be as many as a device
// likes, not every one is worth one. by is what it says of who let the device in.
func (p *post) events(network motion.Network, in arrival, by motion.Document) []motion.Event {
	kind, detail := motion.DeviceAdoptedEvent, deviceDetail(p.shown(""))
	detail["how"] = string(in.how)
	switch {
	case in.replaced != "":
		kind, detail["replaced"] = motion.DeviceReplacedEvent, in.replaced
	case p.adopted() && p.device.NetworkID == network.ID:
		kind = motion.DeviceReturnedEvent
		if !p.returns.note(p.key, in.how, p.c.Address.String(), p.tx.Now()) {
			return nil
		}
	}
	return []motion.Event{{
		Event: kind, NetworkID: network.ID, GuardianID: network.GuardianID, TS: p.tx.Now(),
		NodeID: in.after.ID, NodeName: in.after.Name, DeviceID: p.key.ID, Data: by, Detail: detail,
	}}
}

// letInBy returns the data of an event about a device that an installer has let into a network, by hand
// or by the window that they opened; nil for any other.
func (p *post) letInBy(network motion.Network, by how) (motion.Document, error) {
	installer := home.UserID(0)
	switch by {
	case byApproval:
		entry, err := p.approved()
		if err != nil || entry == nil {
			return nil, err
		}
		installer = home.UserID(entry.Installer)
	case byWindow:
		opened, err := p.tx.AdoptionBy(network.ID)
		if err != nil {
			return nil, err
		}
		installer = opened
	}
	if installer == 0 {
		return nil, nil
	}
	person, err := p.tx.User(installer)
	if fault.KindOf(err) == fault.NotFound {
		return home.DoneBy(home.User{}), nil // who has deleted their account since
	}
	return home.DoneBy(person), err
}

// tokens returns the answer to a device that is in its place, with new tokens.
func (p *post) tokens(network motion.Network, node motion.Node) (admission motion.Admission, err error) {
	admission = motion.Admission{
		Network: network.ID, GuardianID: network.GuardianID, DeviceID: p.key.ID,
		Guardian: state.ForNodes(motion.WithDefaults(network.Guardian(), network.GuardianConfig)),
		Radar:    motion.WithDefaults(network.Radar(), network.RadarConfig),
	}
	if _, set := network.Meta["mqSecureRadarPort"]; set {
		port := network.Meta.Int("mqSecureRadarPort")
		admission.SecurePort = &port
	}
	admission.RadarToken, err = adopt(p.tx, p.key, node, p.c)
	if err != nil || !p.master() {
		return admission, err
	}
	admission.Guardian = motion.WithDefaults(network.Guardian(), network.GuardianConfig)
	admission.GuardianToken, err = adopt(p.tx, network.GuardianKey(), node, p.c)
	return admission, err
}

// moveOut takes the node of a device that moves out of the network that it was in: its
// links go, and if it led it, that network has no guardian until another leads it.
func (p *post) moveOut(in *arrival) error {
	node := in.before
	left, err := p.tx.Network(node.NetworkID)
	if err != nil {
		return err
	}
	if err := leave(p.tx, node); err != nil {
		return err
	}
	if left.MasterID == node.ID {
		if err := in.leaderless(p.tx, &left); err != nil {
			return err
		}
		left.UpdatedAt = p.tx.Now()
		if err := p.tx.PutNetwork(left); err != nil {
			return err
		}
	}
	in.events = append(in.events, motion.Event{
		Event: motion.DeviceMovedEvent, NetworkID: left.ID, GuardianID: left.GuardianID, TS: p.tx.Now(),
		NodeID: node.ID, NodeName: node.Name, DeviceID: p.key.ID, Detail: motion.Document{"category": string(motion.CategoryDevice)},
	})
	return nil
}

// leave removes the links of a node that leaves its network.
func leave(tx *store.Tx, node motion.Node) error {
	links, err := tx.Links(node.NetworkID)
	if err != nil {
		return err
	}
	for _, link := range links {
		if link.Dst != node.ID && link.Src != node.ID {
			continue
		}
		if err := tx.DeleteLink(node.NetworkID, link.Name); err != nil {
			return err
		}
	}
	return nil
}

// adopt makes or refreshes a device and issues its new token.
func adopt(tx *store.Tx, key motion.DeviceKey, node motion.Node, c motion.Credentials) (token string, err error) {
	known, err := tx.Device(key)
	device := known
	if fault.KindOf(err) == fault.NotFound {
		device = motion.Device{DeviceKey: key, AdoptedAt: tx.Now()}
	} else if err != nil {
		return "", err
	}
	device.NetworkID, device.NodeID, device.Address = node.NetworkID, node.ID, c.Address.String()
	if !c.MAC.IsZero() {
		device.MAC = c.MAC
	}
	if device == known { // its last sign of life is stored elsewhere, and would make it another record
		return tx.IssueToken(key)
	}
	if err := tx.PutDevice(device); err != nil {
		return "", err
	}
	return tx.IssueToken(key)
}
