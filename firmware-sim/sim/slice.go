package sim

import (
	"sort"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// batchSpan is the longest time from the first to the last frame of a batch, in
// seconds (device-protocol.md 2.5).
const batchSpan motion.Seconds = 0.5

// slice is the frames of one capture that make a batch: they have the same length
// and span less than batchSpan.
type slice struct {
	receiver int
	header   *capture.Header
	first    int // sequence number of the first frame
	frames   []capture.Frame
}

// slicesOf cuts the captures of a take into slices, ordered by their ends.
func slicesOf(take *Take) []slice {
	var all []slice
	for receiver, c := range take.Captures {
		for from := 0; from < len(c.Frames); {
			to := from + 1
			for to < len(c.Frames) && to-from < csi.MaxFrames && follows(c.Frames[from], c.Frames[to]) {
				to++
			}
			all = append(all, slice{receiver: receiver, header: &c.Header, first: from, frames: c.Frames[from:to]})
			from = to
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].end() < all[j].end() })
	return all
}

// follows reports whether f can be in the batch that begins with first.
func follows(first, f capture.Frame) bool {
	return f.Time >= first.Time && f.Time-first.Time < batchSpan && len(f.Data) == len(first.Data)
}

// end returns the time of the last frame, from the start of the take.
func (s *slice) end() motion.Seconds { return s.frames[len(s.frames)-1].Time }

// batch returns the slice as a batch without addresses; the take began at start.
func (s *slice) batch(start motion.Time) *csi.Batch {
	flags, _ := s.header.Flags() // checked by Replay
	begin := start.Add(s.frames[0].Time).Micros()
	bins := len(s.frames[0].Data) / flags.Width()
	b := &csi.Batch{Start: uint64(begin), Flags: flags, Channel: channel24, Ends: s.header.Segments.Ends(bins)}
	for i, f := range s.frames {
		b.Frames = append(b.Frames, csi.Frame{
			Offset: uint32(start.Add(f.Time).Micros() - begin), Seq: uint16(s.first + i), RSSI: f.RSSI,
			Noise: csi.NoiseUnknown, Data: pick(f.Data, s.header.Segments, flags.Width()),
		})
	}
	b.Subcarriers = len(b.Frames[0].Data) / flags.Width()
	return b
}

// pick returns the bytes of the bins in the segments, or all bytes without segments.
func pick(data []byte, segments capture.Segments, width int) []byte {
	if len(segments) == 0 {
		return data
	}
	var picked []byte
	for _, r := range segments {
		low := min(max(r[0]*width, 0), len(data))
		picked = append(picked, data[low:min(max(r[1]*width, low), len(data))]...)
	}
	return picked
}
