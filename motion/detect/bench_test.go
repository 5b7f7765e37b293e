package detect_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sensegate/motion"
	"sensegate/motion/detect"
)

// noise is frames of n bins that nobody moves in: a fixed shape with
// independent noise, some counts strong.
func noise(seed uint64, frames, n int) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	shape := make([]float32, n)
	for k := range shape {
		shape[k] = 20 + 15*r.Float32()
	}
	rows := make([][]float32, frames)
	for i := range rows {
		rows[i] = make([]float32, n)
		for k := range rows[i] {
			rows[i][k] = shape[k] + float32(r.NormFloat64())
		}
	}
	return rows
}

func BenchmarkLink(b *testing.B) {
	for _, rate := range []float64{10, 50, 100} {
		b.Run(fmt.Sprintf("%vHz", rate), func(b *testing.B) {
			frames := noise(1, 1024, 64)
			config := detect.Defaults()
			config.Calibration = 1
			link := detect.NewLink(config)
			ticks, i := 0, 0
			emit := func(detect.Tick) { ticks++ }
			push := func() {
				link.Push(motion.Time(1_764_000_000+float64(i)/rate), frames[i%len(frames)], nil, -60, emit)
				i++
			}
			for range 2000 {
				push()
			}
			b.ReportAllocs()
			for b.Loop() {
				push()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
			if ticks == 0 {
				b.Fatal("no ticks")
			}
		})
	}
}
