package insight

// Typical is what an hour of the week is usually like: percent of minutes in
// motion, 0..100, unknown when no day has that hour.
type Typical struct {
	Median Value `json:"median"`
	P10    Value `json:"p10"`
	P90    Value `json:"p90"`
	Days   int   `json:"days"` // that the figures rest on
}

// Profile is the week of a network, by time.Weekday (Sunday is 0) and hour
// (lm1.md 7).
type Profile [7][24]Typical

// ProfileOf returns the profile of the given days, in any order.
func ProfileOf(days []Day) Profile {
	var p Profile
	for weekday := range p {
		for hour := range p[weekday] {
			var values []Value
			for _, d := range days {
				if int(d.Date.Weekday()) == weekday {
					values = append(values, d.Hours[hour])
				}
			}
			values = known(values)
			p[weekday][hour] = Typical{
				Median: percentile(values, 50).round(2),
				P10:    percentile(values, 10).round(2),
				P90:    percentile(values, 90).round(2),
				Days:   len(values),
			}
		}
	}
	return p
}

// Comparison says whether there was more or less activity than usual here.
type Comparison string

// The comparisons. Less is below the 5th, More above the 95th percentile.
const (
	Incomparable Comparison = "unknown"
	Less         Comparison = "less"
	Usual        Comparison = "usual"
	More         Comparison = "more"
)

// minPast is the number of days that a comparison needs (lm1.md 7).
const minPast = 14

// DayComparison is a day held against others.
type DayComparison struct {
	Day   Comparison     `json:"day"` // over the hours that are known of it: the day so far
	Hours [24]Comparison `json:"hours"`
}

// Compare holds day against those of past that are of its kind, weekend (Saturday,
// Sunday) or not, itself left out. What fewer than 14 of them tell is "unknown".
func Compare(day Day, past []Day) DayComparison {
	var same []Day
	for _, d := range past {
		if d.Date != day.Date && d.Date.weekend() == day.Date.weekend() {
			same = append(same, d)
		}
	}
	var out DayComparison
	values := make([]Value, len(same))
	for hour, v := range day.Hours {
		for i, d := range same {
			values[i] = d.Hours[hour]
		}
		out.Hours[hour] = compare(v, known(values))
	}
	for i, d := range same {
		values[i] = d.meanOf(day)
	}
	out.Day = compare(mean(day.Hours[:]), known(values))
	return out
}

// compare holds v against sorted, known values.
func compare(v Value, sorted []Value) Comparison {
	switch {
	case !v.Known() || len(sorted) < minPast:
		return Incomparable
	case v < percentile(sorted, 5):
		return Less
	case v > percentile(sorted, 95):
		return More
	}
	return Usual
}

// meanOf returns the mean of d over the hours that are known of day; unknown when
// d knows less than half of them.
func (d Day) meanOf(day Day) Value {
	asked := 0
	for hour, v := range day.Hours {
		if v.Known() {
			asked++
		} else {
			d.Hours[hour] = Unknown()
		}
	}
	if 2*len(known(d.Hours[:])) < asked {
		return Unknown()
	}
	return mean(d.Hours[:])
}
