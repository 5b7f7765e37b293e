package core

import (
	"context"
	"slices"

	"sensegate/api/auth"
	"sensegate/api/live"
	"sensegate/motion"
	"sensegate/motion/engine/state"
)

type networkIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
}

// textFrame returns a message prepared once for all its readers.
func textFrame(m state.Message) (*live.Frame, error) {
	p := m.Prepared(state.CoreAPI, func(m state.Message) any { return live.Prepare(m.JSON) }).(live.Prepared)
	return p.Frame, p.Err
}

func (c *Core) motionLive(_ context.Context, _ auth.Key, in *networkIn) (*live.Stream, error) {
	frames, err := c.engine.Sensing.Live(in.Network)
	if err != nil {
		return nil, err
	}
	return live.NewStream(live.NetworkKey(in.Network), frames, textFrame).UntilGone(), nil
}

type refreshOut struct {
	Body struct {
		NetworkID motion.NetworkID `json:"network_id" example:"1042"`
		Live      bool             `json:"live" doc:"Whether the stream is asked for"`
		ExpiresAt motion.Time      `json:"expires_at" doc:"Until when, seconds since the epoch" example:"1764000060.0"`
	}
}

func (c *Core) refreshMotion(_ context.Context, _ auth.Key, in *networkIn) (*refreshOut, error) {
	until, err := c.engine.Sensing.Refresh(in.Network)
	if err != nil {
		return nil, err
	}
	out := &refreshOut{}
	out.Body.NetworkID, out.Body.Live, out.Body.ExpiresAt = in.Network, true, until
	return out, nil
}

type eventsLiveIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Selection
}

func (c *Core) eventsLive(_ context.Context, _ auth.Key, in *eventsLiveIn) (*live.Stream, error) {
	categories, kinds, err := in.lists()
	if err != nil {
		return nil, err
	}
	events, err := c.engine.Sensing.LiveEvents(in.Network)
	if err != nil {
		return nil, err
	}
	return live.NewStream(live.NetworkKey(in.Network), events, func(m state.Message) (*live.Frame, error) {
		wanted := (categories == nil || slices.Contains(categories, m.Event.Category)) &&
			(kinds == nil || slices.Contains(kinds, m.Event.Event))
		if !wanted {
			return nil, nil
		}
		return textFrame(m)
	}).UntilGone(), nil
}
