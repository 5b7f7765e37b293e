package insight

import (
	"fmt"
	"time"

	"sensegate/motion/series"
)

const (
	bucketS = 900 // of Activity
	sampleS = 5   // Activity counts the share of these in motion
)

// Activity is the activity level of the network per quarter of an hour (payloads.md 4.9,
// flattened): the share, 0..1 with five decimals, of the bucket's 5 s samples with motion; null
// without data.
type Activity struct {
	FirstBucket int64   `json:"first_bucket"` // s since the epoch, a multiple of Interval
	Interval    int64   `json:"interval"`     // 900 s
	Data        []Value `json:"data"`
}

// DailyActivity is Activity split at local midnight (payloads.md 4.9).
type DailyActivity struct {
	FirstBucket int64         `json:"first_bucket"`
	Interval    int64         `json:"interval"`
	Data        []ActivityDay `json:"data"`
}

// ActivityDay is the part of Activity that lies in one local day.
type ActivityDay struct {
	Date   Date    `json:"date"`
	TS     int64   `json:"ts"` // start of the first of Values: local midnight, or From of the query if that is later
	Values []Value `json:"values"`
}

// ActivityOf returns the activity of [from, to), in seconds since the epoch, in buckets that
// start at multiples of 900 s. In the first and last bucket only samples inside [from, to)
// count. The caller limits (to−from)/900. The error is series.ErrDamaged.
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

// tally counts samples and those in motion.
type tally struct{ motion, samples int }

// load is a number of samples and the part of them in motion.
type load struct{ motion, samples float64 }

// count counts the samples of [from, to) in the buckets of the 24 h from second day on. Coarser
// samples count with their part in motion.
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

// Days splits a at the midnights of zone. A bucket belongs to the day in which it starts.
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
