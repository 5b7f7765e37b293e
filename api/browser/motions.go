package browser

import (
	"context"
	"encoding/json"
	"slices"

	"sensegate/api/auth"
	"sensegate/api/live"
	"sensegate/motion"
	"sensegate/motion/engine/state"
)

// liveFrame is a frame of live motion as the web app gets it.
type liveFrame struct {
	TS      motion.Time  `json:"ts"`
	Links   []string     `json:"links"`
	Data    liveData     `json:"data"`
	LocName string       `json:"loc_name"`
	Rooms   []string     `json:"rooms"`
	Last    *motion.Time `json:"last_motion"`
	Tripped *int         `json:"motion_tripped"`
	Enabled int          `json:"motion_enabled"`
}

// liveData holds one value per link of the frame.
type liveData struct {
	MKAI  []*float64 `json:"mkai"`
	LRaw  []*float64 `json:"lraw"`
	Reach []*float64 `json:"reach"`
}

// motions streams live motion. Viewers of all interfaces count as those of one network.
func (b *Browser) motions(_ context.Context, who auth.Member, _ *HomeQuery) (*live.Stream, error) {
	frames, err := b.Engine.Sensing.Live(who.Network)
	if err != nil {
		return nil, err
	}
	return live.NewStream(live.NetworkKey(who.Network), frames, func(m state.Message) (*live.Frame, error) {
		p := m.Prepared(state.WebAPI, func(m state.Message) any { return prepare(m, who.Since) }).(live.Prepared)
		return p.Frame, p.Err
	}).UntilGone(), nil
}

// prepare encodes a message for all of its viewers: what was before since belongs to those who
// lived there then.
func prepare(m state.Message, since motion.Time) live.Prepared {
	f := m.Frame
	out := liveFrame{f.TS, f.Links, liveData{f.Data.MKAI, f.Data.LRaw, f.Data.Reach}, f.LocName, append([]string{}, f.Rooms...), f.LastMotion, f.MotionTripped, f.MotionEnabled}
	slices.Sort(out.Rooms)
	if out.Last != nil && *out.Last <= since {
		out.Last = nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return live.Prepared{Err: err}
	}
	return live.Prepare(raw)
}
