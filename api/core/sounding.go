package core

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/setting"
)

type soundingIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
}

type soundingOut struct {
	api.Unsupported
	Body setting.SoundingSettings
}

// unsupported returns what of a view has no effect in a network.
func (c *Core) unsupported(id motion.NetworkID, v setting.View) api.Unsupported {
	return api.UnsupportedSettings(c.engine.Unsupported(id, v))
}

func (c *Core) soundingSettings(_ context.Context, _ auth.Key, in *soundingIn) (*soundingOut, error) {
	s, err := c.engine.SoundingSettings(in.Network)
	return &soundingOut{c.unsupported(in.Network, setting.SoundingView), s}, err
}

type changeSoundingIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Update
	Body api.Checked[setting.SoundingChange]
}

func (c *Core) changeSoundingSettings(ctx context.Context, key auth.Key, in *changeSoundingIn) (*soundingOut, error) {
	if err := c.engine.EditSounding(ctx, in.Network, in.Update.Update, in.Body.Value); err != nil {
		return nil, err
	}
	return c.soundingSettings(ctx, key, &soundingIn{Network: in.Network})
}

type clientsOut struct {
	Body soundingClients
}

// soundingClients is the answer of sounding/clients.
type soundingClients struct {
	Devices []soundingDevice `json:"devices" nullable:"false" doc:"Nodes, then clients, each by id"`
}

type soundingDevice = api.OneOf[engine.SoundingNode, engine.SoundingLeaf]

func (c *Core) soundingClients(_ context.Context, _ auth.Key, in *soundingIn) (*clientsOut, error) {
	return c.clients(in.Network)
}

// clients answers with the nodes and clients of a network.
func (c *Core) clients(id motion.NetworkID) (*clientsOut, error) {
	clients, err := c.engine.SoundingClients(id)
	out := &clientsOut{Body: soundingClients{Devices: []soundingDevice{}}}
	for i := range clients.Nodes {
		out.Body.Devices = append(out.Body.Devices, soundingDevice{A: &clients.Nodes[i]})
	}
	for i := range clients.Leafs {
		out.Body.Devices = append(out.Body.Devices, soundingDevice{B: &clients.Leafs[i]})
	}
	return out, err
}

type changeClientsIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Update
	Body api.Checked[setting.SoundingClientChanges]
}

func (c *Core) changeSoundingClients(ctx context.Context, _ auth.Key, in *changeClientsIn) (*clientsOut, error) {
	if err := c.engine.EditClients(ctx, in.Network, in.Update.Update, in.Body.Value); err != nil {
		return nil, err
	}
	return c.clients(in.Network)
}
