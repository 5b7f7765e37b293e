package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
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

type networksIn struct {
	ID api.Opt[home.ID] `query:"id" minimum:"1" doc:"App Cloud network id: only this one" example:"17"`
	Expand
}

func (a *App) networks(ctx context.Context, u auth.User, in *networksIn) (*list[networkRecord], error) {
	var shown []networkRecord
	err := a.DB.View(ctx, func(tx *store.Tx) error {
		memberships, err := tx.MembershipsOfUser(u.ID)
		if err != nil {
			return err
		}
		for _, m := range memberships {
			if in.ID.Set && m.Home != in.ID.Value {
				continue
			}
			n, err := showNetwork(tx, m.Home, in.Expand)
			if err != nil {
				return err
			}
			shown = append(shown, n)
		}
		if in.ID.Set && len(shown) == 0 {
			return fault.New(fault.NotFound, "network %d is not known", in.ID.Value)
		}
		return nil
	})
	return listed(shown, err)
}

type networkIn struct {
	ID home.ID `path:"id" doc:"App Cloud network id" example:"17"`
	Expand
}

func (a *App) network(ctx context.Context, m auth.Member, in *networkIn) (*api.Answer[networkRecord], error) {
	return api.Answered(store.Read(ctx, a.DB, func(tx *store.Tx) (networkRecord, error) { return showNetwork(tx, m.Home, in.Expand) }))
}

type disownIn struct {
	ID home.ID `path:"id" doc:"App Cloud network id" example:"17"`
	StepUpBody
}

func (a *App) disownNetwork(ctx context.Context, o auth.Owner, in *disownIn) (*struct{}, error) {
	if err := a.Accounts.StepUp(ctx, o.User, in.current()); err != nil {
		return nil, err
	}
	return nil, a.Household.Disown(ctx, o.Home, o.ID)
}

// networkInfo are the internal identifiers of a network (payloads.md 5.3).
type networkInfo struct {
	GuardianID string           `json:"guardian_id" example:"a41f00c2d97b4e5580136c2e"`
	ExternalID motion.NetworkID `json:"external_id" doc:"Core network id" example:"1042"`
	NetworkID  home.ID          `json:"network_id" doc:"App Cloud network id" example:"17"`
	Nodes      []nodeInfo       `json:"nodes" nullable:"false"`
}

type nodeInfo struct {
	ID       motion.NodeID `json:"id" example:"133"`
	DeviceID string        `json:"deviceId" example:"csi-a-02aa00000110"`
	NodeName string        `json:"node_name" example:"GWA1000133"`
}

func (a *App) networkInfo(_ context.Context, m auth.Member, _ *NetworkQuery) (*api.Answer[networkInfo], error) {
	state, err := a.Engine.Inventory.NetworkState(m.Network)
	if err != nil {
		return nil, err
	}
	info := networkInfo{GuardianID: state.GuardianID, ExternalID: m.Network, NetworkID: m.Home, Nodes: []nodeInfo{}}
	for _, n := range state.Nodes {
		info.Nodes = append(info.Nodes, nodeInfo{ID: n.ID, DeviceID: n.DeviceID, NodeName: n.Name})
	}
	return api.Answered(info, nil)
}
