package app

import (
	"context"
	"encoding/json"

	"sensegate/api/auth"
	"sensegate/api/live"
	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/state"
)

// liveFrame is a frame of live motion as the household's apps get it (payloads.md 4.7):
// the outer Data hides that of motion.LiveFrame.
type liveFrame struct {
	motion.LiveFrame
	Data liveData `json:"data"`
}

// liveData holds one value per link of the frame; the three intensities are the same
// here.
type liveData struct {
	MKAI         []*float64 `json:"mkai"`
	MKAIOriginal []*float64 `json:"mkai_original"`
	MKAIScaled   []*float64 `json:"mkai_scaled"`
	LRaw         []*float64 `json:"lraw"`
	Throughput   []*float64 `json:"throughput"`
}

// prepare encodes a message for all of its viewers, who claimed their home at since.
func prepare(m state.Message, since motion.Time) live.Prepared {
	frame, d := *m.Frame, m.Frame.Data
	frame.LastMotion, frame.MotionTripped = inventory.MotionSince(frame.LastMotion, frame.MotionTripped, since)
	raw, err := json.Marshal(liveFrame{frame, liveData{d.MKAI, d.MKAI, d.MKAI, d.LRaw, d.Throughput}})
	if err != nil {
		return live.Prepared{Err: err}
	}
	return live.Prepare(raw)
}

// motions streams live motion. Viewers of both interfaces count as those of one
// network.
func (a *App) motions(_ context.Context, who auth.Member, _ *NetworkQuery) (*live.Stream, error) {
	frames, err := a.Engine.Sensing.Live(who.Network)
	if err != nil {
		return nil, err
	}
	return live.NewStream(live.NetworkKey(who.Network), frames, func(m state.Message) (*live.Frame, error) {
		p := m.Prepared(state.AppAPI, func(m state.Message) any { return prepare(m, who.Since) }).(live.Prepared)
		return p.Frame, p.Err
	}).UntilGone(), nil
}
