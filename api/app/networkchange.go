package app

import (
	"context"
	"math"
	"strconv"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

type putNetworkIn struct {
	ID home.ID `path:"id" doc:"App Cloud network id" example:"17"`
	Expand
	Body networkChange
}

// networkChange is what of a network is to be changed; what is left out or null stays.
type networkChange struct {
	Name           *string               `json:"name,omitempty" nullable:"true" maxLength:"100" example:"Home"`
	Address        *string               `json:"address,omitempty" nullable:"true" maxLength:"400" example:"1 Main St"`
	Latitude       *api.Lenient[float64] `json:"latitude,omitempty" doc:"Decimal degrees, -90 to 90" example:"43.4643"`
	Longitude      *api.Lenient[float64] `json:"longitude,omitempty" doc:"Decimal degrees, -180 to 180" example:"-80.5204"`
	Timezone       *string               `json:"timezone,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"IANA name of the time zone" example:"America/Toronto"`
	PetSize        *string               `json:"pet_size,omitempty" enum:"none,small,medium,large"`
	BuildingType   *string               `json:"building_type,omitempty" nullable:"true" maxLength:"64" example:"house"`
	BuildingSize   *string               `json:"building_size,omitempty" nullable:"true" maxLength:"64" example:"medium"`
	LiveEnabled    *bool                 `json:"live_enabled,omitempty"`
	SubscriptionID *string               `json:"subscription_id,omitempty" nullable:"true" maxLength:"100"`
	SceneID        *home.Scene           `json:"scene_id,omitempty" enum:"1,4" doc:"1 away, 4 home; as PUT /scenes"`
	ReadOnlyFields
}

// ReadOnlyFields are the other fields of a network: clients that send back what they
// have read are understood, and the fields are ignored.
type ReadOnlyFields struct {
	ID           any `json:"id,omitempty" doc:"Ignored"`
	NetworkID    any `json:"network_id,omitempty" doc:"Ignored"`
	ExternalID   any `json:"external_id,omitempty" doc:"Ignored"`
	SceneConfig  any `json:"network_scene_config,omitempty" doc:"Ignored"`
	OwnerEmail   any `json:"owner_email,omitempty" doc:"Ignored"`
	UserCount    any `json:"user_count,omitempty" doc:"Ignored"`
	PresentCount any `json:"present_count,omitempty" doc:"Ignored"`
	Claimed      any `json:"claimed,omitempty" doc:"Ignored"`
	CreatedAt    any `json:"created_at,omitempty" doc:"Ignored"`
	UpdatedAt    any `json:"updated_at,omitempty" doc:"Ignored"`
}

// Mistakes returns what no schema can tell.
func (in *putNetworkIn) Mistakes() (mistakes []fault.Detail) {
	if zone := in.Body.Timezone; zone != nil && *zone != "" {
		if _, err := engine.LoadZone(*zone); err != nil {
			mistakes = append(mistakes, fault.Detail{Location: "body.timezone", Message: err.Error(), Value: *zone})
		}
	}
	degrees := func(field string, value *api.Lenient[float64], most float64) {
		if value != nil && !(math.Abs(value.Value) <= most) {
			mistakes = append(mistakes, fault.Detail{Location: "body." + field, Message: "want -" + shortFloat(most) + " to " + shortFloat(most) + " degrees", Value: value.Value})
		}
	}
	degrees("latitude", in.Body.Latitude, 90)
	degrees("longitude", in.Body.Longitude, 180)
	return mistakes
}

// shortFloat writes a number with at most seven decimals: a centimetre, in degrees.
func shortFloat(v float64) string {
	const scale = 1e7
	return strconv.FormatFloat(math.Round(v*scale)/scale, 'f', -1, 64)
}

// apply sets what is given.
func (c networkChange) apply(one *home.Home) {
	for field, value := range map[*string]*string{
		&one.Name: c.Name, &one.Address: c.Address, &one.PetSize: c.PetSize,
		&one.BuildingType: c.BuildingType, &one.BuildingSize: c.BuildingSize,
	} {
		if value != nil {
			*field = strings.TrimSpace(*value)
		}
	}
	for field, value := range map[*string]*api.Lenient[float64]{&one.Latitude: c.Latitude, &one.Longitude: c.Longitude} {
		if value != nil {
			*field = shortFloat(value.Value)
		}
	}
	if c.LiveEnabled != nil {
		one.LiveEnabled = *c.LiveEnabled
	}
	if c.SubscriptionID != nil {
		one.SubscriptionID = c.SubscriptionID
	}
}

func (a *App) putNetwork(ctx context.Context, o auth.Owner, in *putNetworkIn) (*networkOut, error) {
	zone := ""
	if in.Body.Timezone != nil {
		zone = *in.Body.Timezone
	}
	if err := a.Household.ChangeHome(ctx, o.Home, in.Body.apply, zone); err != nil {
		return nil, err
	}
	if in.Body.SceneID != nil {
		if _, err := a.Household.ChangeScene(ctx, o.Home, o.ID, *in.Body.SceneID, home.ByUser); err != nil {
			return nil, err
		}
	}
	return a.showNetwork(ctx, o.Member, in.Expand)
}
