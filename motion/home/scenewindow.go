package home

import "time"

// GuardianWindow returns the guardian window that t lies in, and whether there is one
// (payloads.md 5.3: guardian_*). The clocks and the day are those of t's zone; a window
// belongs to the day on which it begins, ends on the next day when it would end before
// its start, and is none when it would end at its start.
func (c SceneConfig) GuardianWindow(t time.Time) (from, to time.Time, in bool) {
	if !c.GuardianEnabled {
		return time.Time{}, time.Time{}, false
	}
	for _, ago := range []int{0, 1} {
		from, to = c.windowOf(t.AddDate(0, 0, -ago))
		if !t.Before(from) && t.Before(to) {
			return from, to, true
		}
	}
	return time.Time{}, time.Time{}, false
}

// windowOf returns the window that begins on a day.
func (c SceneConfig) windowOf(day time.Time) (from, to time.Time) {
	at := func(days int, hours, minutes int32) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day()+days, int(hours), int(minutes), 0, 0, day.Location())
	}
	startHours, startMinutes, endHours, endMinutes := c.WeekdayStartHours, c.WeekdayStartMinutes, c.WeekdayEndHours, c.WeekdayEndMinutes
	if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		startHours, startMinutes, endHours, endMinutes = c.WeekendStartHours, c.WeekendStartMinutes, c.WeekendEndHours, c.WeekendEndMinutes
	}
	days := 0
	if endHours*60+endMinutes < startHours*60+startMinutes {
		days = 1
	}
	return at(0, startHours, startMinutes), at(days, endHours, endMinutes)
}
