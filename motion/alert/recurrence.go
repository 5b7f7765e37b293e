package alert

import (
	"iter"
	"slices"
	"time"

	"github.com/teambition/rrule-go"
)

// Limits of time.
const (
	firstYear = 2000 // of DTSTART
	lastYear  = 2099 // of DTSTART
	horizon   = 10   // greatest number of years ahead of an occurrence
	endYear   = 2380 // nothing occurs from here on: the library's calendar ends
)

// shift moves the years of a rule to the end of the library's calendar. The library searches
// for the next match up to its last year, 9999; because the Gregorian calendar repeats every
// 400 years, weekdays included, a shifted rule means the same, and the search for a rule
// without a match ends after 300 to 400 years instead of 8,000.
const shift = 19 * 400

// maxGap is the longest time that clocks ever skipped: Apia skipped a day in 2011.
const maxGap = 24 * time.Hour

// Recurrence is a parsed rrule of a universal alert: a set of instants in whole seconds. It is
// immutable. Wall-clock times are expanded as floating times and converted one by one (see
// instant), so that "08:00" stays 08:00 across daylight saving; two at the same instant count
// once.
type Recurrence struct {
	option rrule.ROption // floating: wall clock in UTC fields, years shifted; Until unset
	zone   *time.Location
	until  time.Time // last instant; zero = none
}

// begun returns the recurrence as if it had begun before a time: its DTSTART a number of whole weeks
// earlier. One that ends after a number of occurrences, or whose later ones depend on DTSTART's date,
// stays as it is: only those of each day or each week have a past that is sure.
func (r Recurrence) begun(before time.Time) Recurrence {
	o := r.option
	sure := (o.Freq == rrule.DAILY || o.Freq == rrule.WEEKLY) && o.Interval <= 1 && o.Count == 0
	const week = 7 * 24 * time.Hour
	late := o.Dtstart.AddDate(-shift, 0, 0).Sub(before) + week
	if sure && late > 0 {
		r.option.Dtstart = o.Dtstart.AddDate(0, 0, -7*int((late+week-1)/week))
	}
	return r
}

// Zone returns the IANA name of the zone.
func (r Recurrence) Zone() string { return r.zone.String() }

// Next returns the first occurrence after a time, in UTC, and whether there is one within ten
// years of it (or of DTSTART, if that is later).
func (r Recurrence) Next(after time.Time) (time.Time, bool) {
	for t := range r.After(after) {
		return t, true
	}
	return time.Time{}, false
}

// After returns the occurrences after a time, ascending, in UTC, up to ten years after it (or
// after DTSTART, if that is later).
func (r Recurrence) After(after time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		var pending []time.Time // ascending: in a skipped hour later wall times have earlier instants
		for t := range r.instants(after) {
			sure, _ := slices.BinarySearchFunc(pending, t.Add(-maxGap), time.Time.Compare)
			for _, ready := range pending[:sure] {
				if !yield(ready) {
					return
				}
			}
			pending = pending[sure:]
			if at, twice := slices.BinarySearchFunc(pending, t, time.Time.Compare); !twice {
				pending = slices.Insert(pending, at, t)
			}
		}
		for _, ready := range pending {
			if !yield(ready) {
				return
			}
		}
	}
}

// instants returns the instants after a time, in the order of their wall clocks.
func (r Recurrence) instants(after time.Time) iter.Seq[time.Time] {
	if before := time.Date(firstYear-1, time.January, 1, 0, 0, 0, 0, time.UTC); after.Before(before) {
		after = before
	}
	return func(yield func(time.Time) bool) {
		if after.Year() >= endYear {
			return
		}
		next := r.expand(after)
		for wall, more := next(); more; wall, more = next() {
			wall = wall.AddDate(-shift, 0, 0)
			if wall.Add(mostWest).Before(after) {
				continue
			}
			t := instant(wall, r.zone)
			if !t.After(after) || !r.until.IsZero() && t.After(r.until) {
				continue
			}
			if !yield(t) {
				return
			}
		}
	}
}

// expand starts the library at DTSTART or shortly before a time, and ends at the horizon.
func (r Recurrence) expand(after time.Time) rrule.Next {
	end := after.UTC().AddDate(shift+horizon, 0, 0)
	if first := r.option.Dtstart.AddDate(horizon, 0, 0); first.After(end) {
		end = first
	}
	if last := r.until.AddDate(shift, 0, 0).Add(mostEast + maxGap); !r.until.IsZero() && last.Before(end) {
		end = last
	}
	option := forward(r.option, after.UTC().AddDate(shift, 0, 0).Add(-mostEast))
	option.Until = end
	rule, err := rrule.NewRRule(option)
	if err != nil {
		return func() (time.Time, bool) { return time.Time{}, false }
	}
	return rule.Iterator()
}
