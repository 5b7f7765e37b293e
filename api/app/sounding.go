package app

import (
	"context"
	"encoding/json"
	"maps"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/engine"
	"sensegate/motion/home"
	"sensegate/motion/setting"
)

// Update says whether a change is sent to the devices at once.
type Update struct {
	Update bool `query:"update" default:"false" doc:"Sends the new configuration to the devices at once; otherwise they get it with the next push, or when they connect"`
}

type soundingIn struct{ NetworkQuery }

type soundingOut struct {
	api.Unsupported
	Body setting.SoundingSettings
}

func (a *App) soundingSettings(_ context.Context, who auth.Member, _ *soundingIn) (*soundingOut, error) {
	s, err := a.Engine.SoundingSettings(who.Network)
	return &soundingOut{api.UnsupportedSettings(a.Engine.Unsupported(who.Network, setting.SoundingView)), s}, err
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

func (a *App) patchSoundingSettings(ctx context.Context, who auth.Member, in *changeSoundingIn) (*soundingOut, error) {
	if err := a.Engine.EditSounding(ctx, who.Network, in.Update.Update, withoutNetwork(in.Body.Value)); err != nil {
		return nil, err
	}
	return a.soundingSettings(ctx, who, nil)
}

// withoutNetwork returns a body without its network_id, which says whose it is; what
// cannot be one stays, to be refused.
func withoutNetwork(body any) any {
	object, ok := body.(map[string]any)
	if !ok {
		return body
	}
	raw, err := json.Marshal(object["network_id"])
	var id api.Lenient[home.ID]
	if err != nil || id.UnmarshalJSON(raw) != nil || id.Value == 0 {
		return body
	}
	object = maps.Clone(object)
	delete(object, "network_id")
	return object
}

type clientsOut struct {
	Body soundingClients
}

// soundingClients is the answer of sounding/clients.
type soundingClients struct {
	Devices []soundingDevice `json:"devices" nullable:"false" doc:"Nodes, then clients, each by id"`
}

type soundingDevice = api.OneOf[engine.SoundingNode, engine.SoundingLeaf]

func (a *App) soundingClients(_ context.Context, who auth.Member, _ *soundingIn) (*clientsOut, error) {
	return a.clients(who)
}

// clients answers with the nodes and clients of a network.
func (a *App) clients(who auth.Member) (*clientsOut, error) {
	clients, err := a.Engine.SoundingClients(who.Network)
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
	NetworkQuery
	Update
	Body api.Checked[soundingClientChanges]
}

// soundingClientChanges describes a change of sounding clients.
type soundingClientChanges struct {
	NetworkField
	setting.SoundingClientChanges
}

func (a *App) patchSoundingClients(ctx context.Context, who auth.Member, in *changeClientsIn) (*clientsOut, error) {
	if err := a.Engine.EditClients(ctx, who.Network, in.Update.Update, withoutNetwork(in.Body.Value)); err != nil {
		return nil, err
	}
	return a.clients(who)
}
