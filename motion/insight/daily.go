package insight

import (
	"time"

	"sensegate/motion/series"
)

// Day is the activity of a local day (payloads.md 4.9).
type Day struct {
	Date          Date      `json:"date"`
	PercentActive float64   `json:"percent_active"` // 0..100, two decimals: share in motion of the minutes with data
	TS            int64     `json:"ts"`             // first second of the day
	Hours         [24]Value `json:"-"`              // the same per hour on the local clock, see hourly
}

// Days returns the days from first to last, inclusive. It omits days without data; of the current
// day the minutes so far count. The caller limits the number of days and returns nothing during
// the warm-up (WarmedUp). The error is series.ErrDamaged.
//
// The percentage of a day (payloads.md 4.9) is the share of minutes with motion density above
// 0.1 (lm1.md 7).
func Days(s *series.Set, first, last Date, zone *time.Location) ([]Day, error) {
	days := []Day{}
	for date := first; date <= last; date++ {
		start, end := date.Start(zone), (date + 1).Start(zone)
		if start < 0 || start == end {
			continue
		}
		from := floorTo(start, minuteS)
		minutes, err := states(s, from, end)
		if err != nil {
			return nil, err
		}
		var total tally
		for _, m := range minutes {
			total.add(m)
		}
		if total.samples == 0 {
			continue
		}
		days = append(days, Day{
			Date: date, TS: start,
			PercentActive: float64(total.percent()),
			Hours:         hourly(minutes, from, zone),
		})
	}
	return days, nil
}

// add counts a minute.
func (t *tally) add(m state) {
	if m != unknown {
		t.samples++
	}
	if m == active {
		t.motion++
	}
}

// percent returns the share in motion in percent, two decimals.
func (t tally) percent() Value { return ratio(t.motion, t.samples, 100).round(2) }

// hourly returns the percentage of minutes in motion per hour on the clock of zone. An hour that
// the clock repeats has 120 minutes; an hour that it skips, or with data for less than half, is
// unknown.
func hourly(minutes []state, from int64, zone *time.Location) (hours [24]Value) {
	var tallies [24]tally
	var length [24]int
	for i, m := range minutes {
		hour := (wall(from+int64(i)*minuteS, zone)%dayS + dayS) % dayS / hourS
		tallies[hour].add(m)
		length[hour]++
	}
	for h, t := range tallies {
		hours[h] = Unknown()
		if t.samples > 0 && 2*t.samples >= length[h] {
			hours[h] = t.percent()
		}
	}
	return hours
}
