package nodewire_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"testing"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

func TestThreeHeadersOfRuViewAreRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		vector string
		node   uint8
		src    motion.MAC
	}{
		{"ruview_v1", 2, motion.MAC{}},
		{"ruview_v2", 1, accessPoint},
		{"ruview_v3", 1, accessPoint},
	} {
		datagram := vector(t, test.vector)
		for _, tail := range []int{0, 4} { // some firmwares append a time
			var f nodewire.Frame
			if err := nodewire.RuView(append(bytes.Clone(datagram), make([]byte, tail)...), &f); err != nil {
				t.Fatalf("%s: %v", test.vector, err)
			}
			if f.Node != test.node || f.Src != test.src || f.Seq != (nodewire.Sequence{Number: 1000, Bits: 32}) || f.Channel != 6 ||
				f.RSSI != -52 || f.Noise != -95 || f.Flags != csi.ImagFirst || !bytes.Equal(f.Data, datagram[len(datagram)-128:]) {
				t.Errorf("%s: %+v", test.vector, f)
			}
		}
	}
}

func TestNoiseOfRuViewMayBeUnknown(t *testing.T) {
	t.Parallel()
	datagram := vector(t, "ruview_v1")
	datagram[17] = 0
	var f nodewire.Frame
	if err := nodewire.RuView(datagram, &f); err != nil || f.Noise != csi.NoiseUnknown {
		t.Errorf("%d dBm, %v", f.Noise, err)
	}
}

func TestOtherDatagramsAreNotRuView(t *testing.T) {
	t.Parallel()
	whole := vector(t, "ruview_v1")
	with := func(at int, values ...byte) []byte {
		changed := bytes.Clone(whole)
		copy(changed[at:], values)
		return changed
	}
	clock, _ := hex.DecodeString("10a111c509010600f26db70100000000c5aca501000000001400000000000000")
	for _, test := range []struct {
		name     string
		datagram []byte
		want     error
	}{
		{"nothing", nil, nodewire.ErrForm},
		{"another protocol", []byte("hello"), nodewire.ErrForm},
		{"a clock message", clock, nodewire.ErrOther},
		{"vital signs", with(0, 2), nodewire.ErrOther},
		{"a number of ours with another shape", with(0, 8)[:40], nodewire.ErrTruncated},
		{"no antennas", with(5, 0), nodewire.ErrOther},
		{"five antennas", with(5, 5), nodewire.ErrOther},
		{"no subcarriers", with(6, 0, 0), nodewire.ErrOther},
		{"257 subcarriers", with(6, 1, 1), nodewire.ErrOther},
		{"a frequency of no channel", with(8, 0, 0), nodewire.ErrOther},
		{"a pair too few", whole[:len(whole)-2], nodewire.ErrTruncated},
		{"two bytes too many", append(bytes.Clone(whole), 0, 0), nodewire.ErrOther},
		{"a header cut short", whole[:19], nodewire.ErrOther},
	} {
		var f nodewire.Frame
		is(t, test.name, nodewire.RuView(test.datagram, &f), test.want)
	}
}

// Two nodes were recorded for two minutes: frames of three lengths, of which the first 64 subcarriers are the
// same measurement.
func TestRecordedRuViewNodesAreOneStreamEach(t *testing.T) {
	t.Parallel()
	file, err := os.Open(dataFile(t, "csi", "ruview", "pretrain-1775182186.csi.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lengths := map[int]int{}
	levels := map[int]*[64]float64{}
	lines := bufio.NewScanner(file)
	number := uint32(0)
	for lines.Scan() {
		var record struct {
			Node        uint8  `json:"node_id"`
			Type        string `json:"type"`
			IQ          string `json:"iq_hex"`
			Subcarriers int    `json:"subcarriers"`
		}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		if record.Type != "raw_csi" {
			continue
		}
		state, err := hex.DecodeString(record.IQ)
		if err != nil {
			t.Fatal(err)
		}
		number++
		datagram := nodewire.AppendRuView(nil, &nodewire.Frame{
			Node: record.Node, Channel: 6, RSSI: -50, Noise: -95, Seq: nodewire.Sequence{Number: number}, Data: state,
		})
		var f nodewire.Frame
		if err := nodewire.RuView(datagram, &f); err != nil {
			t.Fatalf("frame %d: %v", number, err)
		}
		if f.Node != record.Node || f.Seq.Number != number || f.Subcarriers() != 64 || f.Length != len(state) || !bytes.Equal(f.Data, state[:128]) {
			t.Fatalf("frame %d: %+v", number, f)
		}
		lengths[record.Subcarriers]++
		if levels[f.Length] == nil {
			levels[f.Length] = new([64]float64)
		}
		for k, a := range csi.Amplitudes(nil, f.Data, f.Flags) {
			levels[f.Length][k] += float64(a)
		}
	}
	total := lengths[64] + lengths[128] + lengths[192]
	share := func(n int) float64 { return math.Round(100 * float64(lengths[n]) / float64(total)) }
	if total != 5309 || share(64) != 78 || share(128) != 21 || share(192) != 1 {
		t.Errorf("%d frames, by subcarriers %v", total, lengths)
	}
	for length, sums := range levels {
		n := float64(lengths[length/2])
		used := 0.0
		for k, sum := range sums {
			null := k == 0 || k >= 27 && k <= 37
			if level := sum / n; null && level > 0.5 {
				t.Errorf("%d bytes: subcarrier %d, which carries nothing, has %.1f", length, k, level)
			} else if !null {
				used += level / 52
			}
		}
		if used < 9 || used > 17 {
			t.Errorf("%d bytes: mean level %.1f, want that of the first training field, 9 to 17", length, used)
		}
	}
}

func FuzzRuView(f *testing.F) {
	f.Add(nodewire.AppendRuView(nil, &nodewire.Frame{Node: 1, Channel: 6, Data: ramp(2)}))
	f.Add(nodewire.AppendRuView(nil, &nodewire.Frame{Node: 9, Channel: 100, Src: accessPoint, Data: ramp(3)}))
	f.Add(binary.LittleEndian.AppendUint32(nil, 0xC5110008))
	fuzzDecoder(f, 64, nodewire.RuView, func(t *testing.T, frame *nodewire.Frame) {
		var again nodewire.Frame
		if err := nodewire.RuView(nodewire.AppendRuView(nil, frame), &again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Data, frame.Data) || again.Node != frame.Node || again.Seq != frame.Seq || again.Src != frame.Src {
			t.Fatalf("%+v became %+v", frame, again)
		}
	})
}
