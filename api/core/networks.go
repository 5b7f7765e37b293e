package core

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// networkEntry is a network in the list of all.
type networkEntry struct {
	ID         motion.NetworkID `json:"id" doc:"Core network id" example:"1042"`
	Name       string           `json:"name" doc:"As its household calls it; empty: it has no name" example:"Home"`
	GuardianID string           `json:"guardian_id" example:"a41f00c2d97b4e5580136c2e"`
	Online     bool             `json:"online" doc:"Whether the guardian or any node is"`
	Owned      bool             `json:"owned" doc:"Whether a household has claimed it"`
}

// networkList lists the networks that the key opens, by id.
func (c *Core) networkList(ctx context.Context, who auth.Key, _ *struct{}) (*api.AnswerList[networkEntry], error) {
	out := &api.AnswerList[networkEntry]{Body: []networkEntry{}}
	err := c.db.View(ctx, func(tx *store.Tx) error {
		all, err := tx.Networks()
		if err != nil {
			return err
		}
		for _, network := range all {
			if who.Open(network.ID) != nil {
				continue
			}
			one, _, err := tx.HomeOfNetwork(network.ID)
			if err != nil {
				return err
			}
			out.Body = append(out.Body, networkEntry{ID: network.ID, Name: one.Name, GuardianID: network.GuardianID, Owned: one.Claimed()})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range out.Body {
		state, err := c.engine.Inventory.NetworkState(out.Body[i].ID)
		if err != nil && fault.KindOf(err) != fault.NotFound { // deleted meanwhile
			return nil, err
		}
		out.Body[i].Online = state.Online
	}
	return out, nil
}
