package core

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
)

// metaDocument is the meta of a network (interfaces.md 2.1).
type metaDocument struct {
	DWM                *fleet            `json:"dwm,omitempty"`
	Home               *homeState        `json:"home,omitempty"`
	Location           map[string]string `json:"location,omitempty" doc:"Location by leaf MAC; empty: the leaf moves about. A view of the leafs"`
	FriendlyName       map[string]string `json:"friendly_name,omitempty" doc:"Friendly name by leaf MAC. A view of the leafs"`
	NeuronEnv          *string           `json:"neuron_env,omitempty" nullable:"true" doc:"Neuron environment of the network"`
	MotionPaused       int32             `json:"motion_paused,omitempty" enum:"0,1" doc:"1: motion is paused"`
	MQSecureRadarPort  *int32            `json:"mqSecureRadarPort,omitempty" nullable:"true" minimum:"1" maximum:"65535" doc:"Overrides the secure port that the gatekeeper answers"`
	AutoSegment        int32             `json:"auto_segment,omitempty" doc:"Internal"`
	GuardianEnv        string            `json:"guardian_env,omitempty" enum:"local" doc:"Where fusion happens"`
	NewNetworkID       int32             `json:"new_network_id,omitempty" doc:"Internal: a newer network id"`
	OldNetworkID       int32             `json:"old_network_id,omitempty" doc:"Internal: an older network id"`
	NewGuardianID      string            `json:"new_guardian_id,omitempty" doc:"Internal: a newer guardian id"`
	GatekeeperRedirect string            `json:"gatekeeper_redirect,omitempty" format:"uri" doc:"Full http or https URL of the gatekeeper that the network is to move to"`
}

// fleet is meta.dwm.
type fleet struct {
	GroupID           string `json:"groupId,omitempty" example:"lab"`
	SystemName        string `json:"systemName,omitempty" example:"demo-home"`
	SystemType        string `json:"systemType,omitempty"`
	SystemOwner       string `json:"systemOwner,omitempty"`
	ConfigurationType string `json:"configurationType,omitempty"`
}

// homeState is meta.home: a view of motion_events in the guardian configuration.
type homeState struct {
	Sens             int32  `json:"sens,omitempty" minimum:"1" maximum:"4" doc:"1 High, 2 Medium, 3 Low, 4 Very Low" example:"1"`
	Cooldown         int32  `json:"cooldown,omitempty" minimum:"0" maximum:"86400" doc:"Seconds without motion until it has stopped" example:"120"`
	SensitivityLevel string `json:"sensitivity_level,omitempty" enum:"high,medium,low,very_low" doc:"That of sens; may be given instead of it" example:"high"`
}

type metaOut struct {
	Body api.Part[metaDocument]
}

func (c *Core) meta(_ context.Context, _ auth.Key, in *documentIn) (*metaOut, error) {
	value, err := c.engine.Inventory.Meta(in.Network, in.Key.Key)
	return &metaOut{Body: api.Part[metaDocument]{Value: value}}, err
}

// editMeta replaces the meta of a network, or merges into it.
func (c *Core) editMeta(replace bool) func(context.Context, auth.Key, *changeIn[metaDocument]) (*metaOut, error) {
	return func(ctx context.Context, key auth.Key, in *changeIn[metaDocument]) (*metaOut, error) {
		if err := c.engine.Inventory.EditMeta(ctx, in.Network, in.Update.Update, in.edit(replace)); err != nil {
			return nil, err
		}
		out, err := c.meta(ctx, key, &documentIn{in.Network, in.Key})
		return out, unlessGone(err)
	}
}
