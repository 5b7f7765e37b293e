// Package nodewire reads and writes how the channel-state nodes of other makers speak: a file for each
// kind. Its decoders are pure functions of bytes: they do not do I/O, read a clock, allocate for a frame,
// or know who may send. The simulator uses the encoders, tests use both.
//
// The layouts are facts from the makers' own documents and sources, gathered in ../shared/spec/nodes.md;
// no code was taken from them.
package nodewire

import (
	"errors"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// Frame is one measurement of the channel. A decoder fills it in; its slices are valid until that decoder is
// used again, and may alias what was decoded.
type Frame struct {
	Node uint8      // number of the node, as its owner has set it; 0: the form has none
	Src  motion.MAC // transmitter; zero: the form does not tell
	Seq  Sequence

	Channel uint8 // primary channel, 0: unknown
	RSSI    int8  // dBm, 0: unknown
	Noise   int8  // dBm, csi.NoiseUnknown: unknown

	// Format tells apart what is measured in another way on the same link, such as another training field or
	// antenna. Amplitudes of different formats, or numbers of subcarriers, cannot be compared. What it means is
	// the kind's own; Length is shown to people.
	Format uint16
	Length int // bytes of channel state in the message, before anything of it is left out

	// The channel state is Data or Amplitudes, the other one is empty. Data has pairs of signed bytes as Flags
	// say (csi.ImagFirst), Amplitudes are in counts of any scale.
	Flags      csi.Flags
	Data       []byte
	Amplitudes []float32
	Ends       []int // ends of the segments, as in csi.Batch; empty: one segment
}

// Sequence is the number of a frame at its node.
type Sequence struct {
	Number uint32
	Bits   uint8 // it wraps after so many bits; 0: the form has no number
}

// Subcarriers returns the number of subcarriers in f.
func (f *Frame) Subcarriers() int {
	if len(f.Amplitudes) > 0 {
		return len(f.Amplitudes)
	}
	return len(f.Data) / 2
}

// Why a message holds no frame. Decoders return these alone, so that a flood costs no memory.
var (
	ErrOther     = errors.New("another message of such nodes, which holds no channel state")
	ErrForm      = errors.New("not of the form of such nodes")
	ErrTruncated = errors.New("cut short")
)
