package nodedoor

import (
	"context"
	"slices"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/fault"
)

// maxLinks is how many links and formats of one node are gathered at a time.
const maxLinks = 64

// batch gathers the frames of one link and format until they are handed over.
type batch struct {
	head   csi.Batch // its Frames and their Data are those gathered
	format uint16
	start  time.Time
	data   []byte // of the frames
	scale  scale  // of amplitudes
}

// scale turns amplitudes of a radio's own unit into bytes. It is chosen by the first frame, once more by the first
// few hundred, and then never again: the detector compares what a link measures over time.
type scale struct {
	factor float32
	frames int
	seen   []float32 // amplitudes so far, until it is chosen
}

// How a scale is chosen: 95 % of the amplitudes come to at most half of what a byte holds.
const (
	scaleFrames = 200
	scaleShare  = 0.95
	scaleTo     = 128
)

// learn takes in the amplitudes of a frame.
func (s *scale) learn(amplitudes []float32) {
	if s.frames >= scaleFrames {
		return
	}
	s.frames++
	s.seen = append(s.seen, amplitudes...)
	if s.frames == 1 || s.frames == scaleFrames {
		slices.Sort(s.seen)
		s.factor = scaleTo / max(s.seen[int(scaleShare*float64(len(s.seen)))], 1e-6)
	}
	if s.frames == scaleFrames {
		s.seen = nil
	}
}

// append appends amplitudes as bytes to dst.
func (s *scale) append(dst []byte, amplitudes []float32) []byte {
	for _, a := range amplitudes {
		dst = append(dst, byte(min(a*s.factor+0.5, 255)))
	}
	return dst
}

// gather keeps a frame of an adopted node that has come at now; ok is false when there is no room for it.
func (n *node) gather(src motion.MAC, f *nodewire.Frame, now time.Time) (ok bool) {
	width, flags := f.Subcarriers(), f.Flags
	if len(f.Amplitudes) > 0 {
		flags |= csi.Amplitude
	}
	i := slices.IndexFunc(n.batches, func(b *batch) bool {
		return b.head.Src == src && b.format == f.Format && b.head.Flags == flags && b.head.Subcarriers == width && b.head.Channel == f.Channel
	})
	if i < 0 {
		if len(n.batches) == maxLinks || width == 0 || width > csi.MaxSubcarriers {
			return false
		}
		n.batches = append(n.batches, &batch{format: f.Format, head: csi.Batch{
			Src: src, Dst: n.receiver, Flags: flags, Channel: f.Channel, Subcarriers: width, Ends: slices.Clone(f.Ends),
		}})
		i = len(n.batches) - 1
	}
	b := n.batches[i]
	if len(b.head.Frames) == csi.MaxFrames {
		return false
	}
	if len(b.head.Frames) == 0 {
		b.start = now
		b.head.Start = uint64(now.UnixMicro())
	}
	if b.data = append(b.data, f.Data...); len(f.Amplitudes) > 0 {
		b.scale.learn(f.Amplitudes)
		b.data = b.scale.append(b.data, f.Amplitudes)
	}
	b.head.Frames = append(b.head.Frames, csi.Frame{
		Offset: uint32(max(0, now.Sub(b.start).Microseconds())), Seq: uint16(f.Seq.Number), RSSI: f.RSSI, Noise: f.Noise,
	})
	return true
}

// append appends what was gathered to dst as one message, and begins anew.
func (b *batch) append(dst []byte) []byte {
	width := b.head.Subcarriers * b.head.Flags.Width()
	for i := range b.head.Frames {
		b.head.Frames[i].Data = b.data[i*width : (i+1)*width]
	}
	dst = csi.Append(dst, &b.head)
	b.head.Frames, b.data = b.head.Frames[:0], b.data[:0]
	return dst
}

// handOver reports what was gathered.
func (d *Door) handOver(ctx context.Context) {
	for _, n := range d.list() {
		for i := 0; ; i++ {
			d.mu.Lock()
			if i >= len(n.batches) {
				d.mu.Unlock()
				break
			}
			key := n.key
			b := n.batches[i]
			if len(b.head.Frames) == 0 {
				d.mu.Unlock()
				continue
			}
			n.message = b.append(n.message[:0])
			format := b.format
			d.mu.Unlock()
			d.report(ctx, n, key, motion.NodeCSI{Format: format, Batch: motion.RawCSI(n.message)})
		}
	}
}

// report hands over a report of a node. One that the engine does not know any more asks to come in again.
func (d *Door) report(ctx context.Context, n *node, key motion.DeviceKey, r motion.Report) {
	err := d.options.Engine.Report(ctx, key, r)
	switch {
	case err == nil || ctx.Err() != nil:
	case fault.KindOf(err) != 0:
		d.options.Engine.BadInput(key.String(), err.Error(), nil)
	default:
		d.options.Log.Warn("frames of a node not taken in", "device", key.ID, "err", err)
		d.Forget(n.id)
	}
}
