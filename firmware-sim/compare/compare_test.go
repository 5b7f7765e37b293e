package compare

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sensegate/firmware-sim/capture"
	"sensegate/motion/csi"
)

func captures(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "csi")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("captures are missing: %v", err)
		}
		t.Skipf("captures are missing (set SENSEGATE_DATA): %v", err)
	}
	return filepath.Join(dir, "csi")
}

// leastOverlap is what the histograms of a feature, real and synthetic, have to
// share at least. docs/simulator.md has what they share.
const leastOverlap = 0.6

func TestSyntheticFeaturesAreLikeThoseOfRealLinks(t *testing.T) {
	t.Parallel()
	rows, err := Measure(captures(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 18 {
		t.Fatalf("%d rows, want 3 groups × 2 kinds of moments × 3 features", len(rows))
	}
	for _, r := range rows {
		if r.Overlap < leastOverlap {
			t.Errorf("%s, %s, %s: overlap %.2f, want %.2f\nreal      %.2f\nsynthetic %.2f",
				r.Group, word(r.Label), r.Feature, r.Overlap, leastOverlap, r.Real, r.Synthetic)
		}
	}
}

func TestOverlapIsTheCommonAreaOfTheHistograms(t *testing.T) {
	t.Parallel()
	f := feature{"x", 0, 24}
	line := func(from, to int) (values []float64) {
		for v := from; v < to; v++ {
			values = append(values, float64(v)+0.5)
		}
		return values
	}
	for _, test := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{"the same", line(0, 10), line(0, 10), 1},
		{"half", line(0, 10), line(5, 15), 0.5},
		{"apart", line(0, 10), line(12, 20), 0},
		{"beyond the ends", []float64{-100, 100}, []float64{0.5, 23.5}, 1},
		{"of nothing", line(0, 10), nil, 0},
	} {
		if got := f.overlap(test.a, test.b); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// short is a recording of 20 s: quiet, then motion.
func short() *capture.Recording {
	r := &capture.Recording{Group: "g", Name: "r", Header: capture.Header{
		Kind: capture.ImaginaryFirst, Chip: "c5", Bins: 64, Rate: 50, GainLocked: true,
	}}
	for i := range 1000 {
		label := capture.Quiet
		if i >= 500 {
			label = capture.Motion
		}
		r.Frames = append(r.Frames, capture.Frame{Time: float64(i) / 50, Label: label})
	}
	return r
}

func TestATwinHasTheFormOfItsRecordingAndMovesWithItsLabels(t *testing.T) {
	t.Parallel()
	real := short()
	twin := twinOf(real, 0)
	change := map[capture.Label]float64{}
	var last, now []float32
	for i, f := range twin.Frames {
		if f.Time != real.Frames[i].Time || f.Label != real.Frames[i].Label || len(f.Data) != 128 || f.RSSI >= 0 {
			t.Fatalf("frame %d: %v %v, %d bytes, %d dBm", i, f.Time, f.Label, len(f.Data), f.RSSI)
		}
		if now = csi.Amplitudes(now, f.Data, csi.ImagFirst); i%10 == 0 {
			for k := range last {
				change[f.Label] += math.Abs(float64(now[k] - last[k]))
			}
			last = slices.Clone(now)
		}
	}
	if change[capture.Motion] < 2*change[capture.Quiet] {
		t.Errorf("the channel changes by %.0f in motion, by %.0f in quiet", change[capture.Motion], change[capture.Quiet])
	}
	if again := twinOf(real, 0); !slices.Equal(again.Frames[700].Data, twin.Frames[700].Data) {
		t.Error("the same twin differs")
	}
	if other := twinOf(real, 1); slices.Equal(other.Frames[700].Data, twin.Frames[700].Data) {
		t.Error("two variants are the same")
	}
}
