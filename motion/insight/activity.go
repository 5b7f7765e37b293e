package insight

import (
	"fmt"
	"time"

	"sensegate/motion/series"
)

const (
	bucketS = 900 // of Activity
	sampleS = 5   // of which Activity counts the share in motion
)

// Activity is the activity level per quarter of an hour (payloads.md 4.9,
// flattened): the share, 0..1 with five decimals, of the bucket's 5 s samples
// that hold motion; null without data. Network wide.
type Activity struct {
	FirstBucket int64   `json:"first_bucket"` // s since the epoch, a multiple of Interval
	Interval    int64   `json:"interval"`     // 900 s
	Data        []Value `json:"data"`
}

// DailyActivity is Activity cut at local midnight (payloads.md 4.9).
type DailyActivity struct {
	FirstBucket int64         `json:"first_bucket"`
	Interval    int64         `json:"interval"`
	Data        []ActivityDay `json:"data"`
}

// ActivityDay is the part of Activity that lies in one local day.
type ActivityDay struct {
	Date   Date    `json:"date"`
	TS     int64   `json:"ts"` // start of the first of Values: local midnight, unless the question begins later
	Values []Value `json:"values"`
}

// ActivityOf returns the activity of [from, to), in seconds since the epoch, in
// buckets that start at multiples of 900 s. In the first and last bucket only
// samples inside [from, to) count. (to−from)/900 is for the caller to bound. The
// error is series.ErrDamaged.
func ActivityOf(s *series.Set, from, to int64) (Activity, error) {
	from = max(from, 0)
	a := Activity{FirstBucket: floorTo(from, bucketS), Interval: bucketS, Data: []Value{}}
	if to <= from {
		return a, nil
	}
	a.Data = make([]Value, 0, (to-a.FirstBucket+bucketS-1)/bucketS)
	for day := a.FirstBucket; day < to; day += dayS { // bounds the memory
		loads, err := count(s, day, max(day, from), min(day+dayS, to))
		if err != nil {
			return Activity{}, err
		}
		for at := day; at < min(day+dayS, to); at += bucketS {
			t := loads[(at-day)/bucketS]
			a.Data = append(a.Data, ratio(t.motion, t.samples, 1).round(5))
		}
	}
	return a, nil
}

// tally counts samples, and those of them in motion.
type tally struct{ motion, samples int }

// load adds up samples, and the part of them in motion.
type load struct{ motion, samples float64 }

// count adds up the samples of [from, to) in the buckets of the day from second
// day on. Where only coarser samples are kept, each counts with the part of it in
// motion.
func count(s *series.Set, day, from, to int64) (buckets [dayS / bucketS]load, err error) {
	p, err := s.Points(series.Query{Series: series.Network, Measure: series.Density, From: from, To: to, Bucket: sampleS})
	if err != nil {
		return buckets, fmt.Errorf("read activity: %w", err)
	}
	for i := range p.Len() {
		density, ts, ok := p.At(i)
		if !ok {
			continue
		}
		b := &buckets[max(ts-day, 0)/bucketS]
		b.samples++
		switch {
		case p.Bucket > sampleS:
			b.motion += density / 100
		case density > 0:
			b.motion++
		}
	}
	return buckets, nil
}

// Days returns a cut at the midnights of zone. A bucket belongs to the day that
// it starts in.
func (a Activity) Days(zone *time.Location) DailyActivity {
	out := DailyActivity{FirstBucket: a.FirstBucket, Interval: a.Interval, Data: []ActivityDay{}}
	for i := 0; i < len(a.Data); {
		ts := a.FirstBucket + int64(i)*a.Interval
		date := DateOf(ts, zone)
		rest := (date + 1).Start(zone) - ts
		end := min(i+int((rest+a.Interval-1)/a.Interval), len(a.Data))
		out.Data = append(out.Data, ActivityDay{Date: date, TS: ts, Values: a.Data[i:end]})
		i = end
	}
	return out
}
