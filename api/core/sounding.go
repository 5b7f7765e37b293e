package core

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/body"
	"sensegate/motion"
	"sensegate/motion/setting"
)

type soundingOut struct {
	api.Unsupported
	Body setting.SoundingSettings
}

// unsupported returns what of a view has no effect in a network.
func (c *Core) unsupported(id motion.NetworkID, v setting.View) api.Unsupported {
	return api.UnsupportedSettings(c.engine.Inventory.Unsupported(id, v))
}

func (c *Core) soundingSettings(_ context.Context, _ auth.Key, in *networkIn) (*soundingOut, error) {
	s, err := c.engine.Inventory.SoundingSettings(in.Network)
	return &soundingOut{c.unsupported(in.Network, setting.SoundingView), s}, err
}

type changeSoundingIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Update
	Body api.Checked[setting.SoundingChange]
}

func (c *Core) changeSoundingSettings(ctx context.Context, key auth.Key, in *changeSoundingIn) (*soundingOut, error) {
	if err := c.engine.Inventory.EditSounding(ctx, in.Network, in.Update.Update, in.Body.Value, in.Body.Found); err != nil {
		return nil, err
	}
	return c.soundingSettings(ctx, key, &networkIn{in.Network})
}

func (c *Core) soundingClients(_ context.Context, _ auth.Key, in *networkIn) (*api.Answer[body.SoundingClients], error) {
	clients, err := c.engine.Inventory.SoundingClients(in.Network)
	return api.Answered(body.SoundingClientsOf(clients), err)
}

type changeClientsIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Update
	Body api.Checked[setting.SoundingClientChanges]
}

func (c *Core) changeSoundingClients(ctx context.Context, key auth.Key, in *changeClientsIn) (*api.Answer[body.SoundingClients], error) {
	if err := c.engine.Inventory.EditClients(ctx, in.Network, in.Update.Update, in.Body.Value.Devices, in.Body.Found); err != nil {
		return nil, err
	}
	return c.soundingClients(ctx, key, &networkIn{in.Network})
}
