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

// DateOf returns the day that second ts, since the epoch, lies in.
func DateOf(ts int64, zone *time.Location) Date {
	return Date(floorTo(wall(ts, zone), dayS) / dayS)
}

// wall returns what the clocks of zone show at second ts, in seconds since they
// showed 1970-01-01 00:00.
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

// Start returns the first second of the day in zone. It is not 00:00 where
// clocks jump over midnight (America/Santiago), and it is the first of two 00:00
// where midnight comes twice (America/Havana). A day that a zone left out
// (Pacific/Apia, 2011-12-30) starts where the next one does.
func (d Date) Start(zone *time.Location) int64 {
	const reach = 26 * hourS // no zone was ever farther from UTC
	first := int64(d)*dayS - reach
	return first + int64(sort.Search(2*reach, func(i int) bool { return DateOf(first+int64(i), zone) >= d }))
}

// at returns the time at which the clocks of zone show hour and minute on day d;
// where they jump over it, one that is off by the jump.
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
