package app

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/api/auth"
)

type zonesIn struct{ NetworkQuery }

type zonesOut struct {
	Body []zone `nullable:"false" maxItems:"64" doc:"Zones whose links are sounded first, in order"`
}

// zone is the name of a zone.
type zone string

// Schema gives its limits.
func (zone) Schema(huma.Registry) *huma.Schema {
	least, most := 1, 256
	s := &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most}
	s.PrecomputeMessages()
	return s
}

func (a *App) zonePriority(_ context.Context, who auth.Member, _ *zonesIn) (*zonesOut, error) {
	return a.zones(who)
}

// zones answers with the list in force.
func (a *App) zones(who auth.Member) (*zonesOut, error) {
	s, err := a.Engine.SoundingSettings(who.Network)
	out := &zonesOut{Body: []zone{}}
	for _, name := range s.ZonePriorityList {
		out.Body = append(out.Body, zone(name))
	}
	return out, err
}

type changeZonesIn struct {
	NetworkQuery
	Body []zone `nullable:"false" maxItems:"64" doc:"The whole list, in order; empty: no zone comes first"`
}

func (a *App) patchZonePriority(ctx context.Context, who auth.Member, in *changeZonesIn) (*zonesOut, error) {
	names := make([]any, len(in.Body))
	for i, name := range in.Body {
		names[i] = string(name)
	}
	err := a.Engine.EditSounding(ctx, who.Network, true, map[string]any{"zone_priority_list": names})
	if err != nil {
		return nil, relocated(err, "body.zone_priority_list", "body")
	}
	return a.zones(who)
}
