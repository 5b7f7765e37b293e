package insight

import (
	"fmt"
	"sort"
	"time"
)

const (
	minuteS = 60
	hourS   = 3600
	dayS    = 86400
)

// Date is a calendar day, counted from 1970-01-01: d+1 is the day after d. Its
// text form is "2025-11-24".
type Date int32

// ParseDate reads "2025-11-24".
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, fmt.Errorf("date %.32q: want a day such as 2025-11-24", text)
	}
	return DateOf(t.Unix(), time.UTC), nil
}

// DateOf returns the day in zone of second ts since the epoch.
func DateOf(ts int64, zone *time.Location) Date {
	return Date(floorTo(wall(ts, zone), dayS) / dayS)
}

// wall returns the local time of zone at second ts, in seconds since local 1970-01-01 00:00.
func wall(ts int64, zone *time.Location) int64 {
	_, offset := time.Unix(ts, 0).In(zone).Zone()
	return ts + int64(offset)
}

// String returns the text form.
func (d Date) String() string { return d.at(0, 0, time.UTC).Format(time.DateOnly) }

// MarshalText returns the text form.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts what ParseDate accepts.
func (d *Date) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDate(string(text))
	return err
}

// Start returns the first second of the day in zone, since the epoch. It is not 00:00 where the
// clock skips midnight (America/Santiago), and the first of two 00:00 where midnight repeats
// (America/Havana). A day that the zone skipped (Pacific/Apia, 2011-12-30) starts with the next.
func (d Date) Start(zone *time.Location) int64 {
	const reach = 26 * hourS // no zone was ever further from UTC
	first := int64(d)*dayS - reach
	return first + int64(sort.Search(2*reach, func(i int) bool { return DateOf(first+int64(i), zone) >= d }))
}

// at returns the time at which the clock of zone shows hour and minute on day d; if the clock
// skips it, a time that is off by the skip.
func (d Date) at(hour, minute int, zone *time.Location) time.Time {
	return time.Date(1970, time.January, 1+int(d), hour, minute, 0, 0, zone)
}

// floorTo returns the greatest multiple of unit that is not above ts.
func floorTo(ts, unit int64) int64 {
	rest := ts % unit
	if rest < 0 {
		rest += unit
	}
	return ts - rest
}
