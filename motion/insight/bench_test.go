package insight_test

import (
	"testing"

	"sensegate/motion/insight"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
)

const benchDays = 30

// month returns 30 days from base on as a gateway keeps them: 5 s samples, and
// 1 s samples of the last day.
func month(b *testing.B, profile seriestest.Profile) *series.Set {
	b.Helper()
	home := seriestest.New(profile, 1, 6)
	var values [][]byte
	frame := make([]float64, len(home.IDs()))
	for start := int64(base); start < base+benchDays*86400; start += series.FiveSeconds.Span() {
		block := series.NewBlock(series.FiveSeconds, start)
		network, _ := block.Index(series.Network)
		for ts := start; ts < block.End(); ts += 5 {
			home.Next(frame)
			block.Fill(network, ts, frame[0])
		}
		values = append(values, block.AppendValue(nil))
	}
	for start := int64(base + (benchDays-1)*86400); start < base+benchDays*86400; start += series.Second.Span() {
		block := series.NewBlock(series.Second, start)
		home.FillBlock(block)
		values = append(values, block.AppendValue(nil))
	}
	return setOf(b, values...)
}

func profiles(b *testing.B, run func(*testing.B, *series.Set)) {
	for _, p := range []seriestest.Profile{seriestest.Sparse, seriestest.Noisy3} {
		b.Run(p.String(), func(b *testing.B) {
			s := month(b, p)
			b.ReportAllocs()
			b.ResetTimer()
			run(b, s)
		})
	}
}

func BenchmarkActivityOf30Days(b *testing.B) {
	toronto := zone(b, "America/Toronto")
	profiles(b, func(b *testing.B, s *series.Set) {
		for b.Loop() {
			a, err := insight.ActivityOf(s, base, base+benchDays*86400)
			if err != nil || len(a.Days(toronto).Data) != benchDays {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDaysOf30Days(b *testing.B) {
	toronto := zone(b, "America/Toronto")
	profiles(b, func(b *testing.B, s *series.Set) {
		first := insight.DateOf(base, toronto)
		for b.Loop() {
			if days, err := insight.Days(s, first, first+benchDays-1, toronto); err != nil || len(days) != benchDays {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNightsOf30Days(b *testing.B) {
	h := usualHours(zone(b, "America/Toronto"))
	profiles(b, func(b *testing.B, s *series.Set) {
		first := insight.DateOf(base, h.Zone)
		for b.Loop() {
			if _, err := insight.Nights(s, h, first, first+benchDays-1, base+benchDays*86400); err != nil {
				b.Fatal(err)
			}
		}
	})
}
