package nodewire

import (
	"encoding/binary"
	"math"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// Radios with the firmware of nexmon_csi report each frame of a transmitter in a datagram to UDP port 5500 of
// their own machine, once for each core and spatial stream (seemoo-lab/nexmon_csi, src/csi_extractor.c):
//
//	 0  u16  0x1111
//	 2  i8   RSSI, dBm
//	 3  u8   frame control, first byte
//	 4  6 B  transmitter
//	10  u16  802.11 sequence control
//	12  u16  bits 0..2: core, 3..5: spatial stream
//	14  u16  chanspec: channel in the middle of the band, bits 8..10 primary channel, 11..13 width
//	16  u16  chip
//	18       4 bytes for each of 64, 128 or 256 subcarriers
//
// Old firmwares have 0x1111 in place of bytes 2 and 3 too. All numbers are little-endian. The subcarriers come
// as from an FFT: the middle of the band, above it, below it.
const (
	nexmonMagic  = 0x1111
	nexmonHeader = 18
	nexmonTail   = 8 // bytes that some machines leave behind a frame

	nexmonSubcarriers = 256
)

// The chips, and those that other firmwares call the same.
const (
	chip4339    = 0x0001
	chip43455c0 = 0x0065
	chip4358    = 0xdead
	chip4358New = 0x0003
	chip4366c0  = 0x006a
)

// NexmonAntenna is the part of the Format of frames from Nexmon that numbers core and spatial stream. A radio
// reports a transmission once for each.
const NexmonAntenna = 0x3f

// Nexmon decodes the datagrams of radios with nexmon_csi.
type Nexmon struct {
	amplitudes [nexmonSubcarriers]float32
}

// Decode decodes a datagram into f. Bits 0..2 of f.Format are the core, 3..5 the spatial stream, and 6..11 type
// and subtype of the frame (its frame control without the version; 0 from old firmwares): a beacon of 20 MHz
// and data of 80 MHz fill different parts of the band. The amplitudes of tones that carry nothing are 0, and so
// are those in whose place the firmware has put something else.
//
// ErrOther: the datagram is of a chip whose numbers are not known.
func (d *Nexmon) Decode(datagram []byte, f *Frame) error {
	if len(datagram) < 2 || binary.LittleEndian.Uint16(datagram) != nexmonMagic {
		return ErrForm
	}
	if len(datagram) < nexmonHeader+4*64 {
		return ErrTruncated
	}
	chanspec := binary.LittleEndian.Uint16(datagram[14:])
	state := datagram[nexmonHeader:]
	n := 64
	for n < nexmonSubcarriers && len(state) >= 4*2*n {
		n *= 2
	}
	if len(state) > 4*n+nexmonTail {
		if n < nexmonSubcarriers {
			return ErrTruncated
		}
		return ErrForm
	}
	amplitudes := d.amplitudes[:n]
	switch binary.LittleEndian.Uint16(datagram[16:]) {
	case chip4339, chip43455c0:
		integers(amplitudes, state)
	case chip4358, chip4358New:
		floats(amplitudes, state, 5, 8)
	case chip4366c0:
		floats(amplitudes, state, 6, 11)
	default:
		return ErrOther
	}
	leaveOut(amplitudes)
	*f = Frame{
		Src: motion.MAC(datagram[4:10]), Channel: primaryChannel(chanspec), RSSI: min(int8(datagram[2]), 0), Noise: csi.NoiseUnknown,
		Format: uint16(datagram[12]) & NexmonAntenna, Length: 4 * n, Amplitudes: amplitudes,
	}
	if binary.LittleEndian.Uint16(datagram[2:]) != nexmonMagic {
		f.Format |= uint16(datagram[3]>>2) << 6
	}
	return nil
}

// integers computes amplitudes of pairs of 16 bits, real first.
func integers(amplitudes []float32, state []byte) {
	state = state[:4*len(amplitudes)]
	for k := range amplitudes {
		pair := binary.LittleEndian.Uint32(state[4*k:])
		re, im := float32(int16(pair)), float32(int16(pair>>16))
		amplitudes[k] = sqrt(re*re + im*im)
	}
}

// floats computes amplitudes of packed numbers, from bit 0: an exponent in two's complement, and twice a
// magnitude and a sign.
func floats(amplitudes []float32, state []byte, exponentBits, magnitudeBits uint) {
	state = state[:4*len(amplitudes)]
	mask := uint32(1)<<magnitudeBits - 1
	for k := range amplitudes {
		word := binary.LittleEndian.Uint32(state[4*k:])
		exponent := int32(word<<(32-exponentBits)) >> (32 - exponentBits)
		a := float32(word >> exponentBits & mask)
		b := float32(word >> (exponentBits + magnitudeBits + 1) & mask)
		amplitudes[k] = sqrt(a*a+b*b) * math.Float32frombits(uint32(exponent+127)<<23)
	}
}

// leaveOut clears the tones that no frame of the width uses and
// those in whose place the firmware writes the state of its radio: 28 to 30 at 20 MHz, else 0 to 2.
func leaveOut(amplitudes []float32) {
	n := len(amplitudes)
	middle, edge, behind := 3, 5, 6
	if n == 64 {
		middle, edge, behind = 1, 4, 4
	}
	clear(amplitudes[:middle])
	clear(amplitudes[n/2-edge : n/2+behind])
	if n > 64 {
		amplitudes[n-1] = 0
	}
}

// primaryChannel returns the primary channel of a chanspec, 0 if it makes no sense.
func primaryChannel(chanspec uint16) uint8 {
	middle, place := int(chanspec&0xff), int(chanspec>>8&7)
	lowest, channels := middle, 1
	switch chanspec & 0x3800 {
	case 0x1800:
		lowest, channels = middle-2, 2
	case 0x2000:
		lowest, channels = middle-6, 4
	}
	if lowest < 1 || place >= channels {
		return 0
	}
	return uint8(lowest + 4*place)
}

// AppendNexmon appends a datagram with f to dst as a 43455c0 sends it. f.Data holds 64, 128 or 256 pairs,
// imaginary first, as from an FFT.
func AppendNexmon(dst []byte, f *Frame) []byte {
	n := len(f.Data) / 2
	chanspec := uint16(f.Channel)
	if f.Channel > 14 {
		chanspec |= 0xc000
	}
	overwritten := 0
	switch n {
	case 64:
		chanspec |= 0x1000
		overwritten = 28
	case 128:
		chanspec = chanspec + 2 | 0x1800
	default:
		chanspec = chanspec + 6 | 0x2000
	}
	dst = binary.LittleEndian.AppendUint16(dst, nexmonMagic)
	dst = append(dst, byte(f.RSSI), byte(f.Format>>6)<<2)
	dst = append(dst, f.Src[:]...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(f.Seq.Number<<4))
	dst = binary.LittleEndian.AppendUint16(dst, f.Format&NexmonAntenna)
	dst = binary.LittleEndian.AppendUint16(dst, chanspec)
	dst = binary.LittleEndian.AppendUint16(dst, chip43455c0)
	for k := range n {
		im, re := uint16(int8(f.Data[2*k])), uint16(int8(f.Data[2*k+1]))
		if k >= overwritten && k < overwritten+3 {
			re, im = 14373, 32640 // the state of the radio
		}
		dst = binary.LittleEndian.AppendUint16(dst, re)
		dst = binary.LittleEndian.AppendUint16(dst, im)
	}
	return dst
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
