package insight_test

import (
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion/insight"
	"sensegate/motion/series"
)

func TestDayIsThePercentOfMinutesInMotion(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	s := record(t, series.FiveSeconds, base-86400, base+86400, spans(t, toronto, silent,
		span{"2025-11-23 06:00", "2025-11-23 16:00", still},
		span{"2025-11-23 07:00", "2025-11-23 07:59", moving}, // 59 of 600 minutes
		span{"2025-11-24 00:00", "2025-11-25 00:00", still},
		span{"2025-11-24 12:00", "2025-11-24 18:00", moving},
	))
	days, err := insight.Days(s, date(t, "2025-11-22"), date(t, "2025-11-25"), toronto)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"date":"2025-11-23","percent_active":9.83,"ts":1763874000},{"date":"2025-11-24","percent_active":25,"ts":1763960400}]`
	if got := asJSON(t, days); got != want {
		t.Errorf("days = %s, want %s", got, want)
	}
	for hour, want := range map[int]string{5: "null", 6: "0", 7: "98.33", 15: "0", 16: "null"} {
		if got := asJSON(t, days[0].Hours[hour]); got != want {
			t.Errorf("hour %d = %s, want %s", hour, got, want)
		}
	}
}

func TestMinuteNeedsMoreThanATenthOfMotion(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		seconds int64 // of motion in each minute
		want    float64
	}{
		{"no motion", 0, 0},
		{"a tenth", 6, 0},
		{"more than a tenth", 7, 100},
		{"all of it", 60, 100},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := record(t, series.Second, base, base+1200, func(ts int64) float64 {
				if ts%60 < c.seconds {
					return moving
				}
				return still
			})
			days, err := insight.Days(s, date(t, "2025-11-24"), date(t, "2025-11-24"), zone(t, "America/Toronto"))
			if err != nil || len(days) != 1 || days[0].PercentActive != c.want {
				t.Errorf("days = %+v, %v, want one of %v %%", days, err, c.want)
			}
		})
	}
}

func TestHoursFollowTheClocks(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	cases := []struct {
		name, date string
		from       int64 // motion for half an hour from here on
		hour       int
		want       string
	}{
		{"clocks forward skip an hour", "2025-03-09", at(t, toronto, "2025-03-09 03:00"), 2, "null"},
		{"and go on after it", "2025-03-09", at(t, toronto, "2025-03-09 03:00"), 3, "50"},
		{"clocks back make one hour of two", "2025-11-02", at(t, toronto, "2025-11-02 00:00") + 2*3600, 1, "25"},
		{"and go on after it", "2025-11-02", at(t, toronto, "2025-11-02 02:00"), 2, "50"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := date(t, c.date)
			s := record(t, series.FiveSeconds, d.Start(toronto), (d + 1).Start(toronto), func(ts int64) float64 {
				if ts >= c.from && ts < c.from+1800 {
					return moving
				}
				return still
			})
			days, err := insight.Days(s, d, d, toronto)
			if err != nil || len(days) != 1 {
				t.Fatalf("days = %v, %v", days, err)
			}
			if got := asJSON(t, days[0].Hours[c.hour]); got != c.want {
				t.Errorf("hour %d = %s, want %s", c.hour, got, c.want)
			}
		})
	}
}

// TestMissingDataIsNeverQuiet takes data away and checks that a figure either
// stays within its bounds or is left out.
func TestMissingDataIsNeverQuiet(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	d := date(t, "2025-11-24")
	rapid.Check(t, func(r *rapid.T) {
		keep := rapid.SliceOfN(rapid.Bool(), 24, 24).Draw(r, "hours with data")
		all := rapid.SampledFrom([]float64{still, moving}).Draw(r, "does")
		s := record(t, series.FiveSeconds, base, base+86400, func(ts int64) float64 {
			if !keep[(ts-base)/3600] {
				return silent
			}
			return all
		})
		days, err := insight.Days(s, d, d, toronto)
		if err != nil {
			r.Fatal(err)
		}
		kept := 0
		for hour, k := range keep {
			if k {
				kept++
			}
			if len(days) > 0 && days[0].Hours[hour].Known() != k {
				r.Fatalf("hour %d = %v, kept: %v", hour, days[0].Hours[hour], k)
			}
		}
		if len(days) != min(kept, 1) {
			r.Fatalf("%d hours with data are %d days", kept, len(days))
		}
		if kept > 0 && days[0].PercentActive != 200*all {
			r.Fatalf("percent = %v, want %v whatever is missing", days[0].PercentActive, 200*all)
		}
	})
}

func TestWarmUpTakesTwoToFourHours(t *testing.T) {
	t.Parallel()
	const first = base + 17
	cases := []struct {
		name  string
		does  home
		hours float64
		want  bool
	}{
		{"one hour", func(int64) float64 { return still }, 1, false},
		{"just under two hours", func(int64) float64 { return still }, 1.99, false},
		{"two hours of data", func(int64) float64 { return still }, 2, true},
		{"three hours with half of the minutes", every(600), 3, false},
		{"nearly four hours with half of the minutes", every(600), 3.99, false},
		{"nearly four hours with five minutes in six", func(ts int64) float64 {
			if ts/300%6 == 0 {
				return silent
			}
			return still
		}, 3, true},
		{"four hours in any case", every(600), 4, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			now := first + int64(c.hours*3600)
			s := record(t, series.Second, first, now, c.does)
			if got, err := insight.WarmedUp(s, first, now); err != nil || got != c.want {
				t.Errorf("WarmedUp after %v h = %v, %v, want %v", c.hours, got, err, c.want)
			}
		})
	}
}

// every returns a home that reports in every second stretch of seconds only, not
// in the first half an hour, but at first.
func every(seconds int64) home {
	return func(ts int64) float64 {
		if second := ts - base; second > 60 && (second < 1800 || second/seconds%2 == 0) {
			return silent
		}
		return still
	}
}

func TestFirstSampleIsFound(t *testing.T) {
	t.Parallel()
	s := record(t, series.Second, base+12345, base+20000, func(int64) float64 { return still })
	if ts, found, err := insight.First(s, base, base+86400); ts != base+12345 || !found || err != nil {
		t.Errorf("First = %d, %v, %v, want %d", ts, found, err, base+12345)
	}
	if ts, found, err := insight.First(s, base+13003, base+86400); ts != base+13003 || !found || err != nil {
		t.Errorf("First from the middle = %d, %v, %v, want %d", ts, found, err, base+13003)
	}
	if _, found, err := insight.First(s, base, base+12345); found || err != nil {
		t.Errorf("First before all data: %v, %v", found, err)
	}
}
