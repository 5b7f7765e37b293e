package insight_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sensegate/motion/insight"
	"sensegate/motion/series"
)

const base = 1_763_960_400 // midnight of 2025-11-24 in America/Toronto

func TestActivityIsTheShareOfSamplesInMotion(t *testing.T) {
	t.Parallel()
	s := record(t, series.FiveSeconds, base, base+3*900, func(ts int64) float64 {
		switch second := ts - base; {
		case second < 900:
			return still
		case second < 1800:
			return []float64{moving, moving, still}[second/5%3]
		case second < 2700-5*112: // 68 samples, every fourth in motion
			if second/5%4 == 0 {
				return 0.001
			}
			return still
		}
		return silent
	})
	a, err := insight.ActivityOf(s, base, base+4*900)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"first_bucket":1763960400,"interval":900,"data":[0,0.66667,0.25,null]}`
	if got := asJSON(t, a); got != want {
		t.Errorf("activity = %s, want %s", got, want)
	}
	want = `{"first_bucket":1763960400,"interval":900,"data":[{"date":"2025-11-24","ts":1763960400,"values":[0,0.66667,0.25,null]}]}`
	if got := asJSON(t, a.Days(zone(t, "America/Toronto"))); got != want {
		t.Errorf("days = %s, want %s", got, want)
	}
}

func TestActivityOfLiveSamplesCountsFiveSecondsToo(t *testing.T) {
	t.Parallel()
	s := record(t, series.Second, base, base+900, func(ts int64) float64 {
		if ts%10 == 3 { // one second of every second 5 s sample
			return moving
		}
		return still
	})
	a, err := insight.ActivityOf(s, base, base+900)
	if err != nil || len(a.Data) != 1 || a.Data[0] != 0.5 {
		t.Errorf("activity = %v, %v, want [0.5]", a.Data, err)
	}
}

func TestActivityCountsOnlyWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := record(t, series.FiveSeconds, base, base+1800, func(ts int64) float64 {
		if ts < base+450 || ts >= base+1350 {
			return moving
		}
		return still
	})
	a, err := insight.ActivityOf(s, base+450, base+1350)
	if err != nil || a.FirstBucket != base || !slices.Equal(a.Data, []insight.Value{0, 0}) {
		t.Errorf("activity = %+v, %v, want two buckets of 0 from %d", a, err, base)
	}
}

func TestNoTimeIsNoActivity(t *testing.T) {
	t.Parallel()
	for _, to := range []int64{base, base - 1, 0} {
		a, err := insight.ActivityOf(setOf(t), base, to)
		if err != nil || asJSON(t, a) != `{"first_bucket":1763960400,"interval":900,"data":[]}` {
			t.Errorf("activity of [%d,%d) = %s, %v", base, to, asJSON(t, a), err)
		}
		if days := a.Days(time.UTC).Data; len(days) != 0 {
			t.Errorf("days of [%d,%d) = %v", base, to, days)
		}
	}
}

func TestActivityDaysFollowTheClocks(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, zone, from, to string
		values               []int // buckets per day
	}{
		{"clocks forward", "America/Toronto", "2025-03-08 00:00", "2025-03-11 00:00", []int{96, 92, 96}},
		{"clocks back", "America/Toronto", "2025-11-01 00:00", "2025-11-04 00:00", []int{96, 100, 96}},
		{"midnight is skipped", "America/Santiago", "2025-09-06 00:00", "2025-09-08 00:00", []int{96, 92}},
		{"clocks back at midnight", "America/Santiago", "2025-04-05 00:00", "2025-04-07 00:00", []int{100, 96}},
		{"half an hour back", "Australia/Lord_Howe", "2025-04-06 00:00", "2025-04-08 00:00", []int{98, 96}},
		{"from noon to noon", "Asia/Kathmandu", "2025-11-24 12:00", "2025-11-25 12:00", []int{48, 48}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			z := zone(t, c.zone)
			a, err := insight.ActivityOf(setOf(t), at(t, z, c.from), at(t, z, c.to))
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			next := a.FirstBucket
			for _, d := range a.Days(z).Data {
				got = append(got, len(d.Values))
				if d.TS != next || insight.DateOf(d.TS, z) != d.Date {
					t.Errorf("day %s begins at %d, want %d", d.Date, d.TS, next)
				}
				next += int64(len(d.Values)) * a.Interval
			}
			if !slices.Equal(got, c.values) {
				t.Errorf("buckets per day = %v, want %v", got, c.values)
			}
		})
	}
}

// TestActivityIsCountedRight holds ActivityOf against counting one by one, for
// any gaps, any range, and blocks in any order.
func TestActivityIsCountedRight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		const rows = 4 * 720
		does := rapid.SliceOfN(rapid.SampledFrom([]float64{silent, silent, still, moving}), 97, 97).Draw(r, "does")
		gap := rapid.IntRange(0, rows).Draw(r, "gap")
		length := rapid.IntRange(0, rows).Draw(r, "length")
		sample := func(ts int64) float64 {
			row := int(ts-base) / 5
			if row >= gap && row < gap+length {
				return silent
			}
			return does[row%len(does)]
		}
		from := base + rapid.Int64Range(0, rows*5).Draw(r, "from")
		to := from + rapid.Int64Range(0, rows*5).Draw(r, "length of the question")
		var values [][]byte
		for start := series.FiveSeconds.BlockStart(base); start < base+rows*5; start += series.FiveSeconds.Span() {
			b := series.NewBlock(series.FiveSeconds, start)
			network, _ := b.Index(series.Network)
			for ts := max(start, base); ts < min(b.End(), base+rows*5); ts += 5 {
				if v := sample(ts); v != silent {
					b.Fill(network, ts, v)
				}
			}
			values = append(values, b.AppendValue(nil))
		}
		a, err := insight.ActivityOf(setOf(t, rapid.Permutation(values).Draw(r, "order")...), from, to)
		if err != nil {
			r.Fatal(err)
		}
		for i, got := range a.Data {
			start := a.FirstBucket + int64(i)*900
			want := naive(sample, max(start, (from+4)/5*5), min(start+900, to, base+rows*5))
			if got.Known() != want.Known() || got.Known() && (got-want > 0.00001 || want-got > 0.00001) {
				r.Fatalf("bucket %d = %v, want %v", start, got, want)
			}
		}
	})
}

// naive counts the samples of [from, to) one by one.
func naive(sample home, from, to int64) insight.Value {
	motion, samples := 0.0, 0.0
	for ts := from; ts < to; ts += 5 {
		if v := sample(ts); v != silent {
			samples++
			if v > 0 {
				motion++
			}
		}
	}
	if samples == 0 {
		return insight.Unknown()
	}
	return insight.Value(motion / samples)
}
