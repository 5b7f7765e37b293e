package csi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

const (
	magic       = "CSI1"
	headSize    = 31 // up to and including the segment count
	frameHeader = 8
)

// Decode decodes one payload into b and reuses its slices. The frames' Data alias payload. All
// lengths must match exactly. After an error the contents of b are unspecified.
func Decode(payload []byte, b *Batch) error {
	if len(payload) < len(magic) || string(payload[:len(magic)]) != magic {
		return errors.New("csi batch: does not start with CSI1")
	}
	if len(payload) < headSize {
		return fmt.Errorf("csi batch: %d bytes, the header alone has %d", len(payload), headSize)
	}
	copy(b.Src[:], payload[4:])
	copy(b.Dst[:], payload[10:])
	b.Start = binary.LittleEndian.Uint64(payload[16:])
	b.Flags = Flags(payload[24])
	b.Channel = payload[25]
	b.Subcarriers = int(binary.LittleEndian.Uint16(payload[26:]))
	frames := int(binary.LittleEndian.Uint16(payload[28:]))
	if b.Subcarriers < 1 || b.Subcarriers > MaxSubcarriers {
		return fmt.Errorf("csi batch: %d subcarriers, want 1 to %d", b.Subcarriers, MaxSubcarriers)
	}
	if frames < 1 || frames > MaxFrames {
		return fmt.Errorf("csi batch: %d frames, want 1 to %d", frames, MaxFrames)
	}
	segments := int(payload[30])
	stride := frameHeader + b.Subcarriers*b.Flags.Width()
	if want := headSize + 2*segments + frames*stride; len(payload) != want {
		return fmt.Errorf("csi batch: %d bytes, want %d for %d frames of %d subcarriers in %d segments",
			len(payload), want, frames, b.Subcarriers, segments)
	}
	rest := payload[headSize:]
	if err := b.decodeEnds(rest[:2*segments]); err != nil {
		return err
	}
	b.decodeFrames(rest[2*segments:], stride)
	return nil
}

func (b *Batch) decodeEnds(data []byte) error {
	b.Ends = b.Ends[:0]
	last := 0
	for ; len(data) > 0; data = data[2:] {
		end := int(binary.LittleEndian.Uint16(data))
		if end <= last || end > b.Subcarriers {
			return fmt.Errorf("csi batch: segment %d ends at %d, want more than %d and at most %d",
				len(b.Ends), end, last, b.Subcarriers)
		}
		b.Ends = append(b.Ends, end)
		last = end
	}
	if len(b.Ends) > 0 && last != b.Subcarriers {
		return fmt.Errorf("csi batch: the last segment ends at %d of %d subcarriers", last, b.Subcarriers)
	}
	return nil
}

func (b *Batch) decodeFrames(data []byte, stride int) {
	n := len(data) / stride
	b.Frames = slices.Grow(b.Frames[:0], n)[:n]
	for i := range b.Frames {
		d := data[i*stride : (i+1)*stride : (i+1)*stride]
		b.Frames[i] = Frame{
			Offset: binary.LittleEndian.Uint32(d),
			Seq:    binary.LittleEndian.Uint16(d[4:]),
			RSSI:   int8(d[6]),
			Noise:  int8(d[7]),
			Data:   d[frameHeader:],
		}
	}
}

// Append appends b as one payload to dst and returns the extended slice. It does not check b:
// Decode rejects the payload of a batch outside the limits or with Data of the wrong length.
func Append(dst []byte, b *Batch) []byte {
	dst = append(dst, magic...)
	dst = append(dst, b.Src[:]...)
	dst = append(dst, b.Dst[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, b.Start)
	dst = append(dst, byte(b.Flags), b.Channel)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(b.Subcarriers))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(b.Frames)))
	dst = append(dst, byte(len(b.Ends)))
	for _, end := range b.Ends {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(end))
	}
	for i := range b.Frames {
		f := &b.Frames[i]
		dst = binary.LittleEndian.AppendUint32(dst, f.Offset)
		dst = binary.LittleEndian.AppendUint16(dst, f.Seq)
		dst = append(dst, byte(f.RSSI), byte(f.Noise))
		dst = append(dst, f.Data...)
	}
	return dst
}
