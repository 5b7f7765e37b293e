package store_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
	"sensegate/store"
	"sensegate/store/storetest"
)

// What storage is measured with (docs/performance.md): 50 networks of 6 links for a day,
// flushed every minute.
const (
	benchNetworks = 50
	benchLinks    = 6
	benchDay      = 24 * 3600
	benchFlush    = 60
)

// stored is a database in which every network has stored some days.
type stored struct {
	db      *store.DB
	samples *store.Samples
	first   motion.NetworkID
	now     time.Time
	homes   []*seriestest.Home
	values  [][]store.Value
	adding  time.Duration // CPU spent on taking frames in
	writing time.Duration // CPU spent on flushes
	longest time.Duration // of a flush, by the clock on the wall
}

// newStored opens a database for 50 homes.
func newStored(b *testing.B, profile seriestest.Profile) *stored {
	b.Helper()
	d := &stored{now: time.Unix(series.QuarterHour.BlockStart(base), 0)}
	d.db = d.open(b)
	var err error
	if d.samples, err = store.OpenSamples(context.Background(), d.db); err != nil {
		b.Fatal(err)
	}
	for i := range benchNetworks {
		home := seriestest.New(profile, uint64(i+1), benchLinks)
		id := newNetwork(b, d.db, string(rune('A'+i)))
		if i == 0 {
			d.first = id
		}
		var values []store.Value
		for _, series := range home.IDs() {
			values = append(values, store.Value{ID: series})
		}
		d.homes, d.values = append(d.homes, home), append(d.values, values)
	}
	return d
}

// open opens a new database on the same clock.
func (d *stored) open(b *testing.B) *store.DB {
	b.Helper()
	return storetest.Open(b, func(o *store.Options) {
		o.Now, o.Retention = func() time.Time { return d.now }, store.DefaultRetention()
	})
}

// live lives through seconds as the appliance does: frames, a flush a minute.
func (d *stored) live(b *testing.B, seconds int64, framesPerSecond int) {
	b.Helper()
	frames := make([]float64, benchFlush*framesPerSecond*(benchLinks+1))
	for end := d.now.Unix() + seconds; d.now.Unix() < end; {
		for i, home := range d.homes {
			for k := 0; k < len(frames); k += benchLinks + 1 {
				home.Next(frames[k : k+benchLinks+1])
			}
			begin := cpu(b)
			for step := range benchFlush * framesPerSecond {
				for k := range d.values[i] {
					d.values[i][k].Value = frames[step*(benchLinks+1)+k]
				}
				at := float64(d.now.Unix()) + float64(step)/float64(framesPerSecond)
				d.samples.Add(d.first+motion.NetworkID(i), motion.Time(at), d.values[i])
			}
			d.adding += cpu(b) - begin
		}
		d.now = d.now.Add(benchFlush * time.Second)
		begin, clock := cpu(b), time.Now()
		update(b, d.db, d.samples.Flush)
		d.writing += cpu(b) - begin
		d.longest = max(d.longest, time.Since(clock))
	}
}

// cpu returns the CPU time that the process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// size returns the bytes of the file.
func (d *stored) size(b *testing.B) int64 {
	b.Helper()
	info, err := os.Stat(d.db.Path())
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// BenchmarkStoreDay prints S1 (sparse), S2 (noisy3) and S6 of docs/performance.md: bytes a row of
// the file as it lies on the disk with the sums of the day, where a row is a second
// of a series; and the CPU time that a row of the next day costs: taking two frames in,
// the journal, seals, sums and, as seconds are kept for a day, retention.
func BenchmarkStoreDay(b *testing.B) {
	for _, profile := range []seriestest.Profile{seriestest.Sparse, seriestest.Noisy3} {
		b.Run(profile.String(), func(b *testing.B) {
			const rows = benchNetworks * (benchLinks + 1) * benchDay
			for b.Loop() {
				d := newStored(b, profile)
				d.live(b, benchDay+benchFlush, 2)
				b.ReportMetric(float64(d.size(b))/rows, "B/row")
				d.adding, d.writing, d.longest = 0, 0, 0
				d.live(b, benchDay, 2)
				b.ReportMetric(float64(d.adding)/rows, "add-ns/row")
				b.ReportMetric(float64(d.writing)/rows, "flush-ns/row")
				b.ReportMetric(float64((d.adding+d.writing)/rows), "ns/row")
				b.ReportMetric(d.longest.Seconds()*1000, "ms/longest-flush")
			}
		})
	}
}

// BenchmarkStoreWeek prints S8, S9 and S10 of docs/performance.md: the answer of a week at 5 s and
// at 60 s, the file after 9 days against 8, and how long opening it takes; the best of
// each, so that a busy machine does not count.
func BenchmarkStoreWeek(b *testing.B) {
	for _, profile := range []seriestest.Profile{seriestest.Sparse, seriestest.Noisy3} {
		b.Run(profile.String(), func(b *testing.B) {
			d := newStored(b, profile)
			d.live(b, 8*benchDay, 1)
			eight := d.size(b)
			d.live(b, benchDay, 1)
			b.Run("file", func(b *testing.B) {
				for b.Loop() {
					b.ReportMetric(float64(d.size(b))/float64(eight), "x-day-8")
					b.ReportMetric(float64(d.size(b))/benchNetworks/1e6, "MB/network")
				}
			})
			b.Run("week-at-5s", func(b *testing.B) { d.week(b, 5) })
			b.Run("week-at-60s", func(b *testing.B) { d.week(b, 60) })
			b.Run("start", d.start)
		})
	}
}

// week answers the last week of the first network in buckets.
func (d *stored) week(b *testing.B, bucket int64) {
	now := d.now.Unix()
	query := series.Query{Series: series.Network, Measure: series.Intensity, From: now - 7*benchDay + 600, To: now, Bucket: bucket}
	var answer []byte
	best := time.Hour
	for b.Loop() {
		begin := time.Now()
		set, err := d.samples.Set(context.Background(), d.first, query.From, query.To, bucket)
		if err != nil {
			b.Fatal(err)
		}
		var effective int64
		if answer, effective, err = set.AppendJSON(answer[:0], query); err != nil || effective != bucket {
			b.Fatal(effective, err)
		}
		best = min(best, time.Since(begin))
	}
	b.ReportMetric(float64(len(answer)), "B/answer")
	b.ReportMetric(best.Seconds()*1000, "best-ms")
}

// start opens a copy of the database with its samples.
func (d *stored) start(b *testing.B) {
	path := filepath.Join(b.TempDir(), "sensegate.db")
	copyFile(b, d.db.Path(), path)
	best := time.Hour
	for b.Loop() {
		begin := time.Now()
		db, err := store.Open(store.Options{Path: path, Now: func() time.Time { return d.now }, Retention: store.DefaultRetention()})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := store.OpenSamples(context.Background(), db); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(begin))
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(best.Seconds()*1000, "best-ms")
}

// BenchmarkReadDay prints S7 of docs/performance.md: a day at 1 s decoded, and the whole
// answer from the disk in multiples of copying it.
func BenchmarkReadDay(b *testing.B) {
	for _, profile := range []seriestest.Profile{seriestest.Sparse, seriestest.Noisy3} {
		d := newStored(b, profile)
		d.live(b, benchDay, 2)
		now := d.now.Unix()
		query := series.Query{Series: series.Network, Measure: series.Intensity, From: now - benchDay, To: now, Bucket: 1}
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

// set reads what a question about the first network's last day needs.
func (d *stored) set(b *testing.B) *series.Set {
	b.Helper()
	set, err := d.samples.Set(context.Background(), d.first, d.now.Unix()-benchDay, d.now.Unix(), 1)
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

// BenchmarkOneOfMany prints what is written when a network whose nine days share values of the database with those of 50 others is
// taken in, and deleted again with what it leaves wiped; and the same on a box that has no other.
func BenchmarkOneOfMany(b *testing.B) {
	for b.Loop() {
		ctx, d := b.Context(), newStored(b, seriestest.Sparse)
		d.live(b, 9*benchDay, 1)
		var network store.NetworkCopy
		err := d.db.View(ctx, func(tx *store.Tx) (err error) {
			network, _, err = tx.CopyNetwork(d.first)
			network.Network.GuardianID = "of another box"
			return err
		})
		var history []store.HistoryRecord
		if err == nil {
			_, err = d.samples.CopyHistory(ctx, d.first, func(some []store.HistoryRecord) error {
				history = append(history, some...)
				return nil
			})
		}
		if err != nil {
			b.Fatal(err)
		}
		for name, db := range map[string]*store.DB{"alone": d.open(b), "beside-50": d.db} {
			before := written(b, db)
			in, err := db.BeginImport(ctx, network, store.ImportOptions{Copy: name})
			for _, record := range history {
				if err == nil {
					err = in.Add(ctx, record)
				}
			}
			if err == nil {
				_, err = in.Commit(ctx)
			}
			if err != nil {
				b.Fatal(err)
			}
			taken := written(b, db)
			update(b, db, func(tx *store.Tx) error { return tx.DeleteNetwork(in.Network()) })
			if err := db.Wipe(ctx); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric((taken-before)/1e6, "MB-taken-in/"+name)
			b.ReportMetric((written(b, db)-taken)/1e6, "MB-deleted/"+name)
		}
	}
}

// written returns the bytes that a database has written since it was opened.
func written(b *testing.B, db *store.DB) float64 {
	b.Helper()
	stats, err := db.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return float64(stats.Bytes)
}
