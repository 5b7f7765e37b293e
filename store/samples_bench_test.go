package store_test

import (
	"context"
	"os"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
	"sensegate/store"
	"sensegate/store/storetest"
)

// What storage is measured with (storage.md): 50 networks of 6 links for a day,
// flushed every minute.
const (
	benchNetworks = 50
	benchLinks    = 6
	benchDay      = 24 * 3600
	benchFlush    = 60
)

// day is a database in which every network has stored a day.
type day struct {
	db      *store.DB
	samples *store.Samples
	first   motion.NetworkID
	adding  time.Duration // spent on taking frames in
	writing time.Duration // spent on flushes
}

// storeDay lives through a day of 50 homes as the appliance does: two frames a
// second, a flush a minute, the last block sealed.
func storeDay(b *testing.B, profile seriestest.Profile) day {
	b.Helper()
	now := time.Unix(base, 0)
	db := storetest.Open(b, func(o *store.Options) { o.Now = func() time.Time { return now } })
	samples, err := store.OpenSamples(context.Background(), db)
	if err != nil {
		b.Fatal(err)
	}
	d := day{db: db, samples: samples}
	homes := make([]*seriestest.Home, benchNetworks)
	values := make([][]store.Value, benchNetworks)
	for i := range homes {
		homes[i] = seriestest.New(profile, uint64(i+1), benchLinks)
		id := newNetwork(b, db, string(rune('A'+i)))
		if i == 0 {
			d.first = id
		}
		for _, series := range homes[i].IDs() {
			values[i] = append(values[i], store.Value{ID: series})
		}
	}
	frame := make([]float64, benchLinks+1)
	flush := func() {
		begin := time.Now()
		update(b, db, samples.Flush)
		d.writing += time.Since(begin)
	}
	for second := int64(0); second < benchDay; second += benchFlush {
		for i, home := range homes {
			for step := range int64(2 * benchFlush) {
				home.Next(frame)
				for k, v := range frame {
					values[i][k].Value = v
				}
				begin := time.Now()
				samples.Add(d.first+motion.NetworkID(i), motion.Time(float64(base+second)+float64(step)/2), values[i])
				d.adding += time.Since(begin)
			}
		}
		now = time.Unix(base+second+benchFlush, 0)
		flush()
	}
	now = now.Add(time.Minute)
	flush()
	return d
}

// BenchmarkStoreDay prints storage.md S1 (sparse) and S2 (noisy3): bytes a row of
// the file as it lies on the disk, where a row is a second of a series; and what
// taking the rows in costs.
func BenchmarkStoreDay(b *testing.B) {
	for _, profile := range []seriestest.Profile{seriestest.Sparse, seriestest.Noisy3} {
		b.Run(profile.String(), func(b *testing.B) {
			const rows = benchNetworks * (benchLinks + 1) * benchDay
			for b.Loop() {
				d := storeDay(b, profile)
				info, err := os.Stat(d.db.Path())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(info.Size())/rows, "B/row")
				b.ReportMetric(float64(d.adding.Nanoseconds())/rows, "add-ns/row")
				b.ReportMetric(float64(d.writing.Nanoseconds())/rows, "flush-ns/row")
			}
		})
	}
}

// BenchmarkReadDay prints storage.md S7: a day at 1 s decoded, and the whole
// answer from the disk in multiples of copying it.
func BenchmarkReadDay(b *testing.B) {
	for _, profile := range []seriestest.Profile{seriestest.Sparse, seriestest.Noisy3} {
		d := storeDay(b, profile)
		query := series.Query{Series: series.Network, Measure: series.Intensity, From: base, To: base + benchDay, Bucket: 1}
		b.Run(profile.String()+"/decode", func(b *testing.B) {
			set := d.set(b)
			for b.Loop() {
				points, err := set.Points(query)
				if err != nil || points.Len() != benchDay {
					b.Fatalf("%d points, %v", points.Len(), err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/day")
		})
		b.Run(profile.String()+"/answer", func(b *testing.B) {
			var answer []byte
			for b.Loop() {
				var err error
				if answer, _, err = d.set(b).AppendJSON(answer[:0], query); err != nil {
					b.Fatal(err)
				}
			}
			each := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(each)/float64(copyTime(answer)), "x-memcpy")
			b.ReportMetric(float64(len(answer)), "B/answer")
		})
	}
}

// set reads what a question about the first network's day needs.
func (d day) set(b *testing.B) *series.Set {
	b.Helper()
	set, err := d.samples.Set(context.Background(), d.first, base, base+benchDay)
	if err != nil {
		b.Fatal(err)
	}
	return set
}

// copyTime returns how long copying data takes, the mean of many times.
func copyTime(data []byte) time.Duration {
	const times = 200
	into := make([]byte, len(data))
	copy(into, data)
	begin := time.Now()
	for range times {
		copy(into, data)
	}
	return time.Since(begin) / times
}
