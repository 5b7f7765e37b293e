package core

import (
	"context"
	"slices"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/jsonwriter"
)

// Form says how a find answers.
type Form struct {
	Array       bool `query:"array" default:"false" doc:"Always an array; otherwise one result is an object"`
	ExpandNodes bool `query:"expandNodes" default:"false" doc:"Adds the nodes of each network"`
}

// networkRecord is the network record (payloads.md 4.1), which [inventory.NetworkStates.Write] writes.
type networkRecord struct {
	ID             motion.NetworkID                `json:"id" doc:"Core network id" example:"1042"`
	GuardianID     string                          `json:"guardian_id" example:"a41f00c2d97b4e5580136c2e"`
	MasterID       motion.NodeID                   `json:"master_id" doc:"Node id of the master; 0: none" example:"133"`
	CreatedAt      motion.Time                     `json:"created_at" doc:"Seconds since the epoch" example:"1750000000.0"`
	UpdatedAt      motion.Time                     `json:"updated_at" doc:"Seconds since the epoch" example:"1763990000.0"`
	LastHeard      motion.Time                     `json:"last_heard" doc:"Last sign of life of the guardian or any node, seconds since the epoch; 0: never" example:"1764000060.2"`
	Online         bool                            `json:"online" doc:"Whether the guardian or any node is"`
	Meta           motion.Document                 `json:"meta"`
	GuardianConfig motion.Document                 `json:"guardian_config" doc:"In force, defaults included"`
	RadarConfig    motion.Document                 `json:"radar_config" doc:"In force, defaults included"`
	LastStatus     api.OrNull[motion.StatusReport] `json:"last_guardian_status" doc:"What status returns; null: never reported"`
	Nodes          []motion.Node                   `json:"nodes,omitzero" nullable:"false" doc:"With expandNodes"`
}

type networksOut struct {
	Body api.Pieces[api.OneOrMany[networkRecord]]
}

// networks answers with the networks found that the key opens; none is NotFound.
func (c *Core) networks(who auth.Key, ids []motion.NetworkID, form Form) (*networksOut, error) {
	ids = slices.DeleteFunc(ids, func(id motion.NetworkID) bool { return who.Open(id) != nil })
	var wanted func(motion.Node) bool
	if form.ExpandNodes {
		wanted = func(motion.Node) bool { return true }
	}
	return c.records(ids, form.Array, wanted)
}

// records answers with the records of networks, and the nodes that are wanted; none is NotFound.
func (c *Core) records(ids []motion.NetworkID, array bool, wanted func(motion.Node) bool) (*networksOut, error) {
	found, err := c.engine.Inventory.NetworkStates(ids)
	if err != nil {
		return nil, err
	}
	if found.Len() == 0 {
		return nil, fault.New(fault.NotFound, "no such network")
	}
	return &networksOut{networksJSON(found.Len(), array, func(w *jsonwriter.Writer, i int) { found.Write(w, i, wanted) })}, nil
}

type findMasterIn struct {
	Master motion.NodeID `path:"master_id" doc:"Node id of the master" example:"133"`
	Form
}

func (c *Core) findMaster(ctx context.Context, who auth.Key, in *findMasterIn) (*networksOut, error) {
	ids, err := c.engine.Inventory.NetworksByMaster(ctx, in.Master)
	if err != nil {
		return nil, err
	}
	return c.networks(who, ids, in.Form)
}

type findNetworkIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Form
}

func (c *Core) findNetwork(_ context.Context, who auth.Key, in *findNetworkIn) (*networksOut, error) {
	if err := c.engine.State.Known(in.Network); err != nil {
		return nil, err
	}
	return c.networks(who, []motion.NetworkID{in.Network}, in.Form)
}

type findBSSIDIn struct {
	BSSID motion.MAC `path:"bssid" doc:"2.4 GHz or 5 GHz access point, mesh or p2p BSSID of one of its nodes" example:"02:aa:00:00:01:12"`
	Form
}

func (c *Core) findBSSID(_ context.Context, who auth.Key, in *findBSSIDIn) (*networksOut, error) {
	var ids []motion.NetworkID
	seen := map[motion.NetworkID]bool{}
	for _, node := range c.engine.Inventory.NodesByBSSID(in.BSSID) {
		if !seen[node.NetworkID] {
			seen[node.NetworkID] = true
			ids = append(ids, node.NetworkID)
		}
	}
	return c.networks(who, ids, in.Form)
}

type findGuardianIn struct {
	Guardian string `path:"guardian_deviceid" doc:"guardian_id of the network, or deviceId of its master" example:"a41f00c2d97b4e5580136c2e"`
	Form
}

func (c *Core) findGuardian(ctx context.Context, who auth.Key, in *findGuardianIn) (*networksOut, error) {
	ids, err := c.engine.Inventory.NetworksByGuardian(ctx, in.Guardian)
	if err != nil {
		return nil, err
	}
	return c.networks(who, ids, in.Form)
}

type findMetaIn struct {
	Query string `path:"query" doc:"URL-encoded: meta->>'key' or meta->'dwm'->>'key' with val, or meta ? 'key' or meta->'dwm' ? 'key' without" example:"meta->'dwm'->>'systemName'"`
	Val   string `query:"val" doc:"Pattern of the value, the whole of it; % stands for any text" example:"demo%"`
	Form
}

func (c *Core) findMeta(_ context.Context, who auth.Key, in *findMetaIn) (*networksOut, error) {
	query, err := parseMetaQuery(in.Query, in.Val)
	if err != nil {
		return nil, err
	}
	return c.networks(who, c.engine.Inventory.NetworksByMeta(query.matches), in.Form)
}
