package nodewire

import (
	"encoding/binary"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// RuView nodes (RuView, wifi-densepose, its firmware for ESP32) send one frame in a datagram to UDP port 5005
// (ruvnet/RuView, firmware/esp32-csi-node/main/csi_collector.c and docs/adr/ADR-018):
//
//	 0  u32  magic: version 1, 2 or 3 of the header
//	 4  u8   number of the node, 1 unless its owner has set it
//	 5  u8   antennas, 1..4
//	 6  u16  subcarriers, 1..256
//	 8  u32  frequency, MHz
//	12  u32  sequence number
//	16  i8   RSSI, dBm
//	17  i8   noise floor, dBm
//	18  u8   form of the packet: 0 HT or legacy, 1 to 3 HE, 255 unknown
//	19  u8   bit 0: 40 MHz, 2: STBC, 3: LDPC, 4: its clock is in step
//	20  6 B  transmitter, from version 2 on
//	26  u16  802.11 sequence control, from version 3 on
//
// and then antennas × subcarriers pairs of signed bytes, imaginary first, with or without a time stamp of
// four bytes behind. All numbers are little-endian.
const (
	ruViewV1 = 0xC5110001
	ruViewV2 = 0xC5110008
	ruViewV3 = 0xC511000A

	// The magic numbers of RuView are these two bytes and a number; other firmwares have given some numbers
	// other meanings, which is why the shape is checked.
	ruViewFamily     = 0xC511
	ruViewSyncFamily = 0xC511A110

	ruViewSubcarriers = 64 // that are used: the first training field, which frames of every length begin with
	ruViewTail        = 4
)

// RuView decodes a datagram of a RuView node into f. ErrOther: the node's own figures, a clock message, or a
// message of another firmware that has the same number.
func RuView(datagram []byte, f *Frame) error {
	if len(datagram) < 4 {
		return ErrForm
	}
	magic := binary.LittleEndian.Uint32(datagram)
	header := 0
	switch magic {
	case ruViewV1:
		header = 20
	case ruViewV2:
		header = 26
	case ruViewV3:
		header = 28
	default:
		if magic>>16 == ruViewFamily || magic == ruViewSyncFamily {
			return ErrOther
		}
		return ErrForm
	}
	if len(datagram) < header {
		return ErrOther
	}
	antennas, subcarriers := int(datagram[5]), int(binary.LittleEndian.Uint16(datagram[6:]))
	channel, ok := channelOf(binary.LittleEndian.Uint32(datagram[8:]))
	if antennas < 1 || antennas > 4 || subcarriers < 1 || subcarriers > 256 || !ok {
		return ErrOther
	}
	state := datagram[header:]
	length := 2 * antennas * subcarriers
	if len(state) != length && len(state) != length+ruViewTail {
		if len(state) < length {
			return ErrTruncated
		}
		return ErrOther
	}
	*f = Frame{
		Node: datagram[4], Seq: Sequence{binary.LittleEndian.Uint32(datagram[12:]), 32}, Channel: channel,
		RSSI: int8(datagram[16]), Noise: int8(datagram[17]), Flags: csi.ImagFirst,
		Format: uint16(antennas)<<8 | uint16(datagram[18]&7), Length: length,
		Data: state[:2*min(subcarriers, ruViewSubcarriers)],
	}
	if f.Noise == 0 {
		f.Noise = csi.NoiseUnknown
	}
	if header > 20 {
		f.Src = motion.MAC(datagram[20:26])
	}
	return nil
}

// AppendRuView appends a datagram with f to dst: of version 3 when f has a transmitter, else of version 1.
// f.Data holds at most 256 pairs.
func AppendRuView(dst []byte, f *Frame) []byte {
	magic := uint32(ruViewV1)
	if !f.Src.IsZero() {
		magic = ruViewV3
	}
	dst = binary.LittleEndian.AppendUint32(dst, magic)
	dst = append(dst, f.Node, 1)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(f.Data)/2))
	dst = binary.LittleEndian.AppendUint32(dst, frequencyOf(f.Channel))
	dst = binary.LittleEndian.AppendUint32(dst, f.Seq.Number)
	dst = append(dst, byte(f.RSSI), byte(f.Noise), 0, 0)
	if !f.Src.IsZero() {
		dst = append(dst, f.Src[:]...)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(f.Seq.Number<<4))
	}
	return append(dst, f.Data...)
}

// channelOf returns the channel at a frequency in MHz; ok is false when that is none of Wi-Fi.
func channelOf(frequency uint32) (channel uint8, ok bool) {
	switch {
	case frequency == 2484:
		return 14, true
	case frequency >= 2412 && frequency <= 2472:
		return uint8((frequency-2412)/5 + 1), true
	case frequency >= 5150 && frequency <= 7125:
		return uint8(min((frequency-5000)/5, 255)), true
	}
	return 0, false
}

// frequencyOf returns the frequency of a channel of 2.4 or 5 GHz in MHz.
func frequencyOf(channel uint8) uint32 {
	switch {
	case channel == 14:
		return 2484
	case channel < 14:
		return 2407 + 5*uint32(max(channel, 1))
	}
	return 5000 + 5*uint32(channel)
}
