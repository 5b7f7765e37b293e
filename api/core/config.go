package core

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
)

// Update says whether a change goes to the devices now.
type Update struct {
	Update bool `query:"update" default:"false" doc:"Send the new configuration to the devices at once; otherwise they get it with config/update, or when they connect"`
}

// Key picks a part of a document.
type Key struct {
	Key string `query:"key" maxLength:"128" doc:"All of the operation is about the value at this top-level key; to read one that is not there is 404"`
}

type documentIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Key
}

type changeIn[T any] struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Key
	Update
	Body api.CheckedPart[T]
}

// edit is the change that a request asks for.
func (in *changeIn[T]) edit(replace bool) setting.Edit {
	body, _ := in.Body.Value.(map[string]any)
	if in.Key.Key != "" {
		body = motion.Document{in.Key.Key: in.Body.Value}
	}
	return setting.Edit{Key: in.Key.Key, Replace: replace, Body: body}
}

type configOut[T any] struct {
	api.Unsupported
	Body api.Part[T]
}

// config is one of the two configuration documents of networks.
type config[T any] struct {
	core *Core
	view setting.View
	read func(in *inventory.Inventory, id motion.NetworkID, key string) (any, error)
	edit func(in *inventory.Inventory, ctx context.Context, id motion.NetworkID, push bool, edit setting.Edit) error
}

func (c *Core) guardianConfig() config[motion.GuardianConfig] {
	return config[motion.GuardianConfig]{c, setting.GuardianView, (*inventory.Inventory).GuardianConfig, (*inventory.Inventory).EditGuardian}
}

func (c *Core) radarConfig() config[motion.RadarConfig] {
	return config[motion.RadarConfig]{c, setting.RadarView, (*inventory.Inventory).RadarConfig, (*inventory.Inventory).EditRadar}
}

func (c config[T]) get(_ context.Context, _ auth.Key, in *documentIn) (*configOut[T], error) {
	value, err := c.read(c.core.engine.Inventory, in.Network, in.Key.Key)
	return &configOut[T]{c.core.unsupported(in.Network, c.view), api.Part[T]{Value: value}}, err
}

// change replaces the document, or merges into it.
func (c config[T]) change(replace bool) func(context.Context, auth.Key, *changeIn[T]) (*configOut[T], error) {
	return func(ctx context.Context, key auth.Key, in *changeIn[T]) (*configOut[T], error) {
		if err := c.edit(c.core.engine.Inventory, ctx, in.Network, in.Update.Update, in.edit(replace)); err != nil {
			return nil, err
		}
		out, err := c.get(ctx, key, &documentIn{in.Network, in.Key})
		return out, unlessGone(err)
	}
}

// unlessGone lets the answer be null for a key that a change has deleted.
func unlessGone(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// propagation is the answer of config/update.
type propagation struct {
	Network    motion.NetworkID `json:"network_id" example:"1042"`
	Propagated bool             `json:"propagated" doc:"Sent to every device of the network, and there is one; those that are not connected get it when they return"`
	Rev        int32            `json:"rev" doc:"The revision that was sent: it grows with every change" example:"13"`
	AppliedRev int32            `json:"applied_rev" doc:"The last revision that the guardian has said to have applied; 0: none yet" example:"12"`
}

func (c *Core) propagate(ctx context.Context, _ auth.Key, in *networkIn) (*api.Answer[propagation], error) {
	p, err := c.engine.Inventory.Propagate(ctx, in.Network)
	return api.Answered(propagation{Network: in.Network, Propagated: p.Propagated, Rev: int32(p.Rev), AppliedRev: int32(p.AppliedRev)}, err)
}

type resetIn struct {
	Network      motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	KeepRadar    bool             `query:"keepRadar" default:"false" doc:"Leave the radar configuration as it is"`
	KeepGuardian bool             `query:"keepGuardian" default:"false" doc:"Leave the guardian configuration as it is"`
	KeepStatus   bool             `query:"keepStatus" default:"false" doc:"Leave the saved status, and with it the topology, as it is"`
	KeepMeta     api.Opt[string]  `query:"keepMeta" doc:"Top-level keys of meta to keep, comma-separated; empty: none; default: dwm, guardian_env, neuron_env" example:"dwm,location,friendly_name"`
	Update
}

func (c *Core) reset(ctx context.Context, _ auth.Key, in *resetIn) (*api.Answer[api.Pieces[networkRecord]], error) {
	keep := inventory.Keep{
		Guardian: in.KeepGuardian, Radar: in.KeepRadar, Status: in.KeepStatus,
		Meta: commaList(in.KeepMeta.Or("dwm,guardian_env,neuron_env")),
	}
	if err := c.engine.Inventory.Reset(ctx, in.Network, keep, in.Update.Update); err != nil {
		return nil, err
	}
	found, err := c.records([]motion.NetworkID{in.Network}, false, nil)
	if err != nil {
		return nil, err
	}
	return api.Answered(api.Pieces[networkRecord](found.Body), nil)
}
