package nodewire_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"sensegate/broker/nodewire"
	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// recorded returns the datagrams of a chip that were recorded, and how many bytes followed the first one's.
func recorded(t *testing.T, chip string) []capture.Message {
	t.Helper()
	datagrams, _, err := capture.ReadPCAP(dataFile(t, "nodes", "nexmon", "example_"+chip+".pcap"))
	if err != nil {
		t.Fatal(err)
	}
	return datagrams
}

func TestRecordedFramesOfFourChips(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		chip    string
		frames  map[uint16]int // by format
		src     motion.MAC
		channel uint8
		rssi    int8
	}{
		{"4339", map[uint16]int{0: 950, 0x08: 950, 0x10: 950}, motion.MAC{0x11, 0x22, 0x33, 0x44, 0x55, 0x66}, 36, 0},
		{"43455c0", map[uint16]int{0x94 << 4: 566}, motion.MAC{0x98, 0xde, 0xd0, 0x48, 0x92, 0x66}, 36, -58},
		{"4358", map[uint16]int{0: 1, 0x08: 1, 0x01: 1, 0x09: 1}, motion.MAC{0x00, 0x12, 0x34, 0x56, 0x78, 0x9b}, 157, 0},
		{"4366c0", map[uint16]int{0: 293}, motion.MAC{0x18, 0x83, 0xbf, 0x65, 0x70, 0x9f}, 100, 0},
	} {
		var d nodewire.Nexmon
		frames := map[uint16]int{}
		for i, datagram := range recorded(t, test.chip) {
			var f nodewire.Frame
			if err := d.Decode(datagram.Payload, &f); err != nil {
				t.Fatalf("%s: frame %d: %v", test.chip, i, err)
			}
			frames[f.Format]++
			if i == 0 && (f.Src != test.src || f.Channel != test.channel || f.RSSI != test.rssi || f.Subcarriers() != 256 || f.Length != 1024) {
				t.Errorf("%s: %+v", test.chip, f)
			}
		}
		if len(frames) != len(test.frames) {
			t.Errorf("%s: frames by format %v", test.chip, frames)
		}
		for format, n := range test.frames {
			if frames[format] != n {
				t.Errorf("%s: %d frames of format %x, want %d", test.chip, frames[format], format, n)
			}
		}
	}
}

// The recorded frames of 43455c0 fill the upper half of a band of 80 MHz. What the firmware writes in place of
// the first three values would be ten times what is left of the lower half.
func TestValuesThatFirmwareOverwritesAreLeftOut(t *testing.T) {
	t.Parallel()
	var d nodewire.Nexmon
	var quarters [4]float64
	datagrams := recorded(t, "43455c0")
	for _, datagram := range datagrams {
		if first := int16(binary.LittleEndian.Uint16(datagram.Payload[18:])); first != 14373 {
			t.Fatalf("the first value is %d", first)
		}
		var f nodewire.Frame
		if err := d.Decode(datagram.Payload, &f); err != nil {
			t.Fatal(err)
		}
		for k, a := range f.Amplitudes {
			quarters[k/64] += float64(a) / 64 / float64(len(datagrams))
			if null := k <= 2 || k == 255 || k >= 123 && k <= 133; null && a != 0 {
				t.Fatalf("subcarrier %d, which carries nothing, has %v", k, a)
			}
		}
	}
	if quarters[0] > 25 || quarters[1] > 30 || quarters[2] < 700 || quarters[3] < 700 {
		t.Errorf("mean amplitudes of the quarters of the band %.0f, want the lower half empty", quarters)
	}
}

// Neighbouring subcarriers differ little if the bits are divided between the numbers as they should be.
func TestPackedNumbersAreSmooth(t *testing.T) {
	t.Parallel()
	for chip, most := range map[string]float64{"4358": 0.25, "4366c0": 0.65} {
		var d nodewire.Nexmon
		var difference, level float64
		var used uint32
		for _, datagram := range recorded(t, chip) {
			var f nodewire.Frame
			if err := d.Decode(datagram.Payload, &f); err != nil {
				t.Fatal(err)
			}
			for k, a := range f.Amplitudes {
				used |= binary.LittleEndian.Uint32(datagram.Payload[18+4*k:])
				if k > 0 && a > 0 && f.Amplitudes[k-1] > 0 {
					difference += math.Abs(float64(a - f.Amplitudes[k-1]))
					level += float64(a)
				}
			}
		}
		if got := difference / level; got > most {
			t.Errorf("%s: neighbours differ by %.2f of their level, want at most %.2f", chip, got, most)
		}
		if want := map[string]uint32{"4358": 0x007fffff, "4366c0": 0x3fffffff}[chip]; used != want {
			t.Errorf("%s uses the bits %x, want %x", chip, used, want)
		}
	}
}

func TestPackedNumbersAreRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		chip uint16
		word uint32
		want float32
	}{
		{"4358: 3 and -4", 0xdead, 4<<5 | 1<<13 | 3<<14, 5},
		{"4358, its other name: times 2", 0x0003, 1 | 4<<5 | 3<<14, 10},
		{"4358: by 65,536", 0xdead, 16 | 4<<5 | 3<<14, 5.0 / 65536},
		{"4366c0: -3 and 4", 0x006a, 4<<6 | 3<<18 | 1<<29, 5},
		{"4366c0: largest", 0x006a, 31 | 2047<<6, 2047 << 31},
		{"4366c0: smallest", 0x006a, 32 | 1<<6, 1.0 / (1 << 32)},
		{"4339: -3 and 4", 0x0001, 0x0004fffd, 5},
		{"43455c0: lowest", 0x0065, 0x80008000, 32768 * math.Sqrt2},
	} {
		datagram := nodewire.AppendNexmon(nil, &nodewire.Frame{Src: accessPoint, Channel: 6, Data: ramp(64)})
		binary.LittleEndian.PutUint16(datagram[16:], test.chip)
		binary.LittleEndian.PutUint32(datagram[18+4*10:], test.word)
		var d nodewire.Nexmon
		var f nodewire.Frame
		if err := d.Decode(datagram, &f); err != nil || f.Amplitudes[10] != test.want {
			t.Errorf("%s: %v, %v; want %v", test.name, f.Amplitudes[10], err, test.want)
		}
	}
}

func TestEveryWidthOfNexmonIsRead(t *testing.T) {
	t.Parallel()
	for n, null := range map[int]func(k int) bool{
		64:  func(k int) bool { return k == 0 || k >= 28 && k <= 35 },
		128: func(k int) bool { return k <= 2 || k == 127 || k >= 59 && k <= 69 },
		256: func(k int) bool { return k <= 2 || k == 255 || k >= 123 && k <= 133 },
	} {
		sent := nodewire.Frame{Src: accessPoint, Channel: 36, RSSI: -58, Format: 0x88<<4 | 0x0a, Data: ramp(n)}
		datagram := append(nodewire.AppendNexmon(nil, &sent), 0, 0, 0, 0) // some machines leave four bytes behind
		var d nodewire.Nexmon
		var f nodewire.Frame
		if err := d.Decode(datagram, &f); err != nil || f.Src != sent.Src || f.Channel != 36 || f.RSSI != -58 || f.Format != sent.Format ||
			f.Noise != csi.NoiseUnknown || f.Subcarriers() != n || f.Length != 4*n || f.Seq.Bits != 0 {
			t.Fatalf("%d subcarriers: %+v, %v", n, f, err)
		}
		for k, want := range csi.Amplitudes(nil, sent.Data, csi.ImagFirst) {
			if null(k) {
				want = 0
			}
			if f.Amplitudes[k] != want {
				t.Errorf("%d subcarriers: number %d is %v, want %v", n, k, f.Amplitudes[k], want)
			}
		}
	}
}

func TestPrimaryChannelOfAChanspec(t *testing.T) {
	t.Parallel()
	for chanspec, want := range map[uint16]uint8{
		0x1006: 6, 0x100d: 13, 0xd024: 36, 0x1903: 5, 0x1803: 1, 0xd826: 36, 0xd926: 40,
		0xe02a: 36, 0xe12a: 40, 0xe22a: 44, 0xe32a: 48, 0xe29b: 157,
		0xe42a: 0, 0xe003: 0, 0x1106: 0, // none: the place is not in the band, the band not among channels
	} {
		datagram := nodewire.AppendNexmon(nil, &nodewire.Frame{Channel: 1, Data: ramp(64)})
		binary.LittleEndian.PutUint16(datagram[14:], chanspec)
		var d nodewire.Nexmon
		var f nodewire.Frame
		if err := d.Decode(datagram, &f); err != nil || f.Channel != want {
			t.Errorf("%04x: channel %d, %v; want %d", chanspec, f.Channel, err, want)
		}
	}
}

func TestOtherDatagramsAreNotNexmon(t *testing.T) {
	t.Parallel()
	whole := nodewire.AppendNexmon(nil, &nodewire.Frame{Src: accessPoint, Channel: 36, Data: ramp(256)})
	unknown := bytes.Clone(whole)
	unknown[16] = 0x66
	for _, test := range []struct {
		name     string
		datagram []byte
		want     error
	}{
		{"nothing", nil, nodewire.ErrForm},
		{"another magic", whole[2:], nodewire.ErrForm},
		{"an unknown chip", unknown, nodewire.ErrOther},
		{"a header alone", whole[:18], nodewire.ErrTruncated},
		{"half a frame and a bit", whole[:18+4*160], nodewire.ErrTruncated},
		{"much more than a frame", append(bytes.Clone(whole), make([]byte, 9)...), nodewire.ErrForm},
	} {
		var d nodewire.Nexmon
		var f nodewire.Frame
		is(t, test.name, d.Decode(test.datagram, &f), test.want)
	}
}

func FuzzNexmon(f *testing.F) {
	for _, chip := range []byte{0x01, 0x65, 0x03, 0x6a} {
		datagram := nodewire.AppendNexmon(nil, &nodewire.Frame{Src: accessPoint, Channel: 36, Data: ramp(64)})
		datagram[16] = chip
		f.Add(datagram)
	}
	var d nodewire.Nexmon
	fuzzDecoder(f, 256, d.Decode, func(t *testing.T, frame *nodewire.Frame) {
		if frame.RSSI > 0 || frame.Length != 4*len(frame.Amplitudes) {
			t.Fatalf("%+v", frame)
		}
	})
}
