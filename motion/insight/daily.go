package insight

import (
	"time"

	"sensegate/motion/series"
)

// Day is how active a local day was (payloads.md 4.9).
type Day struct {
	Date          Date      `json:"date"`
	PercentActive float64   `json:"percent_active"` // 0..100, two decimals: of the minutes with data, those in motion
	TS            int64     `json:"ts"`             // first second of the day
	Hours         [24]Value `json:"-"`              // the same per hour that clocks showed, see hourly
}

// Days returns the days from first to last, both included. A day without data is
// left out; of a day that is not over, the minutes so far count. During the
// warm-up (WarmedUp) the answer is for the caller to leave empty. The number of
// days is for the caller to bound. The error is series.ErrDamaged.
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

// percent returns the share in motion, two decimals.
func (t tally) percent() Value { return ratio(t.motion, t.samples, 100).round(2) }

// hourly returns the percent of minutes in motion per hour that the clocks of
// zone show. An hour that clocks repeat is one of 120 minutes, one that they
// skip is unknown, and so is one of which less than half holds data.
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
