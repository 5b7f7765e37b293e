package nodewire

import (
	"encoding/binary"

	"sensegate/motion/csi"
)

// Nodes of Micro-ESPectre version 2 send one frame in a datagram to UDP port 5001 while their owner has them
// stream (francescopace/espectre, micro-espectre/src/csi_streamer.py). Of the two headers
//
//	0  u16  magic           0  u16  magic
//	2  u8   chip            2  u8   chip
//	3  u8   flags,          3  u8   sequence number
//	        bit 0:          4  u16  subcarriers
//	        gain locked
//	4  u8   sequence number
//	5  u16  subcarriers
//
// the newer has an odd length, and with whole pairs of signed bytes behind it, imaginary first, so has its
// datagram. All numbers are little-endian. No datagram names a transmitter, a channel, a signal strength or a
// time.
const (
	espectreMagic = 0x4353 // of a header of any version

	microHeader    = 7
	microOldHeader = 6

	// MicroESPectreSubcarriers is the maximum of a frame: twice what any chip measures.
	MicroESPectreSubcarriers = 512
)

// MicroESPectre decodes a datagram of a Micro-ESPectre node into f. f.Format is the chip (ESPectreChip); f.Data
// aliases datagram.
func MicroESPectre(datagram []byte, f *Frame) error {
	if len(datagram) < 2 || binary.LittleEndian.Uint16(datagram) != espectreMagic {
		return ErrForm
	}
	if len(datagram) < microHeader {
		return ErrTruncated
	}
	header, flags := microOldHeader, csi.ImagFirst
	if len(datagram)%2 == 1 {
		header = microHeader
		if datagram[3]&1 != 0 {
			flags |= csi.GainLocked
		}
	}
	chip, subcarriers := datagram[2], int(binary.LittleEndian.Uint16(datagram[header-2:]))
	state := datagram[header:]
	switch {
	case subcarriers < 1 || subcarriers > MicroESPectreSubcarriers || len(state) > 2*subcarriers:
		return ErrForm
	case len(state) < 2*subcarriers:
		return ErrTruncated
	}
	*f = Frame{
		Seq: Sequence{uint32(datagram[header-3]), 8}, Noise: csi.NoiseUnknown,
		Format: uint16(chip), Length: len(state), Flags: flags, Data: state,
	}
	return nil
}

// AppendMicroESPectre appends a datagram with f to dst. f.Data holds at most MicroESPectreSubcarriers pairs.
func AppendMicroESPectre(dst []byte, f *Frame) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, espectreMagic)
	dst = append(dst, byte(f.Format), byte(f.Flags&csi.GainLocked), byte(f.Seq.Number))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(f.Data)/2))
	return append(dst, f.Data...)
}
