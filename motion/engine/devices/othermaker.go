package devices

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/fault"
	"sensegate/store"
)

// This file lets in nodes of other makers. They do not post to the gatekeeper: what is heard of
// them is their post, and they get no token.

// maxHomes is how many networks an appliance may have for a node of another maker to wait for all
// their owners; on a larger one nodes.network says which it is.
const maxHomes = 8

// Receiver returns the key of a node of another maker that is adopted, after it has begun its session, and
// the address that its links end at. Of one that is not, it returns why it waits, and lists it as
// pending: a window or an approval lets it in as any other device. said is what is known of it:
// its id, name, kind and one interface; its links end at substitute where another node has that address.
func (f *Fleet) Receiver(ctx context.Context, said motion.Radar, substitute motion.MAC, c motion.Credentials) (key motion.DeviceKey, receiver motion.MAC, why string, err error) {
	key = motion.DeviceKey{Kind: motion.RadarKind, ID: said.DeviceID}
	if motion.NodeKindOf(said.DeviceID) == "" || !inventory.PlainName(said.DeviceID) || !inventory.PlainName(said.NodeName) || len(said.Interfaces) != 1 {
		return key, receiver, "", fault.New(fault.Invalid, "node %.80q: not one of another maker", said.DeviceID)
	}
	receiver, err = f.receiver(ctx, key)
	if fault.KindOf(err) == fault.NotFound {
		receiver, why, err = f.letIn(ctx, said, substitute, c)
	}
	if why != "" {
		return key, receiver, why, err
	}
	if err == nil && f.here(ctx, key) != nil {
		return key, receiver, pointThere, nil
	}
	if err == nil {
		err = f.begin(ctx, key)
	}
	if err == nil {
		f.state.Connected(key, c.Address)
	}
	return key, receiver, "", err
}

// letIn lets a node of another maker in that is not adopted, and returns the address at which its links end, or why
// it waits.
func (f *Fleet) letIn(ctx context.Context, said motion.Radar, substitute motion.MAC, c motion.Credentials) (receiver motion.MAC, why string, err error) {
	shared, err := f.shared(ctx, said)
	if err != nil {
		return receiver, "", err
	}
	if shared {
		said.Interfaces[0].MAC = substitute
	}
	admission, err := f.decide(ctx, motion.Bootstrap{Radar: said}, c)
	if admission.Redirect != "" {
		admission.TryAgain = pointThere
	}
	return said.Interfaces[0].MAC, admission.TryAgain, err
}

// receiver returns the address at which the links of an adopted node of another maker end. NotFound: it
// is not adopted.
func (f *Fleet) receiver(ctx context.Context, key motion.DeviceKey) (mac motion.MAC, err error) {
	err = f.state.DB.View(ctx, func(tx *store.Tx) error {
		device, err := tx.Device(key)
		if err != nil {
			return err
		}
		radar, err := tx.Radar(device.NodeID)
		if err == nil && len(radar.Interfaces) > 0 {
			mac = radar.Interfaces[0].MAC
		}
		return err
	})
	return mac, err
}

// shared reports whether an adopted node of another maker has the same address as one that is new: what
// passes on the frames of several nodes sends all of them from its own.
func (f *Fleet) shared(ctx context.Context, said motion.Radar) (yes bool, err error) {
	err = f.state.DB.View(ctx, func(tx *store.Tx) error {
		devices, err := tx.Devices()
		yes = slices.ContainsFunc(devices, func(d motion.Device) bool {
			return d.ID != said.DeviceID && motion.NodeKindOf(d.ID) != "" && d.MAC == said.Interfaces[0].MAC
		})
		return err
	})
	return yes, err
}

// ofOther reports whether the post is of a node of another maker.
func (p *post) ofOther() bool { return motion.NodeKindOf(p.key.ID) != "" }

// otherPlace returns the network that a node of another maker joins: its own, that of the home whose owner has
// made the user of the broker that it comes by, the one that the configuration names, or the only one. Where there are several, it may be of any of them, as
// long as they are few: chosen decides.
func (p *post) otherPlace() (motion.Network, error) {
	switch {
	case p.adopted():
		return p.tx.Network(p.device.NetworkID)
	case p.c.User != "":
		user, err := p.tx.IntegrationUser(p.c.User)
		if err != nil {
			return motion.Network{}, err
		}
		if user.Home != 0 {
			house, err := p.tx.Home(user.Home)
			if err != nil {
				return motion.Network{}, err
			}
			return p.tx.Network(house.ExternalID)
		}
	}
	if p.options.NodesNetwork != 0 {
		return p.tx.Network(p.options.NodesNetwork)
	}
	networks, err := p.tx.Networks()
	switch {
	case err != nil || len(networks) == 0:
		return motion.Network{}, err
	case len(networks) == 1:
		return networks[0], nil
	case len(networks) <= maxHomes:
		p.rivals = networks
		return p.chosen()
	}
	p.crowded = true
	return motion.Network{}, nil
}

// byAddressAlone are the kinds of nodes that nothing but their address tells from others of their number.
var byAddressAlone = []motion.NodeKind{motion.RuView, motion.MicroESPectre, motion.ESPectre, motion.Nexmon}

// replacesOther reports whether an adopted node of another maker of the same kind and number was last
// at the address of this one, which is not adopted: it may be the same with new hardware, or
// somebody who would like to be.
func (p *post) replacesOther() (bool, error) {
	kind := motion.NodeKindOf(p.key.ID)
	if !slices.Contains(byAddressAlone, kind) || p.adopted() || p.c.Address.IsLoopback() {
		return false, nil
	}
	devices, err := p.tx.Devices()
	return slices.ContainsFunc(devices, func(d motion.Device) bool {
		return d.ID != p.key.ID && motion.NodeKindOf(d.ID) == kind && motion.NodeNumberOf(d.ID) == motion.NodeNumberOf(p.key.ID) &&
			p.state.LastAddress(d) == p.c.Address.String()
	}), err
}
