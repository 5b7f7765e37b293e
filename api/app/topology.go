package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/home"
)

type topologyIn struct {
	NetworkQuery
	Offline bool `query:"offline" default:"false" doc:"With the devices and links that are offline"`
}

func (a *App) topology(_ context.Context, who auth.Member, in *topologyIn) (*api.Answer[motion.Topology], error) {
	return api.Answered(a.Engine.Inventory.Topology(who.Network, in.Offline))
}

// networkStatus is how a network is now (payloads.md 5.4).
type networkStatus struct {
	Network       home.ID      `json:"network_id" example:"17"`
	LastMotion    *motion.Time `json:"last_motion" nullable:"true" doc:"When motion was last detected, seconds since the epoch; null: not since the network was last claimed" example:"1764000000.5"`
	MotionTripped *int32       `json:"motion_tripped" nullable:"true" doc:"1 while motion is detected, 0 while not; null: unknown" example:"1"`
	MotionEnabled int32        `json:"motion_enabled" enum:"0,1" doc:"1: motion is sensed; 0 while it is paused, too" example:"1"`
	Online        bool         `json:"online" doc:"Whether the guardian or a node is"`
	TS            *motion.Time `json:"ts" nullable:"true" doc:"When the network was last heard of, seconds since the epoch; null: never" example:"1764000060.2"`
}

func (a *App) networkStatus(_ context.Context, who auth.Member, _ *NetworkQuery) (*api.Answer[networkStatus], error) {
	state, err := a.Engine.Inventory.NetworkState(who.Network)
	if err != nil {
		return nil, err
	}
	out := &api.Answer[networkStatus]{Body: networkStatus{Network: who.Home, Online: state.Online, MotionEnabled: int32(state.MotionEnabled)}}
	if !state.LastHeard.IsZero() {
		out.Body.TS = &state.LastHeard
	}
	last, tripped := state.MotionSince(who.Since)
	out.Body.LastMotion = last
	if tripped != nil {
		shown := int32(*tripped)
		out.Body.MotionTripped = &shown
	}
	return out, nil
}
