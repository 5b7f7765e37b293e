package alert

import (
	"time"

	"github.com/teambition/rrule-go"
)

// forward returns option moved to start near a wall-clock time, at most there, by
// whole intervals: the occurrences from then on stay the same, and those before
// need not be walked through. A rule with COUNT has to be counted from its start.
func forward(option rrule.ROption, to time.Time) rrule.ROption {
	start := option.Dtstart
	if option.Count > 0 || !start.Before(to) {
		return option
	}
	// The new start has the old time of day: what it leaves out is before that, on
	// its first day, and so it must lie a day back.
	to = to.AddDate(0, 0, -1)
	option = explicit(option)
	hours := int((to.Unix() - start.Unix()) / 3600) // a time.Duration ends after 292 years
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

// whole returns the largest multiple of interval that is not above n, at least 0.
func whole(n, interval int) int { return max(0, n) / interval * interval }

// later returns moved, unless start was moved by nothing.
func later(start, moved time.Time, by int) time.Time {
	if by == 0 {
		return start
	}
	return moved
}

// explicit writes down the day that a yearly or monthly rule takes from its
// DTSTART.
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
