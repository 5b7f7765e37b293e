package sim

import (
	"context"
	"math"
	"slices"

	"sensegate/broker/wire"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// streamer publishes the raw CSI of all links of the home, each through the radar of
// its destination. It belongs to the home's goroutine.
type streamer struct {
	world    *world
	place    *scenario.Scenario // for which the radios are
	radios   []*radio
	radars   []*agent // by node
	settings *settings
	every    int // steps per batch
	steps    int
	payload  []byte
}

// fastBatches is the speed up to which a batch spans one step (500 ms); above it the
// span grows with the speed, so that a node stays below the broker's message rate.
// In real time a batch spans one step.
const fastBatches = 20

func newStreamer(w *world, radars []*agent, s *settings, speed float64) *streamer {
	st := &streamer{world: w, radars: radars, settings: s, every: max(1, int(math.Ceil(speed/fastBatches)))}
	st.arrange()
	return st
}

// arrange makes the radios anew when a device has been moved.
func (st *streamer) arrange() {
	place := st.world.place()
	if st.place == place {
		return
	}
	st.place, st.radios = place, nil
	for i := range st.world.links {
		st.radios = append(st.radios, newRadio(st.world, i))
	}
}

// step publishes the frames since the last batch if one is due at t. present says
// that the simulation runs in real time.
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
	st.arrange()
	scene := st.world.bodies(from, t)
	state, sounding := st.world.up(t), st.settings.sounding()
	for _, r := range st.radios {
		radar := st.radars[r.link.Node]
		if !state.sounds(r.link) || !sounded(sounding, r.link.Src) || !radar.online() {
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

// radio is the receiver of a link. Its frames depend only on the seed, the link, the
// scene and the time. It reuses its buffers and is not safe for concurrent use.
type radio struct {
	link     *Link
	layout   channel.Layout
	channel  *channel.Link
	measured []channel.Frame
	batch    csi.Batch
}

// newRadio returns the receiver of link i of a world.
func newRadio(w *world, i int) *radio {
	c := w.radio(i)
	return &radio{link: &w.links[i], layout: c.Layout, channel: channel.NewLink(c)}
}

// frames returns the batch of the frames in [from, to) of a scene, nil if there are
// none. The batch is valid until the next call.
func (r *radio) frames(from, to motion.Time, scene *channel.Scene) *csi.Batch {
	r.measured = r.channel.Sound(r.measured[:0], from, to, scene)
	if len(r.measured) == 0 {
		return nil
	}
	b := &r.batch
	*b = csi.Batch{
		Src: r.link.Src, Dst: r.link.Dst, Start: uint64(r.measured[0].Stamp.Micros()), Flags: r.layout.Flags,
		Channel: uint8(r.link.Channel), Subcarriers: len(r.layout.Indices), Ends: r.layout.Ends, Frames: b.Frames[:0],
	}
	for _, f := range r.measured {
		b.Frames = append(b.Frames, csi.Frame{
			Offset: uint32(uint64(f.Stamp.Micros()) - b.Start), Seq: uint16(f.Number), RSSI: f.RSSI, Noise: f.Noise, Data: f.Data,
		})
	}
	return b
}
