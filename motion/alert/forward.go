package alert

import (
	"time"

	"github.com/teambition/rrule-go"
)

// forward returns option with the start moved by whole intervals to near a wall-clock time, at
// most to it: later occurrences stay the same, and the library need not walk through earlier
// ones. A rule with COUNT must be counted from its start.
func forward(option rrule.ROption, to time.Time) rrule.ROption {
	start := option.Dtstart
	if option.Count > 0 || !start.Before(to) {
		return option
	}
	// The new start keeps the time of day and skips what is before it on its first day, so it
	// must be a day earlier.
	to = to.AddDate(0, 0, -1)
	option = explicit(option)
	hours := int((to.Unix() - start.Unix()) / 3600) // a time.Duration overflows after 292 years
	switch option.Freq {
	case rrule.YEARLY:
		years := whole(to.Year()-start.Year(), option.Interval)
		option.Dtstart = later(start, start.AddDate(0, 0, 1-start.YearDay()).AddDate(years, 0, 0), years)
	case rrule.MONTHLY:
		months := whole(12*(to.Year()-start.Year())+int(to.Month()-start.Month()), option.Interval)
		option.Dtstart = later(start, start.AddDate(0, 0, 1-start.Day()).AddDate(0, months, 0), months)
	case rrule.WEEKLY:
		option.Dtstart = start.AddDate(0, 0, 7*whole(hours/(7*24), option.Interval))
	case rrule.DAILY:
		option.Dtstart = start.AddDate(0, 0, whole(hours/24, option.Interval))
	case rrule.HOURLY:
		hours = whole(hours, option.Interval)
		option.Dtstart = start.AddDate(0, 0, hours/24).Add(time.Duration(hours%24) * time.Hour)
	}
	return option
}

// whole returns the largest multiple of interval that is not above n, and 0 for negative n.
func whole(n, interval int) int { return max(0, n) / interval * interval }

// later returns moved, or start if it is moved by 0.
func later(start, moved time.Time, by int) time.Time {
	if by == 0 {
		return start
	}
	return moved
}

// explicit sets the day that a yearly or monthly rule takes from its DTSTART.
func explicit(o rrule.ROption) rrule.ROption {
	if len(o.Byweekno)+len(o.Byyearday)+len(o.Bymonthday)+len(o.Byweekday) > 0 {
		return o
	}
	switch {
	case o.Freq == rrule.YEARLY && len(o.Bymonth) == 0:
		o.Bymonth = []int{int(o.Dtstart.Month())}
		fallthrough
	case o.Freq == rrule.YEARLY || o.Freq == rrule.MONTHLY:
		o.Bymonthday = []int{o.Dtstart.Day()}
	}
	return o
}
