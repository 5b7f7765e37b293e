package seriestest_test

import (
	"bytes"
	"testing"

	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
)

func TestSameSeedSameHome(t *testing.T) {
	t.Parallel()
	block := func(seed uint64) []byte {
		b := series.NewBlock(series.Second, 0)
		seriestest.New(seriestest.Noisy3, seed, 6).FillBlock(b)
		return b.AppendValue(nil)
	}
	if !bytes.Equal(block(1), block(1)) {
		t.Error("the same seed gave another block")
	}
	if bytes.Equal(block(1), block(2)) {
		t.Error("another seed gave the same block")
	}
}

func TestProfilesDoWhatTheySay(t *testing.T) {
	t.Parallel()
	const frames = 2 * 24 * 3600
	for profile, want := range map[seriestest.Profile][2]float64{seriestest.Sparse: {0.03, 0.12}, seriestest.Noisy3: {0.99, 1}} {
		home := seriestest.New(profile, 5, 6)
		frame := make([]float64, len(home.IDs()))
		moving := 0
		for range frames {
			home.Next(frame)
			if frame[0] > 0 {
				moving++
			}
		}
		if share := float64(moving) / frames; share < want[0] || share > want[1] {
			t.Errorf("%v: %.3f of the frames are above 0, want %v", profile, share, want)
		}
	}
}
