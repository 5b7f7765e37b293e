package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
	"sensegate/store"
)

// The load of storage: homes of 6 links, with a series for the network and one per link,
// flushed every minute. A row is a second of a series.
const (
	networks      = 50
	links         = 6
	columnsOfHome = links + 1
	daySeconds    = 24 * 3600
	flushSeconds  = 60
)

// homes generates the motion of homes, a minute at a time.
type homes struct {
	homes   []*seriestest.Home
	frames  [][]float64   // by home: frame after frame, a value per series
	rate    int           // frames a second
	making  time.Duration // CPU time of generating
	minutes int
}

func profileOf(name string) (seriestest.Profile, error) {
	for _, p := range []seriestest.Profile{seriestest.Sparse, seriestest.Noisy3} {
		if p.String() == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("no profile %q", name)
}

func newHomes(profile seriestest.Profile, n, rate int) *homes {
	h := &homes{rate: rate}
	for i := range n {
		h.homes = append(h.homes, seriestest.New(profile, uint64(i+1), links))
		h.frames = append(h.frames, make([]float64, flushSeconds*rate*columnsOfHome))
	}
	return h
}

// minute generates the next minute of all homes.
func (h *homes) minute() {
	begin := cpuTime()
	for i, home := range h.homes {
		for k := 0; k < len(h.frames[i]); k += columnsOfHome {
			home.Next(h.frames[i][k : k+columnsOfHome])
		}
	}
	h.minutes++
	h.making += cpuTime() - begin
}

// secondOf returns the stored values of a second of two frames: the largest intensity,
// in steps of 0.001, below 0.2 in steps of 0.01 as the product keeps them, and the share of frames with motion.
func secondOf(a, b float64) (intensity, density float64) {
	for _, v := range []float64{a, b} {
		if v >= 0.0005 {
			density += 0.5
		}
	}
	most := max(a, b)
	if most < 0.2 {
		return math.Round(most*100) / 100, density
	}
	return math.Round(most*1000) / 1000, density
}

// storeRole is the product's store with a simulated clock.
type storeRole struct {
	*homes
	db      *store.DB
	samples *store.Samples
	ids     []motion.NetworkID
	values  [][]store.Value
	text    []byte // of the last answer
	copied  []byte // the same
	now     time.Time
	began   time.Duration // CPU time before the first minute
}

// newStoreRole opens a database: directory, profile, frames a second, first second.
func newStoreRole(args []string) (role, error) {
	profile, err := profileOf(args[1])
	if err != nil {
		return nil, err
	}
	rate, err := strconv.Atoi(args[2])
	if err != nil {
		return nil, err
	}
	first, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return nil, err
	}
	r := &storeRole{homes: newHomes(profile, networks, rate), now: time.Unix(first, 0)}
	path := filepath.Join(args[0], "sensegate.db")
	if r.db, err = store.Open(store.Options{Path: path, Now: func() time.Time { return r.now }, Retention: store.DefaultRetention()}); err != nil {
		return nil, err
	}
	if r.samples, err = store.OpenSamples(context.Background(), r.db); err != nil {
		return nil, errors.Join(err, r.db.Close())
	}
	if err := r.db.Update(context.Background(), r.furnish); err != nil {
		return nil, errors.Join(err, r.db.Close())
	}
	r.began = cpuTime()
	return r, nil
}

// furnish creates the networks.
func (r *storeRole) furnish(tx *store.Tx) error {
	for i, home := range r.homes.homes {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprintf("guardian-%d", i)})
		if err != nil {
			return err
		}
		var values []store.Value
		for _, id := range home.IDs() {
			values = append(values, store.Value{ID: id})
		}
		r.ids, r.values = append(r.ids, n.ID), append(r.values, values)
	}
	return nil
}

func (r *storeRole) do(what string, n int) (map[string]float64, error) {
	switch what {
	case "live":
		return r.live(n)
	case "size":
		return r.size()
	case "decode":
		return r.decode()
	case "answer":
		return r.answer(n)
	case "encode":
		return r.encode()
	case "week":
		return r.week(int64(n))
	}
	return nil, fmt.Errorf("no such question: %s", what)
}

// size returns the bytes of the file, those of its pages with resolutions that are kept for longer than nine days and
// so grow on the ninth as on each before, those of its pages with seconds, and those of all pages that are in use.
func (r *storeRole) size() (map[string]float64, error) {
	info, err := os.Stat(r.db.Path())
	if err != nil {
		return nil, err
	}
	layout, err := r.db.Layout(context.Background())
	if err != nil {
		return nil, err
	}
	filling, seconds := 0, 0
	for _, bucket := range layout.Buckets {
		switch bucket.Name {
		case "samples_60s", "samples_900s":
			filling += bucket.Pages * layout.PageSize
		case "samples_1s":
			seconds = bucket.Pages * layout.PageSize
		}
	}
	return map[string]float64{
		"bytes": float64(info.Size()), "filling": float64(filling),
		"seconds": float64(seconds), "used": float64((layout.Pages - int64(layout.FreePages)) * int64(layout.PageSize)),
	}, nil
}

// live stores seconds of motion as the appliance does, and returns the CPU time since
// the start without that of generating the motion.
func (r *storeRole) live(seconds int) (map[string]float64, error) {
	for range seconds / flushSeconds {
		r.minute()
		for i := range r.ids {
			r.add(i)
		}
		r.now = r.now.Add(flushSeconds * time.Second)
		if err := r.db.Update(context.Background(), r.samples.Flush); err != nil {
			return nil, err
		}
	}
	return map[string]float64{"cpu": float64(cpuTime() - r.began - r.making), "rows": float64(r.minutes * flushSeconds * networks * columnsOfHome)}, nil
}

// add adds the minute of home i, frame by frame.
func (r *storeRole) add(i int) {
	values, begin := r.values[i], float64(r.now.Unix())
	for step := range flushSeconds * r.rate {
		for k := range values {
			values[k].Value = r.frames[i][step*columnsOfHome+k]
		}
		r.samples.Add(r.ids[i], motion.Time(begin+float64(step)/float64(r.rate)), values)
	}
}

// lastDay returns the query of the first network's last day at 1 s.
func (r *storeRole) lastDay() series.Query {
	now := r.now.Unix()
	return series.Query{Series: series.Network, Measure: series.Intensity, From: now - daySeconds, To: now, Bucket: 1}
}

func (r *storeRole) set(q series.Query) (*series.Set, error) {
	return r.samples.Set(context.Background(), r.ids[0], q.From, q.To, q.Bucket, q.Series)
}

// decode reads the last day and decodes it; only the decoding is timed.
func (r *storeRole) decode() (map[string]float64, error) {
	q := r.lastDay()
	set, err := r.set(q)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	points, err := set.Points(q)
	took := time.Since(begin)
	if err == nil && points.Len() != daySeconds {
		err = fmt.Errorf("%d points of a day", points.Len())
	}
	return map[string]float64{"ms": ms(took)}, err
}

// answer writes the answer of the last day from the disk, and copies it, n times each.
func (r *storeRole) answer(n int) (map[string]float64, error) {
	q := r.lastDay()
	var ours, copying []float64
	for range n {
		begin := time.Now()
		set, err := r.set(q)
		if err != nil {
			return nil, err
		}
		if r.text, _, err = set.AppendJSON(r.text[:0], q); err != nil {
			return nil, err
		}
		ours = append(ours, ms(time.Since(begin)))
		r.copied = append(r.copied[:0], r.text...)
		copying = append(copying, copyTime(r.copied, r.text))
	}
	return map[string]float64{"ms": median(ours), "copy": median(copying), "bytes": float64(len(r.text))}, nil
}

// copyTime returns the mean time of copying data into memory that was used before, in ms.
func copyTime(into, data []byte) float64 {
	const times = 20
	begin := time.Now()
	for range times {
		copy(into, data)
	}
	return ms(time.Since(begin)) / times
}

// encode decodes the last day and encodes it with encoding/json.
func (r *storeRole) encode() (map[string]float64, error) {
	q := r.lastDay()
	begin := time.Now()
	set, err := r.set(q)
	if err != nil {
		return nil, err
	}
	points, err := set.Points(q)
	if err != nil {
		return nil, err
	}
	list := make([][2]any, points.Len())
	for i := range list {
		value, ts, ok := points.At(i)
		if list[i][1] = ts; ok {
			list[i][0] = value
		}
	}
	_, err = json.Marshal(list)
	return map[string]float64{"ms": ms(time.Since(begin))}, err
}

// week writes the answer of the first network's last week in buckets, from the disk, and again at once; where an
// answer has been written before, as the product does.
func (r *storeRole) week(bucket int64) (map[string]float64, error) {
	now := r.now.Unix()
	q := series.Query{Series: series.Network, Measure: series.Intensity, From: now - 7*daySeconds + 600, To: now, Bucket: bucket}
	return twice(func() error {
		set, err := r.set(q)
		if err != nil {
			return err
		}
		text, effective, err := set.AppendJSON(r.text[:0], q)
		r.text = text
		if err == nil && effective != bucket {
			err = fmt.Errorf("buckets of %d s", effective)
		}
		return err
	})
}

// twice measures fn, and again at once, with caches warm and the core awake.
func twice(fn func() error) (map[string]float64, error) {
	took := map[string]float64{}
	for _, of := range []string{"ms", "again"} {
		begin := time.Now()
		if err := fn(); err != nil {
			return nil, err
		}
		took[of] = ms(time.Since(begin))
	}
	return took, nil
}

func (r *storeRole) close() error { return r.db.Close() }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
