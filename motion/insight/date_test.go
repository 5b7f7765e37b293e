package insight_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sensegate/motion/insight"
)

func TestDayStartsAndLengths(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, zone, date string
		start            string // RFC 3339
		hours            float64
	}{
		{"ordinary day", "America/Toronto", "2025-11-24", "2025-11-24T00:00:00-05:00", 24},
		{"clocks forward", "America/Toronto", "2025-03-09", "2025-03-09T00:00:00-05:00", 23},
		{"clocks back", "America/Toronto", "2025-11-02", "2025-11-02T00:00:00-04:00", 25},
		{"midnight is skipped", "America/Santiago", "2025-09-07", "2025-09-07T01:00:00-03:00", 23},
		{"clocks back at midnight", "America/Santiago", "2025-04-05", "2025-04-05T00:00:00-03:00", 25},
		{"midnight comes twice", "America/Havana", "2025-11-02", "2025-11-02T00:00:00-04:00", 25},
		{"half an hour back", "Australia/Lord_Howe", "2025-04-06", "2025-04-06T00:00:00+11:00", 24.5},
		{"quarter-hour offset", "Asia/Kathmandu", "2025-11-24", "2025-11-24T00:00:00+05:45", 24},
		{"farthest ahead", "Pacific/Kiritimati", "2025-11-24", "2025-11-24T00:00:00+14:00", 24},
		{"a day that was left out", "Pacific/Apia", "2011-12-30", "2011-12-31T00:00:00+14:00", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			z, d := zone(t, c.zone), date(t, c.date)
			if got := time.Unix(d.Start(z), 0).In(z).Format(time.RFC3339); got != c.start {
				t.Errorf("%s in %s starts at %s, want %s", d, c.zone, got, c.start)
			}
			if got := float64((d+1).Start(z)-d.Start(z)) / 3600; got != c.hours {
				t.Errorf("%s in %s lasts %v h, want %v", d, c.zone, got, c.hours)
			}
		})
	}
}

func TestDaysCoverTimeWithoutHoleOrOverlap(t *testing.T) {
	t.Parallel()
	names := []string{"UTC", "America/Toronto", "America/Santiago", "America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "Africa/Cairo"}
	rapid.Check(t, func(r *rapid.T) {
		z := zone(t, rapid.SampledFrom(names).Draw(r, "zone"))
		ts := rapid.Int64Range(1_600_000_000, 2_000_000_000).Draw(r, "ts")
		d := insight.DateOf(ts, z)
		if start, end := d.Start(z), (d + 1).Start(z); ts < start || ts >= end {
			r.Fatalf("%d is on %s, which is [%d,%d)", ts, d, start, end)
		}
		if insight.DateOf(d.Start(z)-1, z) != d-1 {
			r.Fatalf("the second before %s is not the day before", d)
		}
	})
}

func TestDateTextIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := insight.Date(rapid.Int32Range(0, 80_000).Draw(r, "date"))
		var back insight.Date
		if err := json.Unmarshal([]byte(asJSON(t, d)), &back); err != nil || back != d {
			r.Fatalf("%s was read back as %s, %v", d, back, err)
		}
	})
}

func TestDateThatIsNoDayIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "2025-02-29", "2025-1-1", "24.11.2025", "2025-11-24T00:00:00Z"} {
		if d, err := insight.ParseDate(text); err == nil {
			t.Errorf("ParseDate(%q) = %s, want an error", text, d)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	for _, text := range []string{"2025-11-24", "0000-00-00", "9999-12-31", "0001-01-01"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := insight.ParseDate(text); err == nil && d.String() != text {
			t.Errorf("ParseDate(%q) = %s", text, d)
		}
	})
}
