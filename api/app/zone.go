package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
)

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

func (a *App) zonePriority(_ context.Context, who auth.Member, _ *NetworkQuery) (*zonesOut, error) {
	s, err := a.Engine.Inventory.SoundingSettings(who.Network)
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
	names, found := make([]string, len(in.Body)), fault.Details{}
	for i, zone := range in.Body {
		names[i] = string(zone)
		if slices.Contains(in.Body[:i], zone) {
			found.Add(fmt.Sprintf("body[%d]", i), names[i], "stands twice")
		}
	}
	if err := a.Engine.Inventory.EditSounding(ctx, who.Network, true, setting.SoundingChange{ZonePriorityList: &names}, found); err != nil {
		return nil, err
	}
	return a.zonePriority(ctx, who, nil)
}
