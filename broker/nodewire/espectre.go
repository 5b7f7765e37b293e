package nodewire

import (
	"crypto/sha256"
	"encoding/binary"
	"io"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// A node of ESPectre version 3 answers GET /espectre/v1/csi on TCP port 62587 with an endless stream of records
// (francescopace/espectre, src/cpp/runtime/csi_raw_record.h). A record begins with
//
//	 0  u32   magic
//	 4  u8    version 1
//	 5  u8    version of the header, 8
//	 6  u16   length of these fields, 60
//	 8  16 B  session
//	24  u64   number in the session, from 1; a gap: records that the node has dropped
//	32  u16   length of the header and the channel state
//	34  26 B  flags and totals
//
// and goes on with the header
//
//	 0  u16   magic
//	 2  u8    version 8
//	 3  u8    length, 64
//	 4  u8    chip
//	 5  u8    bit 0: the first two subcarriers of the radio are not valid
//	 6  u32   sequence number
//	10  u16   subcarriers, 64
//	12  u16   bytes of channel state, 128
//	14  u64   identity of the node
//	22  20 B  clocks
//	42  u8    channel
//	43  i8    RSSI, dBm
//	44  i8    noise floor, dBm; -128: unknown
//	45  16 B  totals
//	61  u8    1 legacy, 2 HT, 3 VHT, 4 HE
//	62  u8    training field: 1 legacy, 2 HT, 3 VHT, 4 HE
//	63  u8    1: 20 MHz, 2: 40 MHz
//
// and pairs of signed bytes, imaginary first, from the lowest frequency to the highest. All numbers are
// little-endian. No record names the transmitter: it is the access point.
const (
	recordMagic   = 0x52505345
	recordPrefix  = 60
	recordHeader  = 64
	recordState   = 2 * recordSubcarriers
	recordLongest = 2048 // header and channel state of a record that is read or skipped

	recordSubcarriers = 64
	recordNoNoise     = -128
)

// ESPectreChip is a chip as nodes of ESPectre number them.
type ESPectreChip uint8

// The chips.
const (
	ESP32 ESPectreChip = 1 + iota
	ESP32S2
	ESP32S3
	ESP32C3
	ESP32C5
	ESP32C6
)

// middleFirst reports whether the radio of the chip begins a frame with the middle of the band, not with the
// lower end.
func (c ESPectreChip) middleFirst() bool { return c >= ESP32 && c <= ESP32C3 }

// ESPectreDeviceID returns the identity of the node of ESPectre that has a MAC: the number that it is found
// by (as 16 hexadecimal digits) and that is in every record. It is no secret.
func ESPectreDeviceID(mac motion.MAC) uint64 {
	text := []byte("espectre-device-id-v1")
	sum := sha256.Sum256(append(text, mac[:]...))
	return binary.BigEndian.Uint64(sum[:])
}

// ESPectreSession is what the records of a stream have in common, and how far it has come.
type ESPectreSession struct {
	ID       [16]byte
	DeviceID uint64
	Number   uint64 // of the last record, from 1; 0: none has come
}

// ESPectreStream reads the stream of raw records of one connection.
type ESPectreStream struct {
	Session ESPectreSession
	Lost    uint64 // records that the node has dropped since the first one

	from       io.Reader
	buffer     [recordPrefix + recordLongest]byte
	begin, end int // what is read and not decoded is buffer[begin:end]
}

// NewESPectreStream returns a reader of the stream from, the body of an answer.
func NewESPectreStream(from io.Reader) *ESPectreStream { return &ESPectreStream{from: from} }

// Next reads the next frame into f, whose data is valid until the following call. The upper bit of f.Format
// says that the first two subcarriers of the radio are missing; they are 0 in f.Data.
//
// ErrOther: a record of a newer version or another number of subcarriers was skipped. Any other error ends the
// stream: ErrForm (it is out of step, or of another session or node than it was), ErrTruncated (it ended
// within a record), io.EOF, and that of the reader.
func (s *ESPectreStream) Next(f *Frame) error {
	s.begin, s.end = 0, copy(s.buffer[:], s.buffer[s.begin:s.end])
	if err := s.fill(recordPrefix); err != nil {
		return err
	}
	prefix := s.buffer[:recordPrefix]
	length := int(binary.LittleEndian.Uint16(prefix[32:]))
	if binary.LittleEndian.Uint32(prefix) != recordMagic || prefix[4] != 1 ||
		binary.LittleEndian.Uint16(prefix[6:]) != recordPrefix || length < 1 || length > recordLongest {
		return ErrForm
	}
	if err := s.count([16]byte(prefix[8:]), binary.LittleEndian.Uint64(prefix[24:])); err != nil {
		return err
	}
	if err := s.fill(recordPrefix + length); err != nil {
		return err
	}
	s.begin = recordPrefix + length
	record := s.buffer[recordPrefix:s.begin]
	if prefix[5] != 8 || len(record) != recordHeader+recordState {
		return ErrOther
	}
	return s.decode(record, f)
}

// fill reads until the buffer holds n bytes.
func (s *ESPectreStream) fill(n int) error {
	for empty := 0; s.end < n; {
		read, err := s.from.Read(s.buffer[s.end:])
		s.end += read
		switch {
		case s.end >= n:
		case err == io.EOF && s.end > 0:
			return ErrTruncated
		case err != nil:
			return err
		case read > 0:
			empty = 0
		default:
			if empty++; empty == 100 {
				return io.ErrNoProgress
			}
		}
	}
	return nil
}

// count takes the number of a record into account.
func (s *ESPectreStream) count(session [16]byte, number uint64) error {
	last := s.Session.Number
	if number <= last {
		return ErrForm
	}
	if last != 0 {
		if session != s.Session.ID {
			return ErrForm
		}
		s.Lost += number - last - 1
	}
	s.Session.ID, s.Session.Number = session, number
	return nil
}

// decode decodes header and channel state of a record of the length that f has room for.
func (s *ESPectreStream) decode(record []byte, f *Frame) error {
	device := binary.LittleEndian.Uint64(record[14:])
	if s.Session.DeviceID == 0 {
		s.Session.DeviceID = device
	}
	if binary.LittleEndian.Uint16(record) != espectreMagic || record[2] != 8 || record[3] != recordHeader ||
		binary.LittleEndian.Uint16(record[10:]) != recordSubcarriers ||
		binary.LittleEndian.Uint16(record[12:]) != recordState || device != s.Session.DeviceID {
		return ErrForm
	}
	phy, field, width := record[61], record[62], record[63]
	if phy > 15 || field > 15 || width > 15 {
		return ErrOther
	}
	*f = Frame{
		Seq: Sequence{binary.LittleEndian.Uint32(record[6:]), 32}, Channel: record[42], RSSI: int8(record[43]), Noise: int8(record[44]),
		Format: uint16(phy)<<8 | uint16(field)<<4 | uint16(width), Length: recordState, Flags: csi.ImagFirst, Data: record[recordHeader:],
	}
	if f.Noise == recordNoNoise {
		f.Noise = csi.NoiseUnknown
	}
	if record[5]&1 != 0 {
		f.Format |= espectreFirstMissing
		// Chips that begin with the lower end of the band have nothing there; of the others it is the middle.
		if ESPectreChip(record[4]).middleFirst() {
			clear(f.Data[recordState/2 : recordState/2+4])
		}
	}
	return nil
}

// espectreFirstMissing is the bit of Format for frames whose first two subcarriers are not valid.
const espectreFirstMissing = 1 << 15

// Append appends the next record of the session, with f, to dst and counts it. f.Data holds 64 pairs.
func (s *ESPectreSession) Append(dst []byte, chip ESPectreChip, f *Frame) []byte {
	s.Number++
	little := binary.LittleEndian
	dst = little.AppendUint32(dst, recordMagic)
	dst = append(dst, 1, 8, recordPrefix, 0)
	dst = append(dst, s.ID[:]...)
	dst = little.AppendUint64(dst, s.Number)
	dst = append(dst, recordHeader+recordState, 0, 0, 0)
	dst = little.AppendUint64(dst, s.Number) // fresh records, of which none was dropped
	dst = append(dst, make([]byte, 16)...)

	const fresh = 1 << 3
	flags := byte(f.Format>>15) | fresh
	noise := f.Noise
	if noise == csi.NoiseUnknown {
		noise = recordNoNoise
	}
	dst = little.AppendUint16(dst, espectreMagic)
	dst = append(dst, 8, recordHeader, byte(chip), flags)
	dst = little.AppendUint32(dst, f.Seq.Number)
	dst = append(dst, recordSubcarriers, 0, recordState, 0)
	dst = little.AppendUint64(dst, s.DeviceID)
	dst = append(dst, make([]byte, 20)...) // it has no clocks
	dst = append(dst, f.Channel, byte(f.RSSI), byte(noise))
	dst = append(dst, make([]byte, 8)...)
	dst = little.AppendUint32(dst, uint32(s.Number))
	dst = little.AppendUint32(dst, uint32(s.Number))
	dst = append(dst, byte(f.Format>>8&15), byte(f.Format>>4&15), byte(f.Format&15))
	return append(dst, f.Data[:recordState]...)
}
