package sim

import (
	"context"
	"math"
	"slices"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// streamer publishes the raw CSI of all links of the home, each by the radar of
// its destination. It belongs to the home's goroutine.
type streamer struct {
	world    *world
	radios   []*radio
	radars   []*agent // by node
	settings *settings
	every    int // steps per batch
	steps    int
	payload  []byte
}

// fastBatches is the speed up to which batches stay at one step (500 ms); beyond
// it they grow with the speed, so that a node stays below the broker's message
// rate. In real time there is never less than one batch every 500 ms.
const fastBatches = 20

func newStreamer(w *world, radars []*agent, s *settings, speed float64) *streamer {
	st := &streamer{world: w, radars: radars, settings: s, every: max(1, int(math.Ceil(speed/fastBatches)))}
	for i := range w.links {
		st.radios = append(st.radios, newRadio(w, i))
	}
	return st
}

// step publishes the frames since the last batch, when one is due at t. present
// says that the simulation goes on in real time.
func (st *streamer) step(ctx context.Context, t motion.Time, present bool) {
	st.steps++
	if present && st.steps == 1 {
		st.every = 1
	}
	if st.steps < st.every {
		return
	}
	from := t.Add(-float64(st.steps) * sampleStep)
	st.steps = 0
	scene := st.world.bodies(from, t)
	state, sounding := st.world.up(t), st.settings.sounding()
	for _, r := range st.radios {
		radar := st.radars[r.link.Node]
		if !state.link(r.link) || !sounded(sounding, r.link.Src) || !radar.online() {
			continue
		}
		batch := r.frames(from, t, scene)
		if batch == nil {
			continue
		}
		st.payload = csi.Append(slices.Grow(st.payload[:0], len(batch.Frames)*(2*batch.Subcarriers+16)), batch)
		if radar.stream(ctx, wire.EventCSI, wire.FormatBin, st.payload) {
			radar.tally.frames.Add(int64(len(batch.Frames)))
		}
	}
}
