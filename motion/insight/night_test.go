package insight_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sensegate/motion/insight"
	"sensegate/motion/series"
)

// usualHours is the template of interfaces.md 2.4 no. 1.
func usualHours(z *time.Location) insight.Schedule {
	return insight.Schedule{SleepHour: 23, WakeHour: 7, Zone: z}
}

// nightOf returns the nights that the evening of date begins, told long after.
func nightOf(t testing.TB, s *series.Set, h insight.Schedule, evening string, away ...insight.Absence) []insight.Night {
	t.Helper()
	d := date(t, evening)
	nights, err := insight.Nights(s, h, d, d, (d + 3).Start(h.Zone), away...)
	if err != nil {
		t.Fatal(err)
	}
	return nights
}

func TestNightIsBetweenGoingToBedAndGettingUp(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	asleep := []span{{"2025-11-23 22:53", "2025-11-24 06:28", still}}
	with := func(more ...span) []span { return append(asleep[:1:1], more...) }
	cases := []struct {
		name          string
		spans         []span
		sleep, wake   string // "" = no night
		interruptions int
	}{
		{"one quiet span", asleep, "22:53", "06:28", 0},
		{"three interruptions", with(
			span{"2025-11-24 01:00", "2025-11-24 01:02", moving},
			span{"2025-11-24 03:00", "2025-11-24 03:10", moving},
			span{"2025-11-24 05:00", "2025-11-24 05:02", moving},
		), "22:53", "06:28", 3},
		{"a minute of motion is none", with(span{"2025-11-24 03:00", "2025-11-24 03:01", moving}), "22:53", "06:28", 0},
		{"five seconds of motion are not even an awake minute", with(span{"2025-11-23 23:10", "2025-11-23 23:11", 5}), "22:53", "06:28", 0},
		{"29 quiet minutes in the evening", with(span{"2025-11-23 20:00", "2025-11-23 20:29", still}), "22:53", "06:28", 0},
		{"30 quiet minutes in the evening", with(span{"2025-11-23 20:00", "2025-11-23 20:30", still}), "22:53", "06:28", 0},
		{"30 quiet minutes in the morning", with(span{"2025-11-24 08:00", "2025-11-24 08:30", still}), "22:53", "06:28", 0},
		{"two hours of sitting still in the evening", with(span{"2025-11-23 20:00", "2025-11-23 22:00", still}), "22:53", "06:28", 0},
		{"an empty house in the morning", with(span{"2025-11-24 08:00", "2025-11-24 18:00", still}), "22:53", "06:28", 0},
		{"sat still until late", with(span{"2025-11-23 20:00", "2025-11-23 22:40", still}), "22:53", "06:28", 0},
		{"two interruptions that are close", with(
			span{"2025-11-24 03:00", "2025-11-24 03:03", moving},
			span{"2025-11-24 03:08", "2025-11-24 03:10", moving},
		), "22:53", "06:28", 1},
		{"up for a quarter of an hour", with(span{"2025-11-24 02:00", "2025-11-24 02:15", moving}), "22:53", "06:28", 1},
		{"out until late", with(span{"2025-11-23 12:00", "2025-11-23 21:00", still}), "22:53", "06:28", 0},
		{"gone for the day", with(span{"2025-11-24 08:00", "2025-11-24 18:00", still}), "22:53", "06:28", 0},
		{"an hour without data in the night", with(span{"2025-11-24 02:00", "2025-11-24 03:00", silent}), "22:53", "06:28", 0},
		{"no motion before", with(span{"2025-11-23 12:00", "2025-11-23 22:53", still}), "", "", 0},
		{"no motion after", with(span{"2025-11-24 06:28", "2025-11-24 18:00", still}), "", "", 0},
		{"nobody at home", []span{{"2025-11-23 12:00", "2025-11-24 18:00", still}}, "", "", 0},
		{"a party", nil, "", "", 0},
		{"no data", []span{{"2025-11-23 12:00", "2025-11-24 18:00", silent}}, "", "", 0},
		{"no data while asleep", []span{{"2025-11-23 22:53", "2025-11-24 06:28", silent}}, "", "", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			does := spans(t, toronto, moving, c.spans...)
			s := record(t, series.FiveSeconds, base-12*3600, base+18*3600, func(ts int64) float64 {
				if v := does(ts); v <= 1 {
					return v
				}
				if ts%60 == 0 {
					return moving
				}
				return still
			})
			nights := nightOf(t, s, usualHours(toronto), "2025-11-23")
			if c.sleep == "" {
				if len(nights) != 0 {
					t.Errorf("nights = %+v, want none", nights)
				}
				return
			}
			if len(nights) != 1 {
				t.Fatalf("%d nights, want one", len(nights))
			}
			n := nights[0]
			if got := n.SleepTime.Format("15:04") + " " + n.WakeTime.Format("15:04"); got != c.sleep+" "+c.wake {
				t.Errorf("asleep %s, want %s %s", got, c.sleep, c.wake)
			}
			if n.Interruptions != c.interruptions {
				t.Errorf("%d interruptions, want %d", n.Interruptions, c.interruptions)
			}
		})
	}
}

func TestNightHasTheShapeOfTheContract(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	s := record(t, series.FiveSeconds, base-12*3600, base+18*3600, spans(t, toronto, moving,
		span{"2025-11-23 22:53", "2025-11-24 06:28", still}))
	nights := nightOf(t, s, usualHours(toronto), "2025-11-23")
	want := `[{"hst_interruptions":0,"sleep_time":"2025-11-23T22:53:00-05:00","wake_time":"2025-11-24T06:28:00-05:00","timezone":"America/Toronto","confidence":1}]`
	if got := asJSON(t, nights); got != want {
		t.Errorf("nights = %s, want %s", got, want)
	}
}

func TestNightsFollowTheClocks(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, zone, evening string
		sleep, wake         string // wall times
		hours               float64
	}{
		{"clocks forward", "America/Toronto", "2025-03-08", "2025-03-08T23:00:00-05:00", "2025-03-09T06:00:00-04:00", 6},
		{"clocks back", "America/Toronto", "2025-11-01", "2025-11-01T23:00:00-04:00", "2025-11-02T06:00:00-05:00", 8},
		{"midnight is skipped", "America/Santiago", "2025-09-06", "2025-09-06T23:00:00-04:00", "2025-09-07T06:00:00-03:00", 6},
		{"clocks back at midnight", "America/Santiago", "2025-04-05", "2025-04-05T22:30:00-03:00", "2025-04-06T06:00:00-04:00", 8.5},
		{"half an hour back", "Australia/Lord_Howe", "2025-04-05", "2025-04-05T23:00:00+11:00", "2025-04-06T06:00:00+10:30", 7.5},
		{"UTC", "UTC", "2025-11-23", "2025-11-23T23:00:00Z", "2025-11-24T06:00:00Z", 7},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			z := zone(t, c.zone)
			sleep, err := time.Parse(time.RFC3339, c.sleep)
			if err != nil {
				t.Fatal(err)
			}
			wake, err := time.Parse(time.RFC3339, c.wake)
			if err != nil {
				t.Fatal(err)
			}
			s := record(t, series.FiveSeconds, sleep.Unix()-12*3600, wake.Unix()+12*3600, func(ts int64) float64 {
				if ts >= sleep.Unix() && ts < wake.Unix() {
					return still
				}
				return moving
			})
			nights := nightOf(t, s, usualHours(z), c.evening)
			if len(nights) != 1 {
				t.Fatalf("%d nights, want one", len(nights))
			}
			n := nights[0]
			if got := n.SleepTime.Format(time.RFC3339) + " " + n.WakeTime.Format(time.RFC3339); got != c.sleep+" "+c.wake {
				t.Errorf("asleep %s, want %s %s", got, c.sleep, c.wake)
			}
			if got := n.WakeTime.Sub(n.SleepTime).Hours(); got != c.hours {
				t.Errorf("asleep for %v h, want %v", got, c.hours)
			}
		})
	}
}

func TestWindowOfASchedule(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	cases := []struct {
		name     string
		h        insight.Schedule
		from, to string
	}{
		{"the template", insight.Schedule{SleepHour: 23, WakeHour: 7}, "2025-11-23 19:00", "2025-11-24 11:00"},
		{"to bed after midnight", insight.Schedule{SleepHour: 1, SleepMinute: 30, WakeHour: 9, WakeMinute: 15}, "2025-11-23 21:30", "2025-11-24 13:15"},
		{"asleep by day", insight.Schedule{SleepHour: 9, WakeHour: 16, WakeMinute: 30}, "2025-11-24 05:00", "2025-11-24 20:30"},
		{"in the afternoon", insight.Schedule{SleepHour: 14, WakeHour: 22}, "2025-11-23 10:00", "2025-11-24 02:00"},
		{"the same time", insight.Schedule{SleepHour: 23, WakeHour: 23}, "2025-11-23 19:00", "2025-11-25 03:00"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.h.Zone = toronto
			from, to := c.h.Window(date(t, "2025-11-23"))
			if from != at(t, toronto, c.from) || to != at(t, toronto, c.to) {
				t.Errorf("window = [%s, %s), want [%s, %s)", time.Unix(from, 0).In(toronto), time.Unix(to, 0).In(toronto), c.from, c.to)
			}
		})
	}
}

func TestNightIsToldWhenItsWindowIsOver(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	s := record(t, series.FiveSeconds, base-12*3600, base+18*3600, spans(t, toronto, moving,
		span{"2025-11-23 22:53", "2025-11-24 06:28", still}))
	d := date(t, "2025-11-23")
	for now, want := range map[int64]int{base + 11*3600 - 1: 0, base + 11*3600: 1} {
		nights, err := insight.Nights(s, usualHours(toronto), d, d+1, now)
		if err != nil || len(nights) != want {
			t.Errorf("%d nights at %d, %v, want %d", len(nights), now, err, want)
		}
	}
}

func TestNightThatNothingIsSureOfIsLeftOut(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	asleep := span{"2025-11-23 23:00", "2025-11-24 07:00", still}
	cases := []struct {
		name  string
		spans []span
		told  bool
	}{
		{"a whole night", []span{asleep}, true},
		{"an hour without data", []span{asleep, {"2025-11-24 03:00", "2025-11-24 04:00", silent}}, true},
		{"no data while it goes to bed", []span{asleep, {"2025-11-23 21:30", "2025-11-24 00:30", silent}}, false},
		{"no data while it gets up", []span{asleep, {"2025-11-24 05:30", "2025-11-24 08:30", silent}}, false},
		{"data of less than half of the night", []span{asleep, {"2025-11-23 23:30", "2025-11-24 06:00", silent}}, false},
		{"still from afternoon to noon", []span{{"2025-11-23 16:00", "2025-11-24 12:00", still}}, false},
		{"still from the beginning of the window on", []span{{"2025-11-23 19:30", "2025-11-24 07:00", still}}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := record(t, series.FiveSeconds, base-12*3600, base+18*3600, spans(t, toronto, moving, c.spans...))
			nights := nightOf(t, s, usualHours(toronto), "2025-11-23")
			if len(nights) != count(c.told) {
				t.Errorf("nights = %+v, want one: %t", nights, c.told)
			}
		})
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestNightOfWhoIsAwayIsLeftOut(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	s := record(t, series.FiveSeconds, base-12*3600, base+18*3600, spans(t, toronto, moving,
		span{"2025-11-23 23:00", "2025-11-24 07:00", still}))
	absence := func(from, to string) insight.Absence {
		return insight.Absence{From: at(t, toronto, from), To: at(t, toronto, to)}
	}
	for name, c := range map[string]struct {
		away insight.Absence
		told int
	}{
		"all night":      {absence("2025-11-23 23:05", "2025-11-24 06:55"), 0},
		"in the evening": {absence("2025-11-23 18:00", "2025-11-23 21:00"), 1},
		"by day":         {absence("2025-11-24 08:00", "2025-11-24 17:00"), 1},
	} {
		if nights := nightOf(t, s, usualHours(toronto), "2025-11-23", c.away); len(nights) != c.told {
			t.Errorf("away %s: nights = %+v, want %d", name, nights, c.told)
		}
	}
}

// TestNightsHoldTheirRules checks what is true of every night whatever a home did.
func TestNightsHoldTheirRules(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	h := usualHours(toronto)
	rapid.Check(t, func(r *rapid.T) {
		blocks := rapid.SliceOfN(rapid.SampledFrom([]float64{still, still, moving, silent}), 96, 96).Draw(r, "quarters of an hour")
		quarter := func(ts int64) float64 { return blocks[(ts-base+12*3600)/900] }
		s := record(t, series.FiveSeconds, base-12*3600, base+12*3600, quarter)
		for _, n := range nightOf(t, s, h, "2025-11-23") {
			from, to := h.Window(n.Date)
			sleep, wake := n.SleepTime.Unix(), n.WakeTime.Unix()
			if sleep >= wake || sleep < from+45*60 || wake > to-45*60 {
				r.Fatalf("night %+v is empty or not inside its window", n)
			}
			if n.Confidence < 0.6 || n.Confidence > 1 || n.Interruptions < 0 {
				r.Fatalf("night %+v is out of bounds", n)
			}
			if quarter(sleep-60) == silent || quarter(wake) == silent {
				r.Fatalf("night %+v begins or ends when nothing is known", n)
			}
		}
	})
}

func TestAveragesGoAcrossMidnight(t *testing.T) {
	t.Parallel()
	toronto := zone(t, "America/Toronto")
	night := func(evening, sleep, wake string, interruptions int) insight.Night {
		return insight.Night{
			Date: date(t, evening), Interruptions: interruptions,
			SleepTime: time.Unix(at(t, toronto, sleep), 0).In(toronto),
			WakeTime:  time.Unix(at(t, toronto, wake), 0).In(toronto),
		}
	}
	cases := []struct {
		name   string
		nights []insight.Night
		want   string
	}{
		{"no night", nil, `{"avg_sleep_time_s":null,"avg_wake_time_s":null,"average_interruptions":null,"duration_avg_s":null}`},
		{"one night", []insight.Night{night("2025-11-23", "2025-11-23 22:53", "2025-11-24 06:28", 3)},
			`{"avg_sleep_time_s":82380,"avg_wake_time_s":23280,"average_interruptions":3,"duration_avg_s":27300}`},
		{"both sides of midnight", []insight.Night{
			night("2025-11-22", "2025-11-22 23:50", "2025-11-23 07:00", 1),
			night("2025-11-23", "2025-11-24 00:10", "2025-11-24 07:00", 2),
		}, `{"avg_sleep_time_s":0,"avg_wake_time_s":25200,"average_interruptions":1.5,"duration_avg_s":25200}`},
		{"after midnight in the mean", []insight.Night{
			night("2025-11-22", "2025-11-22 23:30", "2025-11-23 07:00", 0),
			night("2025-11-23", "2025-11-24 01:30", "2025-11-24 08:00", 0),
		}, `{"avg_sleep_time_s":1800,"avg_wake_time_s":27000,"average_interruptions":0,"duration_avg_s":25200}`},
		{"clocks back: the clock's time, the hours that passed", []insight.Night{
			night("2025-11-01", "2025-11-01 23:00", "2025-11-02 07:00", 0),
		}, `{"avg_sleep_time_s":82800,"avg_wake_time_s":25200,"average_interruptions":0,"duration_avg_s":32400}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := asJSON(t, insight.AverageOf(c.nights)); got != c.want {
				t.Errorf("averages = %s, want %s", got, c.want)
			}
		})
	}
}
