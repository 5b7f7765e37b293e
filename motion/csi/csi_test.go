package csi_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/csi"
)

func sample() *csi.Batch {
	return &csi.Batch{
		Src: motion.MAC{2, 0xbb, 0, 0, 0, 0x31}, Dst: motion.MAC{2, 0xaa, 0, 0, 1, 0x12},
		Start: 1_764_000_000_000_000, Flags: csi.GainLocked | csi.ImagFirst, Channel: 6, Subcarriers: 4,
		Ends: []int{2, 4},
		Frames: []csi.Frame{
			{Offset: 0, Seq: 65535, RSSI: -59, Noise: -95, Data: []byte{3, 4, 0, 0xff, 0x80, 0x80, 5, 12}},
			{Offset: 20_000, Seq: 0, RSSI: -60, Noise: csi.NoiseUnknown, Data: make([]byte, 8)},
		},
	}
}

func anyBatch(t *rapid.T) *csi.Batch {
	b := &csi.Batch{
		Start:       rapid.Uint64().Draw(t, "start"),
		Flags:       csi.Flags(rapid.IntRange(0, 7).Draw(t, "flags")),
		Channel:     rapid.Uint8().Draw(t, "channel"),
		Subcarriers: rapid.IntRange(1, 300).Draw(t, "subcarriers"),
	}
	copy(b.Src[:], rapid.SliceOfN(rapid.Byte(), 6, 6).Draw(t, "src"))
	copy(b.Dst[:], rapid.SliceOfN(rapid.Byte(), 6, 6).Draw(t, "dst"))
	if rapid.Bool().Draw(t, "segmented") {
		inner := rapid.SliceOfNDistinct(rapid.IntRange(1, b.Subcarriers), 0, 4, rapid.ID[int]).Draw(t, "ends")
		inner = append(inner, b.Subcarriers)
		slices.Sort(inner)
		b.Ends = slices.Compact(inner)
	}
	width := b.Subcarriers * b.Flags.Width()
	for range rapid.IntRange(1, 5).Draw(t, "frames") {
		b.Frames = append(b.Frames, csi.Frame{
			Offset: rapid.Uint32().Draw(t, "offset"), Seq: rapid.Uint16().Draw(t, "seq"),
			RSSI: rapid.Int8().Draw(t, "rssi"), Noise: rapid.Int8().Draw(t, "noise"),
			Data: rapid.SliceOfN(rapid.Byte(), width, width).Draw(t, "data"),
		})
	}
	return b
}

func TestBatchSurvivesTheWire(t *testing.T) {
	t.Parallel()
	var into csi.Batch // reused, as the receiver does
	rapid.Check(t, func(t *rapid.T) {
		want := anyBatch(t)
		if err := csi.Decode(csi.Append(nil, want), &into); err != nil {
			t.Fatalf("decode: %v", err)
		}
		if d := cmp.Diff(want, &into, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("batch changed (-sent +received):\n%s", d)
		}
	})
}

func TestLayoutIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	p := csi.Append(nil, sample())
	if got, want := len(p), 31+2*2+2*(8+8); got != want {
		t.Fatalf("payload has %d bytes, want %d", got, want)
	}
	if string(p[:4]) != "CSI1" || p[24] != 3 || p[25] != 6 || p[26] != 4 || p[28] != 2 || p[30] != 2 || p[31] != 2 || p[33] != 4 {
		t.Errorf("header % x", p[:35])
	}
	if got := binary.LittleEndian.Uint64(p[16:]); got != 1_764_000_000_000_000 {
		t.Errorf("time %d", got)
	}
	if second := p[35+16:]; binary.LittleEndian.Uint32(second) != 20_000 || int8(second[6]) != -60 || second[7] != 127 {
		t.Errorf("second frame % x", second[:8])
	}
}

func TestLengthsMustAgreeExactly(t *testing.T) {
	t.Parallel()
	p := csi.Append(nil, sample())
	var b csi.Batch
	for n := range p {
		if err := csi.Decode(p[:n], &b); err == nil {
			t.Errorf("accepted the first %d of %d bytes", n, len(p))
		}
	}
	if err := csi.Decode(append(bytes.Clone(p), 0), &b); err == nil {
		t.Error("accepted a byte too many")
	}
}

func TestBadBatchSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(*csi.Batch)
		want string
	}{
		{"no subcarriers", func(b *csi.Batch) { b.Subcarriers = 0 }, "0 subcarriers"},
		{"too many subcarriers", func(b *csi.Batch) { b.Subcarriers = 2049 }, "2049 subcarriers"},
		{"no frames", func(b *csi.Batch) { b.Frames = nil }, "0 frames"},
		{"too many frames", func(b *csi.Batch) { b.Frames = make([]csi.Frame, 1001) }, "1001 frames"},
		{"amplitude flag on pairs", func(b *csi.Batch) { b.Flags |= csi.Amplitude }, "want 59"},
		{"segments backwards", func(b *csi.Batch) { b.Ends = []int{3, 2} }, "segment 1 ends at 2"},
		{"segment beyond the frame", func(b *csi.Batch) { b.Ends = []int{2, 5} }, "segment 1 ends at 5"},
		{"subcarriers left over", func(b *csi.Batch) { b.Ends = []int{2, 3} }, "ends at 3 of 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := sample()
			c.edit(b)
			err := csi.Decode(csi.Append(nil, b), new(csi.Batch))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestAmplitudeIsTheSameInBothOrders(t *testing.T) {
	t.Parallel()
	b := sample()
	want := []float32{5, 1, float32(math.Sqrt(2 * 128 * 128)), 13}
	if got := b.Amplitudes(nil, 0); !slices.Equal(got, want) {
		t.Errorf("imaginary first: %v, want %v", got, want)
	}
	b.Flags &^= csi.ImagFirst
	if got := b.Amplitudes(nil, 0); !slices.Equal(got, want) {
		t.Errorf("real first: %v, want %v", got, want)
	}
	if got := csi.Amplitudes(nil, []byte{0, 7, 255}, csi.Amplitude); !slices.Equal(got, []float32{0, 7, 255}) {
		t.Errorf("amplitude bytes: %v", got)
	}
}

func TestFrameTimeIsStartPlusOffset(t *testing.T) {
	t.Parallel()
	b := sample()
	if got := b.Time(1); got.Micros() != 1_764_000_000_020_000 {
		t.Errorf("second frame at %d µs", got.Micros())
	}
	if !b.HasClock() {
		t.Error("a batch with a time has no clock")
	}
	b.Start = 0
	if b.HasClock() || b.Time(1) != 0.02 {
		t.Errorf("without a clock: %v, %v", b.HasClock(), b.Time(1))
	}
}

func TestDecodingAgainAllocatesNothing(t *testing.T) {
	p := csi.Append(nil, sample())
	var b csi.Batch
	var amp []float32
	read := func() {
		if err := csi.Decode(p, &b); err != nil {
			t.Fatal(err)
		}
		amp = b.Amplitudes(amp, 0)
	}
	read()
	if n := testing.AllocsPerRun(100, read); n != 0 {
		t.Errorf("%v allocations per batch", n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(csi.Append(nil, sample()))
	f.Add([]byte("CSI1"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var b csi.Batch
		if csi.Decode(payload, &b) != nil {
			return
		}
		if again := csi.Append(nil, &b); !bytes.Equal(again, payload) {
			t.Fatalf("accepted % x\nbut writes % x", payload, again)
		}
		for i := range b.Frames {
			if got := len(b.Amplitudes(nil, i)); got != b.Subcarriers {
				t.Fatalf("%d amplitudes of %d subcarriers", got, b.Subcarriers)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	big := sample()
	big.Subcarriers, big.Ends = 64, nil
	big.Frames = slices.Repeat([]csi.Frame{{Data: make([]byte, 128)}}, 25)
	p := csi.Append(nil, big)
	var into csi.Batch
	var amp []float32
	b.ReportAllocs()
	for b.Loop() {
		if err := csi.Decode(p, &into); err != nil {
			b.Fatal(err)
		}
		for i := range into.Frames {
			amp = into.Amplitudes(amp, i)
		}
	}
	b.ReportMetric(float64(b.N*25)/b.Elapsed().Seconds(), "frames/s")
}
