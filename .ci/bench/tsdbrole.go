package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/tsdb"
	"github.com/prometheus/tsdb/labels"
)

// tsdbRole is the time-series database of Prometheus, in its former version as a
// library, with the same motion: intensity in steps of 0.001 and the share of motion of
// each second. It keeps neither sums nor states, and does not sync.
type tsdbRole struct {
	*homes
	dir   string
	db    *tsdb.DB
	label [][]labels.Labels // by home: two per series
	refs  [][]uint64        // likewise
	now   int64             // s
	began time.Duration
}

// newTSDBRole opens a database: directory, profile, number of homes, first second.
func newTSDBRole(args []string) (role, error) {
	profile, err := profileOf(args[1])
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return nil, err
	}
	first, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return nil, err
	}
	r := &tsdbRole{homes: newHomes(profile, n, 2), dir: args[0], now: first}
	if err := r.open(); err != nil {
		return nil, err
	}
	for i, home := range r.homes.homes {
		var all []labels.Labels
		for k := range home.IDs() {
			for _, measure := range []string{"intensity", "density"} {
				all = append(all, labels.FromStrings("__name__", measure, "network", strconv.Itoa(i), "series", strconv.Itoa(k)))
			}
		}
		r.label, r.refs = append(r.label, all), append(r.refs, make([]uint64, len(all)))
	}
	r.began = cpuTime()
	return r, nil
}

func (r *tsdbRole) open() (err error) {
	options := *tsdb.DefaultOptions
	options.WALCompression = true
	r.db, err = tsdb.Open(r.dir, nil, nil, &options)
	return err
}

func (r *tsdbRole) do(what string, n int) (map[string]float64, error) {
	switch what {
	case "live":
		return r.live(n)
	case "size":
		return r.size()
	case "decode":
		return r.read(daySeconds)
	case "week":
		return r.buckets(int64(n))
	case "reopen":
		return r.reopen()
	}
	return nil, fmt.Errorf("no such question: %s", what)
}

// live stores seconds of motion, a commit a minute.
func (r *tsdbRole) live(seconds int) (map[string]float64, error) {
	for range seconds / flushSeconds {
		r.minute()
		appender := r.db.Appender()
		for i := range r.frames {
			if err := r.add(appender, i); err != nil {
				return nil, errors.Join(err, appender.Rollback())
			}
		}
		if err := appender.Commit(); err != nil {
			return nil, err
		}
		r.now += flushSeconds
	}
	r.settle()
	return map[string]float64{"cpu": float64(cpuTime() - r.began - r.making), "rows": float64(r.minutes * flushSeconds * len(r.frames) * columnsOfHome)}, nil
}

// settle waits until the database has written the full blocks of its head.
func (r *tsdbRole) settle() {
	const span = 3 * 3600 * 1000 // ms that the head holds before it is cut
	for r.db.Head().MaxTime()-r.db.Head().MinTime() > span {
		time.Sleep(10 * time.Millisecond)
	}
}

// add adds the minute of home i.
func (r *tsdbRole) add(appender tsdb.Appender, i int) error {
	frames, refs := r.frames[i], r.refs[i]
	for second := range flushSeconds {
		at := (r.now + int64(second)) * 1000
		step := frames[second*r.rate*columnsOfHome:]
		for k := range columnsOfHome {
			intensity, density := secondOf(step[k], step[columnsOfHome+k])
			for j, v := range []float64{intensity, density} {
				if err := r.put(appender, i, 2*k+j, &refs[2*k+j], at, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// put appends a value, by the reference of its series once that is known.
func (r *tsdbRole) put(appender tsdb.Appender, i, k int, ref *uint64, at int64, v float64) (err error) {
	if *ref != 0 && appender.AddFast(*ref, at, v) == nil {
		return nil
	}
	*ref, err = appender.Add(r.label[i][k], at, v)
	return err
}

// size returns the bytes and rows of the finished blocks, without the log.
func (r *tsdbRole) size() (map[string]float64, error) {
	bytes, samples := 0.0, 0.0
	for _, block := range r.db.Blocks() {
		samples += float64(block.Meta().Stats.NumSamples)
		size, err := bytesBelow(block.Dir())
		if err != nil {
			return nil, err
		}
		bytes += size
	}
	return map[string]float64{"bytes": bytes, "rows": samples / 2}, nil
}

// each calls fn with the intensities of the first home's network series in the last
// seconds.
func (r *tsdbRole) each(seconds int64, fn func(t int64, v float64)) error {
	querier, err := r.db.Querier((r.now-seconds)*1000, r.now*1000-1)
	if err != nil {
		return err
	}
	found, err := querier.Select(labels.NewEqualMatcher("__name__", "intensity"), labels.NewEqualMatcher("network", "0"), labels.NewEqualMatcher("series", "0"))
	if err != nil {
		return errors.Join(err, querier.Close())
	}
	for found.Next() {
		samples := found.At().Iterator()
		for samples.Next() {
			fn(samples.At())
		}
		err = errors.Join(err, samples.Err())
	}
	return errors.Join(err, found.Err(), querier.Close())
}

// read reads the last seconds of a series.
func (r *tsdbRole) read(seconds int64) (map[string]float64, error) {
	values := make([]float64, 0, seconds)
	begin := time.Now()
	err := r.each(seconds, func(_ int64, v float64) { values = append(values, v) })
	took := time.Since(begin)
	if err == nil && len(values) != int(seconds) {
		err = fmt.Errorf("%d values of %d s", len(values), seconds)
	}
	return map[string]float64{"ms": ms(took)}, err
}

// buckets reads the last week of a series into the maximum of each bucket.
func (r *tsdbRole) buckets(bucket int64) (map[string]float64, error) {
	first := r.now - 7*daySeconds
	values := make([]float64, 7*daySeconds/bucket+1)
	return twice(func() error {
		return r.each(7*daySeconds, func(t int64, v float64) {
			i := (t/1000 - first) / bucket
			values[i] = max(values[i], v)
		})
	})
}

// reopen closes and opens the database, as a restart does.
func (r *tsdbRole) reopen() (map[string]float64, error) {
	if err := r.db.Close(); err != nil {
		return nil, err
	}
	begin := time.Now()
	err := r.open()
	return map[string]float64{"ms": ms(time.Since(begin))}, err
}

func (r *tsdbRole) close() error { return r.db.Close() }

// The peers of storage in the table.
const (
	prometheus = "Prometheus tsdb 0.10"
	sqlite     = "SQLite (WAL, commit a minute)"
)

// pair starts the store and its peer, each on a new directory.
func (b *bench) pair(ctx context.Context, profile string, rate, homes int, first int64) (ours, peer *worker, err error) {
	var dirs [2]string
	for i := range dirs {
		if dirs[i], err = b.temp(profile); err != nil {
			return nil, nil, err
		}
	}
	from := strconv.FormatInt(first, 10)
	if ours, err = b.start(ctx, nil, "store", dirs[0], profile, strconv.Itoa(rate), from); err != nil {
		return nil, nil, err
	}
	if peer, err = b.start(ctx, nil, "tsdb", dirs[1], profile, strconv.Itoa(homes), from); err != nil {
		return nil, nil, errors.Join(err, ours.stop())
	}
	return ours, peer, nil
}
