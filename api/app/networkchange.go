package app

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/insights"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

type putNetworkIn struct {
	ID home.ID `path:"id" doc:"App Cloud network id" example:"17"`
	Expand
	Body networkChange
}

// networkChange is what of a network is to be changed. What is left out stays; null clears
// what may be missing, and is as good as left out elsewhere.
type networkChange struct {
	Name           api.Nullable[string]               `json:"name,omitempty" maxLength:"100" example:"Home"`
	Address        api.Nullable[string]               `json:"address,omitempty" maxLength:"400" example:"1 Main St"`
	Latitude       api.Nullable[api.Lenient[float64]] `json:"latitude,omitempty" doc:"Decimal degrees, -90 to 90; null: not known" example:"43.4643"`
	Longitude      api.Nullable[api.Lenient[float64]] `json:"longitude,omitempty" doc:"Decimal degrees, -180 to 180; null: not known" example:"-80.5204"`
	Timezone       api.Nullable[string]               `json:"timezone,omitempty" minLength:"1" maxLength:"64" doc:"IANA name of the time zone; null: that of a new network" example:"America/Toronto"`
	PetSize        api.Nullable[string]               `json:"pet_size,omitempty" enum:"none,small,medium,large" doc:"null: none"`
	BuildingType   api.Nullable[string]               `json:"building_type,omitempty" maxLength:"64" example:"house"`
	BuildingSize   api.Nullable[string]               `json:"building_size,omitempty" maxLength:"64" example:"medium"`
	LiveEnabled    *bool                              `json:"live_enabled,omitempty" doc:"false: /motions is closed to everybody (403), and those who watch are sent away"`
	SubscriptionID api.Nullable[string]               `json:"subscription_id,omitempty" maxLength:"100"`
	SceneID        *home.Scene                        `json:"scene_id,omitempty" enum:"1,4" doc:"1 away, 4 home; as PUT /scenes"`
	ReadOnlyFields
}

// ReadOnlyFields are the other fields of a network: clients that send back what they
// have read are understood, and the fields are ignored, but for those that say which
// network it is.
type ReadOnlyFields struct {
	ID           api.Nullable[api.Lenient[home.ID]]          `json:"id,omitempty" doc:"Of this network, or left out"`
	NetworkID    api.Nullable[api.Lenient[home.ID]]          `json:"network_id,omitempty" doc:"As id"`
	ExternalID   api.Nullable[api.Lenient[motion.NetworkID]] `json:"external_id,omitempty" doc:"The Core id of this network, or left out"`
	SceneConfig  any                                         `json:"network_scene_config,omitempty" doc:"Ignored"`
	OwnerEmail   any                                         `json:"owner_email,omitempty" doc:"Ignored"`
	UserCount    any                                         `json:"user_count,omitempty" doc:"Ignored"`
	PresentCount any                                         `json:"present_count,omitempty" doc:"Ignored"`
	Claimed      any                                         `json:"claimed,omitempty" doc:"Ignored"`
	CreatedAt    any                                         `json:"created_at,omitempty" doc:"Ignored"`
	UpdatedAt    any                                         `json:"updated_at,omitempty" doc:"Ignored"`
}

// Mistakes returns what no schema can tell.
func (in *putNetworkIn) Mistakes() []fault.Detail {
	var mistakes fault.Details
	if zone := in.Body.Timezone.Value; zone != "" {
		if _, err := insights.LoadZone(zone); err != nil {
			mistakes.Add("body.timezone", zone, "%s", err)
		}
	}
	if name := in.Body.Name.Value; name != "" && strings.TrimSpace(name) == "" {
		home.CheckName(&mistakes, "body.name", name, "")
	}
	degrees := func(field string, value float64, most float64) {
		if !(math.Abs(value) <= most) {
			mistakes.Add("body."+field, value, "want -%s to %[1]s degrees", shortFloat(most))
		}
	}
	degrees("latitude", in.Body.Latitude.Value.Value, 90)
	degrees("longitude", in.Body.Longitude.Value.Value, 180)
	for field, id := range map[string]api.Nullable[api.Lenient[home.ID]]{"id": in.Body.ID, "network_id": in.Body.NetworkID} {
		if id.Set && !id.Null && id.Value.Value != in.ID {
			mistakes.Add("body."+field, id.Value.Value, "want that of the path: it cannot be changed")
		}
	}
	return mistakes
}

// shortFloat writes a number with at most seven decimals: a centimetre, in degrees.
func shortFloat(v float64) string {
	const scale = 1e7
	return strconv.FormatFloat(math.Round(v*scale)/scale, 'f', -1, 64)
}

// apply sets what is given.
func (c networkChange) apply(one *home.Home) {
	for field, value := range map[*string]api.Nullable[string]{
		&one.Name: c.Name, &one.Address: c.Address, &one.PetSize: c.PetSize,
		&one.BuildingType: c.BuildingType, &one.BuildingSize: c.BuildingSize,
	} {
		if value.Set {
			*field = strings.TrimSpace(value.Value)
		}
	}
	one.PetSize = cmp.Or(one.PetSize, home.NoPet)
	for field, value := range map[*string]api.Nullable[api.Lenient[float64]]{&one.Latitude: c.Latitude, &one.Longitude: c.Longitude} {
		switch {
		case value.Null:
			*field = ""
		case value.Set:
			*field = shortFloat(value.Value.Value)
		}
	}
	if c.LiveEnabled != nil {
		one.LiveEnabled = *c.LiveEnabled
	}
	switch {
	case c.SubscriptionID.Null:
		one.SubscriptionID = nil
	case c.SubscriptionID.Set:
		one.SubscriptionID = &c.SubscriptionID.Value
	}
}

func (a *App) putNetwork(ctx context.Context, o auth.Owner, in *putNetworkIn) (*api.Answer[networkRecord], error) {
	if id := in.Body.ExternalID; id.Set && !id.Null && id.Value.Value != o.Network {
		return nil, fault.At("body.external_id", id.Value.Value, "want that of this network: it cannot be changed")
	}
	zone := in.Body.Timezone.Value
	if in.Body.Timezone.Null {
		zone = motion.DefaultApplicationSettings(o.Network).Timezone
	}
	if err := a.Household.ChangeHome(ctx, o.Home, in.Body.apply, zone); err != nil {
		return nil, err
	}
	if in.Body.SceneID != nil {
		if _, err := a.Household.ChangeScene(ctx, o.Home, o.ID, *in.Body.SceneID, home.ByUser); err != nil {
			return nil, err
		}
	}
	return a.network(ctx, o.Member, &networkIn{Expand: in.Expand})
}
