package app

import (
	"sensegate/api"
	"sensegate/motion/home"
)

// NetworkQuery names the network that a call of a member is about. Handlers do not
// read it: it has found their caller's home already.
type NetworkQuery struct {
	Network api.Opt[home.ID] `query:"network_id" minimum:"1" doc:"App Cloud network id; default: the caller's only network" example:"17"`
}

// NetworkField is NetworkQuery in a body.
type NetworkField struct {
	NetworkID *api.Lenient[home.ID] `json:"network_id,omitempty" doc:"App Cloud network id, also as text; default: the caller's only network" example:"17"`
}
