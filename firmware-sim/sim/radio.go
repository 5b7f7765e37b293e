package sim

import (
	"sensegate/firmware-sim/channel"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// radio is the receiver of one link. Its frames depend on the seed, the link and
// the time alone. It reuses its buffers and is not safe for concurrent use.
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

// frames returns the batch of the frames in [from, to) of a scene, nil when there
// is none. The batch is valid until the next call.
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
