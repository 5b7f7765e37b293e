package series_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
)

const (
	links   = 6
	day     = 24 * 3600
	morning = 1764000000 // a multiple of every block's span
)

var profiles = []seriestest.Profile{seriestest.Sparse, seriestest.Noisy3}

// dayOf returns the sealed 1 s blocks of one network's day.
func dayOf(p seriestest.Profile, seed uint64) [][]byte {
	home := seriestest.New(p, seed, links)
	var values [][]byte
	for start := int64(morning); start < morning+day; start += series.Second.Span() {
		b := series.NewBlock(series.Second, start)
		home.FillBlock(b)
		values = append(values, b.AppendValue(nil))
	}
	return values
}

// BenchmarkSize prints the bytes of a row, all included, of 50 networks' days.
func BenchmarkSize(b *testing.B) {
	for _, p := range profiles {
		b.Run(p.String(), func(b *testing.B) {
			for range b.N {
				bytes := 0
				for network := range uint64(50) {
					for _, v := range dayOf(p, network) {
						bytes += len(v)
					}
				}
				b.ReportMetric(float64(bytes)/(50*day*(1+links)), "B/row")
			}
		})
	}
}

// BenchmarkEncode seals one block of 600 s × (1 + 6) series.
func BenchmarkEncode(b *testing.B) {
	for _, p := range profiles {
		b.Run(p.String(), func(b *testing.B) {
			home := seriestest.New(p, 7, links)
			blocks := make([]*series.Block, 144)
			for i := range blocks {
				blocks[i] = series.NewBlock(series.Second, int64(i)*series.Second.Span())
				home.FillBlock(blocks[i])
			}
			var dst []byte
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				dst = blocks[i%len(blocks)].AppendValue(dst[:0])
			}
			reportPer(b, 600*(1+links), "ns/row")
		})
	}
}

// BenchmarkIncrement makes the journal value of a minute of one network.
func BenchmarkIncrement(b *testing.B) {
	for _, p := range profiles {
		b.Run(p.String(), func(b *testing.B) {
			home := seriestest.New(p, 7, links)
			frame, index := make([]float64, 1+links), make([]int, 1+links)
			open := series.NewBlock(series.Second, 0)
			var dst []byte
			rows, bytes, ts := 0, 0, int64(0)
			for b.Loop() {
				if ts == open.End() {
					open = series.NewBlock(series.Second, ts)
				}
				for end := ts + 60; ts < end; ts++ {
					home.Next(frame)
					for i, id := range home.IDs() {
						if ts == open.Start() {
							index[i], _ = open.Index(id)
						}
						open.Add(index[i], ts, frame[i])
					}
				}
				dst = open.AppendIncrement(dst[:0])
				open.Committed()
				bytes, rows = bytes+len(dst), rows+60*(1+links)
			}
			b.ReportMetric(float64(bytes)*60*(1+links)/float64(rows), "B/increment")
			reportPer(b, 60*(1+links), "ns/row")
		})
	}
}

// BenchmarkAdd counts one live frame in the open block.
func BenchmarkAdd(b *testing.B) {
	open := series.NewBlock(series.Second, 0)
	i, _ := open.Index(series.Network)
	for n := int64(0); b.Loop(); n++ {
		open.Add(i, n/2%600, 0.35)
	}
}

// BenchmarkDay answers 24 h at 1 s: decoded points, then the whole answer from
// the blocks' bytes on, beside a memcpy of the answer and encoding/json.
func BenchmarkDay(b *testing.B) {
	for _, p := range profiles {
		values := dayOf(p, 7)
		query := series.Query{Series: series.Network, Measure: series.Intensity, From: morning, To: morning + day, Bucket: 1}
		b.Run(fmt.Sprintf("decode/%v", p), func(b *testing.B) {
			for b.Loop() {
				set, _ := series.NewSet(values...)
				if points, err := set.Points(query); err != nil || points.Len() != day {
					b.Fatal(points.Len(), err)
				}
			}
		})
		b.Run(fmt.Sprintf("answer/%v", p), func(b *testing.B) {
			answerAgainstMemcpy(b, values, query)
		})
		b.Run(fmt.Sprintf("encoding-json/%v", p), func(b *testing.B) {
			for b.Loop() {
				set, _ := series.NewSet(values...)
				points, _ := set.Points(query)
				if _, err := json.Marshal(pairs(points)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWeek answers a week of 5 s rows at 5 s.
func BenchmarkWeek(b *testing.B) {
	home := seriestest.New(seriestest.Sparse, 7, links)
	frame := make([]float64, 1+links)
	var values [][]byte
	for start := int64(morning); start < morning+7*day; start += series.FiveSeconds.Span() {
		open := series.NewBlock(series.FiveSeconds, start)
		i, _ := open.Index(series.Network)
		for ts := start; ts < open.End(); ts += 5 {
			home.Next(frame)
			open.Fill(i, ts, frame[0])
		}
		values = append(values, open.AppendValue(nil))
	}
	query := series.Query{Series: series.Network, Measure: series.Density, From: morning, To: morning + 7*day, Bucket: 5}
	answerAgainstMemcpy(b, values, query)
}

// answerAgainstMemcpy answers query and copies the answer, in turns. The ratio
// is that of the best of each, so that a busy machine does not count.
func answerAgainstMemcpy(b *testing.B, values [][]byte, query series.Query) {
	var answer, target []byte
	bestAnswer, bestCopy := time.Hour, time.Hour
	for b.Loop() {
		begin := time.Now()
		set, _ := series.NewSet(values...)
		answer, _, _ = set.AppendJSON(answer[:0], query)
		bestAnswer = min(bestAnswer, time.Since(begin))
		target = append(target[:0], answer...)
		begin = time.Now()
		copy(target, answer)
		bestCopy = min(bestCopy, time.Since(begin))
	}
	b.ReportMetric(float64(bestAnswer)/float64(bestCopy), "×memcpy")
	b.ReportMetric(float64(bestAnswer), "best-ns")
	b.ReportMetric(float64(len(answer)), "B")
}

func reportPer(b *testing.B, rows int, unit string) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), unit)
}

// pairs returns points as the value that encoding/json writes.
func pairs(p series.Points) [][2]any {
	out := make([][2]any, p.Len())
	for i := range out {
		value, ts, ok := p.At(i)
		if out[i] = [2]any{value, ts}; !ok {
			out[i][0] = nil
		}
	}
	return out
}

// BenchmarkShares answers how the motion of a day at 1 s was spread over six places.
func BenchmarkShares(b *testing.B) {
	home := seriestest.New(seriestest.Sparse, 7, links)
	frame := make([]float64, 1+links)
	var values [][]byte
	for start := int64(morning); start < morning+day; start += series.Second.Span() {
		open := series.NewBlock(series.Second, start)
		for ts := start; ts < open.End(); ts++ {
			home.Next(frame)
			for k, v := range frame {
				id := series.Network
				if k > 0 {
					id = series.Location(motion.MAC{2, 0xbb, 0, 0, 0, byte(k)})
				}
				i, _ := open.Index(id)
				open.Add(i, ts, v)
			}
		}
		values = append(values, open.AppendValue(nil))
	}
	for _, bucket := range []int64{1, 900} {
		b.Run(fmt.Sprint(bucket), func(b *testing.B) {
			best := time.Hour
			for b.Loop() {
				begin := time.Now()
				set, _ := series.NewSet(values...)
				if shares, err := set.Shares(morning, morning+day, bucket); err != nil || len(shares) != links {
					b.Fatal(len(shares), err)
				}
				best = min(best, time.Since(begin))
			}
			b.ReportMetric(float64(best), "best-ns")
		})
	}
	b.Run("whole", func(b *testing.B) {
		best := time.Hour
		for b.Loop() {
			begin := time.Now()
			set, _ := series.NewSet(values...)
			if _, err := set.Locations(morning, morning+day); err != nil {
				b.Fatal(err)
			}
			best = min(best, time.Since(begin))
		}
		b.ReportMetric(float64(best), "best-ns")
	})
}
