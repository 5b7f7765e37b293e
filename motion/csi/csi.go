// Package csi decodes the raw channel state that a radio publishes, the `CSI1` batch of
// device-protocol.md 2.5, and computes amplitudes from it. It must not know topics, brokers,
// clocks or what the amplitudes mean.
//
// The package keeps no state and starts no goroutines. One goroutine at a time may use a
// Batch; decoding into the same Batch allocates nothing once its slices have grown.
package csi

import (
	"math"
	"slices"

	"sensegate/motion"
)

// Limits of a batch (device-protocol.md 2.5).
const (
	MaxSubcarriers = 2048
	MaxFrames      = 1000
)

// NoiseUnknown is the noise floor of a frame whose radio does not report one.
const NoiseUnknown int8 = 127

// Flags describe the data of a batch's frames.
type Flags uint8

// The bits of Flags. Without ImagFirst a pair is (real, imaginary).
const (
	GainLocked Flags = 1 << iota // the receiver's gain is locked
	ImagFirst                    // I/Q order is (imaginary, real)
	Amplitude                    // one unsigned amplitude byte per subcarrier instead of I/Q
)

// Width returns the number of bytes per subcarrier: 1 for amplitudes, 2 for I/Q.
func (f Flags) Width() int {
	if f&Amplitude != 0 {
		return 1
	}
	return 2
}

// Batch is one message: consecutive frames of one link.
type Batch struct {
	Src         motion.MAC // transmitter
	Dst         motion.MAC // receiver, a part of the publishing node
	Start       uint64     // time of the first frame, µs since the epoch; 0 = the device has no clock
	Flags       Flags
	Channel     uint8 // primary channel
	Subcarriers int   // 1..MaxSubcarriers
	Ends        []int // end index of each segment, ascending, the last is Subcarriers; empty = one segment
	Frames      []Frame
}

// Frame is one channel measurement. After Decode its Data aliases the payload.
type Frame struct {
	Offset uint32 // µs since the first frame of the batch
	Seq    uint16 // sequence number, wraps
	RSSI   int8   // dBm
	Noise  int8   // noise floor, dBm; NoiseUnknown = not reported
	Data   []byte // Subcarriers × Flags.Width() bytes
}

// HasClock reports whether the device stamped the batch with its own clock.
func (b *Batch) HasClock() bool { return b.Start != 0 }

// Time returns the time of frame i. Without a clock it counts from the epoch.
func (b *Batch) Time(i int) motion.Time {
	return motion.Time((float64(b.Start) + float64(b.Frames[i].Offset)) / 1e6)
}

// Amplitudes writes the amplitude of every subcarrier of frame i to dst, which it grows as
// needed, and returns dst[:Subcarriers]. The unit is the radio's counts.
func (b *Batch) Amplitudes(dst []float32, i int) []float32 {
	return Amplitudes(dst, b.Frames[i].Data, b.Flags)
}

// Amplitudes writes the amplitude of every subcarrier in data to dst, which it grows as
// needed, and returns dst[:n]. A pair of signed bytes, in either order, becomes √(I² + Q²),
// 0..181; an amplitude byte stays, 0..255. An odd last byte of I/Q data is ignored.
func Amplitudes(dst []float32, data []byte, flags Flags) []float32 {
	n := len(data) / flags.Width()
	dst = slices.Grow(dst[:0], n)[:n]
	if flags&Amplitude != 0 {
		for k, a := range data {
			dst[k] = float32(a)
		}
		return dst
	}
	data = data[:2*n]
	for k := range dst {
		i, q := int32(int8(data[2*k])), int32(int8(data[2*k+1]))
		dst[k] = float32(math.Sqrt(float64(i*i + q*q)))
	}
	return dst
}
