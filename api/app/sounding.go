package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/body"
	"sensegate/motion/setting"
	"sensegate/motion/shape"
)

// Update says whether a change is sent to the devices at once.
type Update struct {
	Update bool `query:"update" default:"false" doc:"Sends the new configuration to the devices at once; otherwise they get it with the next push, or when they connect"`
}

type soundingOut struct {
	api.Unsupported
	Body setting.SoundingSettings
}

func (a *App) soundingSettings(_ context.Context, who auth.Member, _ *NetworkQuery) (*soundingOut, error) {
	s, err := a.Engine.Inventory.SoundingSettings(who.Network)
	return &soundingOut{api.UnsupportedSettings(a.Engine.Inventory.Unsupported(who.Network, setting.SoundingView)), s}, err
}

type changeSoundingIn struct {
	NetworkQuery
	Update
	Body api.Checked[soundingChange]
}

// soundingChange describes the settings to change.
type soundingChange struct {
	NetworkField
	setting.SoundingChange
}

// Shapes says what may stand in fields whose types do not say it.
func (c soundingChange) Shapes() map[string]shape.Shape {
	shapes := c.SoundingChange.Shapes()
	shapes["network_id"] = positive
	return shapes
}

func (a *App) patchSoundingSettings(ctx context.Context, who auth.Member, in *changeSoundingIn) (*soundingOut, error) {
	if err := a.Engine.Inventory.EditSounding(ctx, who.Network, in.Update.Update, in.Body.Value.SoundingChange, in.Body.Found); err != nil {
		return nil, err
	}
	return a.soundingSettings(ctx, who, nil)
}

func (a *App) soundingClients(_ context.Context, who auth.Member, _ *NetworkQuery) (*api.Answer[body.SoundingClients], error) {
	clients, err := a.Engine.Inventory.SoundingClients(who.Network)
	return api.Answered(body.SoundingClientsOf(clients), err)
}

type changeClientsIn struct {
	NetworkQuery
	Update
	Body api.Checked[soundingClientChanges]
}

// soundingClientChanges describes a change of sounding clients.
type soundingClientChanges struct {
	NetworkField
	setting.SoundingClientChanges
}

// Shapes says what may stand in fields whose types do not say it.
func (soundingClientChanges) Shapes() map[string]shape.Shape {
	return map[string]shape.Shape{"network_id": positive}
}

func (a *App) patchSoundingClients(ctx context.Context, who auth.Member, in *changeClientsIn) (*api.Answer[body.SoundingClients], error) {
	if err := a.Engine.Inventory.EditClients(ctx, who.Network, in.Update.Update, in.Body.Value.Devices, in.Body.Found); err != nil {
		return nil, err
	}
	return a.soundingClients(ctx, who, nil)
}
