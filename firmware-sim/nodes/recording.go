package nodes

import (
	"fmt"
	"slices"

	"sensegate/broker/nodewire"
	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// recording is a capture that a node measures again.
type recording struct {
	capture *capture.Capture
	src     motion.MAC
	loop    bool

	begin motion.Time // of the capture, on the clock of those who ask; zero: nobody has
	next  int         // frame
}

// Recording returns a capture as the measurements of a node of a kind of frames that src has sent. Its first frame
// is measured at once; with loop it begins again 1 s after its end.
func Recording(c *capture.Capture, kind motion.NodeKind, src motion.MAC, loop bool) (Source, error) {
	flags, err := c.Header.Flags()
	if err != nil {
		return nil, fmt.Errorf("capture %s: %w", c.Path, err)
	}
	if len(c.Frames) == 0 {
		return nil, fmt.Errorf("capture %s: has no frames", c.Path)
	}
	width := flags.Width()
	for i := range c.Frames {
		if n := len(c.Frames[i].Data) / width; !holds(kind, n) {
			return nil, fmt.Errorf("capture %s: frame %d has %d subcarriers, which %s nodes do not send", c.Path, i, n, kind)
		}
	}
	r := &recording{capture: c, src: src, loop: loop}
	if flags&csi.ImagFirst == 0 {
		frames := slices.Clone(c.Frames)
		for i := range frames {
			frames[i].Data = imagFirst(frames[i].Data, flags)
		}
		r.capture = &capture.Capture{Path: c.Path, Header: c.Header, Frames: frames}
	}
	return r, nil
}

// holds reports whether a message of a kind of node can hold n subcarriers.
func holds(kind motion.NodeKind, n int) bool {
	switch kind {
	case motion.RuView:
		return n >= 1 && n <= 256
	case motion.MicroESPectre:
		return n >= 1 && n <= nodewire.MicroESPectreSubcarriers
	case motion.CSILines:
		return n >= 1 && n <= 511
	case motion.Nexmon:
		return n == 64 || n == 128 || n == 256
	}
	return n == 64
}

// imagFirst returns data in pairs of signed bytes, imaginary first. Amplitudes become real numbers of half their
// size, which a signed byte holds.
func imagFirst(data []byte, flags csi.Flags) []byte {
	var pairs []byte
	if flags&csi.Amplitude != 0 {
		for _, a := range data {
			pairs = append(pairs, 0, a/2)
		}
		return pairs
	}
	for i := 0; i+1 < len(data); i += 2 {
		pairs = append(pairs, data[i+1], data[i])
	}
	return pairs
}

// pauseBetween is the time from the last frame to the first one of the next round, in seconds.
const pauseBetween motion.Seconds = 1

// Frames implements Source.
func (r *recording) Frames(dst []Frame, from, to motion.Time) ([]Frame, bool) {
	frames := r.capture.Frames
	if r.begin.IsZero() {
		r.begin = from.Add(-frames[0].Time)
	}
	for {
		if r.next == len(frames) {
			if !r.loop {
				return dst, false
			}
			r.next, r.begin = 0, r.begin.Add(frames[len(frames)-1].Time-frames[0].Time+pauseBetween)
		}
		f := &frames[r.next]
		at := r.begin.Add(f.Time)
		if at >= to {
			return dst, true
		}
		r.next++
		dst = append(dst, Frame{max(at, from), nodewire.Frame{
			Src: r.src, Channel: routerChannel, RSSI: f.RSSI, Noise: csi.NoiseUnknown, Flags: csi.ImagFirst, Data: f.Data, Length: len(f.Data),
		}})
	}
}
