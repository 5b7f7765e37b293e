package insight_test

import (
	"testing"
	"time"

	"sensegate/motion/insight"
)

// week returns n days from 2025-09-01, a Monday, on. On day i hour 8 is i %
// active, hour 9 always 50 %, all else unknown.
func week(t testing.TB, n int) []insight.Day {
	t.Helper()
	days := make([]insight.Day, n)
	for i := range days {
		days[i] = dayOf(date(t, "2025-09-01")+insight.Date(i), insight.Value(i))
	}
	return days
}

func dayOf(d insight.Date, eight insight.Value) insight.Day {
	day := insight.Day{Date: d}
	for hour := range day.Hours {
		day.Hours[hour] = insight.Unknown()
	}
	day.Hours[8], day.Hours[9] = eight, 50
	return day
}

func TestProfileIsPerHourOfTheWeek(t *testing.T) {
	t.Parallel()
	p := insight.ProfileOf(week(t, 28)) // Mondays: 0, 7, 14, 21
	cases := []struct {
		name    string
		weekday time.Weekday
		hour    int
		want    string
	}{
		{"Monday at eight", time.Monday, 8, `{"median":10.5,"p10":2.1,"p90":18.9,"days":4}`},
		{"Sunday at eight", time.Sunday, 8, `{"median":16.5,"p10":8.1,"p90":24.9,"days":4}`},
		{"an hour without data", time.Monday, 3, `{"median":null,"p10":null,"p90":null,"days":0}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := asJSON(t, p[c.weekday][c.hour]); got != c.want {
				t.Errorf("profile = %s, want %s", got, c.want)
			}
		})
	}
}

func TestUnusualIsOutsideOfFourteenDaysOfTheSameKind(t *testing.T) {
	t.Parallel()
	monday, saturday := date(t, "2025-11-24"), date(t, "2025-11-22")
	cases := []struct {
		name  string
		past  int // days; 18 hold 14 working days, 47 hold 14 of weekends
		day   insight.Date
		eight insight.Value
		want  insight.Comparison
	}{
		{"thirteen working days are too few", 17, monday, 99, insight.Incomparable},
		{"more", 18, monday, 99, insight.More},
		{"within", 18, monday, 9, insight.Usual},
		{"less", 18, monday, 0, insight.Less},
		{"weekends are not compared with them", 18, saturday, 99, insight.Incomparable},
		{"fourteen days of weekends", 49, saturday, 99, insight.More},
		{"unknown", 49, monday, insight.Unknown(), insight.Incomparable},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := insight.Compare(dayOf(c.day, c.eight), week(t, c.past))
			if got.Hours[8] != c.want {
				t.Errorf("hour = %q, want %q", got.Hours[8], c.want)
			}
			if got.Hours[3] != insight.Incomparable {
				t.Errorf("an hour without data = %q", got.Hours[3])
			}
			if c.eight.Known() && got.Day != c.want {
				t.Errorf("day = %q, want %q", got.Day, c.want)
			}
		})
	}
}

func TestDayIsNotComparedWithItself(t *testing.T) {
	t.Parallel()
	days := week(t, 18)
	if got := insight.Compare(days[0], days); got.Day != insight.Incomparable {
		t.Errorf("13 other days: %q, want %q", got.Day, insight.Incomparable)
	}
}

func TestDaySoFarIsComparedWithTheSameHours(t *testing.T) {
	t.Parallel()
	past := week(t, 18)
	for i := range past {
		past[i].Hours[18] = 100 // every evening
	}
	morning := dayOf(date(t, "2025-11-24"), 9)
	if got := insight.Compare(morning, past); got.Day != insight.Usual {
		t.Errorf("a usual morning is %q", got.Day)
	}
	for hour := 10; hour < 20; hour++ {
		morning.Hours[hour] = 0
	}
	if got := insight.Compare(morning, past); got.Day != insight.Incomparable {
		t.Errorf("against days that know 3 of its 12 hours it is %q", got.Day)
	}
}
