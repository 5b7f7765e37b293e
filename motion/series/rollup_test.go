package series_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"

	"pgregory.net/rapid"
)

// kitchen is a location of the tests.
var kitchen = series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31})

// history holds the blocks of one network, per tier and start.
type history map[series.Tier]map[int64][]byte

// secondsOf returns random blocks of seconds that lie scattered over the block of
// 4 days at morning: runs of nothing, of zeros, of noise and of mixtures.
func secondsOf(rng *rand.Rand, blocks int) history {
	h := history{series.Second: {}}
	for range blocks {
		b := series.NewBlock(series.Second, quarters+rng.Int64N(series.QuarterHour.Span()/600/8)*600)
		for _, id := range []series.ID{series.Network, series.Link("A.B"), kitchen} {
			i, _ := b.Index(id)
			for ts := b.Start(); ts < b.End(); {
				run, kind := rng.Int64N(200)+1, rng.IntN(4)
				for ; run > 0 && ts < b.End(); run, ts = run-1, ts+1 {
					switch kind {
					case 1:
						b.Add(i, ts, 0)
					case 2:
						b.Add(i, ts, rng.Float64())
					case 3:
						b.Add(i, ts, 0.05*rng.Float64())
						b.Add(i, ts, 0)
					}
				}
			}
		}
		h[series.Second][b.Start()] = b.AppendValue(nil)
	}
	return h
}

// quarters is the start of a block of tier series.QuarterHour.
var quarters = series.QuarterHour.BlockStart(morning)

// rollUp makes the coarser blocks that end until summed.
func (h history) rollUp(t *rapid.T, summed int64) {
	for tier := series.Second; ; {
		coarser, ok := tier.Coarser()
		if !ok {
			return
		}
		grouped := map[int64][][]byte{}
		for start, value := range h[tier] {
			at := coarser.BlockStart(start)
			if at+coarser.Span() > summed {
				continue
			}
			grouped[at] = append(grouped[at], value)
		}
		if h[coarser] == nil {
			h[coarser] = map[int64][]byte{}
		}
		for at, values := range grouped {
			sums, err := series.Rollup(coarser, at, values, h[coarser][at])
			if err != nil && h[coarser][at] != nil {
				t.Fatal(err)
			}
			h[coarser][at] = sums
		}
		tier = coarser
	}
}

// set returns the set of some tiers.
func (h history) set(t *rapid.T, tiers ...series.Tier) *series.Set {
	var values [][]byte
	for _, tier := range tiers {
		for _, v := range h[tier] {
			if len(v) > 0 {
				values = append(values, v)
			}
		}
	}
	set, err := series.NewSet(values...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// unlimited is a retention without end.
func unlimited(series.Tier) int64 { return 0 }

func TestSumsAnswerAsTheSecondsDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		h := secondsOf(rng, rapid.IntRange(1, 6).Draw(t, "blocks"))
		seconds := h.set(t, series.Second)
		summed := quarters + rapid.SampledFrom([]int64{0, 3600, 6 * 3600, 2 * 24 * 3600, 4 * 24 * 3600}).Draw(t, "summed")
		h.rollUp(t, summed)
		all := h.set(t, series.Tiers()...).Bound(unlimited, summed)
		for range 6 {
			q := series.Query{
				Series:  rapid.SampledFrom([]series.ID{series.Network, series.Link("A.B"), kitchen}).Draw(t, "series"),
				Measure: rapid.SampledFrom([]series.Measure{series.Intensity, series.Density, series.State, series.Mean}).Draw(t, "measure"),
				From:    quarters + rapid.Int64Range(-900, 50_000).Draw(t, "from"),
				Bucket:  rapid.SampledFrom([]int64{1, 5, 30, 60, 300, 900, 3600, 7200}).Draw(t, "bucket"),
			}
			q.To = q.From + rapid.Int64Range(1, 4000*min(q.Bucket, 60)).Draw(t, "length")
			want, _, err := seconds.AppendJSON(nil, q)
			if err != nil {
				t.Fatal(err)
			}
			alike := bytes.Equal
			if q.Measure == series.Mean && q.Series != kitchen {
				alike = seriestest.SameMeans
			}
			got, bucket, err := all.AppendJSON(nil, q)
			if err != nil || bucket != q.Bucket || !alike(got, want) {
				t.Fatalf("%+v, summed to %d: bucket %d, %v\ngot  %s\nwant %s", q, summed, bucket, err, got, want)
			}
			points, err := all.Points(q)
			if packed := points.AppendJSON(nil); err != nil || string(packed) != string(got) {
				t.Fatalf("%+v: Points %s, %v\nwant %s", q, packed, err, got)
			}
			compareLocations(t, all, seconds, q)
		}
	})
}

// compareLocations checks the shares of a range, whose ends lie where they will.
func compareLocations(t *rapid.T, all, seconds *series.Set, q series.Query) {
	got, err := all.Locations(q.From, q.To)
	want, err2 := seconds.Locations(q.From, q.To)
	if err != nil || err2 != nil || len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
		t.Fatalf("%+v: locations %+v, %v; want %+v, %v", q, got, err, want, err2)
	}
}

// Whatever is deleted of the finer tiers, rolling up again keeps every sum.
func TestRollingUpAgainLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		h := secondsOf(rng, 5)
		h.rollUp(t, quarters+series.QuarterHour.Span())
		want := map[series.Tier]string{}
		q := series.Query{Series: series.Link("A.B"), Measure: series.Mean, From: quarters, To: quarters + 50_000, Bucket: 900}
		for _, tier := range series.Tiers()[2:] {
			answer, _, _ := h.set(t, tier).AppendJSON(nil, q)
			want[tier] = string(answer)
		}
		for _, tier := range series.Tiers()[:2] {
			for start := range h[tier] {
				if rng.IntN(2) == 0 {
					delete(h[tier], start)
				}
			}
		}
		h.rollUp(t, quarters+series.QuarterHour.Span())
		for _, tier := range series.Tiers()[2:] {
			if got, _, _ := h.set(t, tier).AppendJSON(nil, q); string(got) != want[tier] {
				t.Fatalf("tier %v after rolling up again:\ngot  %s\nwant %s", tier, got, want[tier])
			}
		}
	})
}

func TestHistoryFillsTheSecondsThatAreNotHeld(t *testing.T) {
	t.Parallel()
	past := blockOf(t, series.FiveSeconds, 0, 0.9, 0.8)
	seconds := blockOf(t, series.Second, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
	sums, err := series.Rollup(series.FiveSeconds, 0, [][]byte{seconds}, past)
	if err != nil {
		t.Fatal(err)
	}
	set, err := series.NewSet(sums)
	if err != nil {
		t.Fatal(err)
	}
	for measure, want := range map[series.Measure]string{
		series.Intensity: `[[0.5,0],[0.8,5],[null,10]]`, // five seconds against five, one and four of five
		series.Mean:      `[[0.3,0],[0.76,5],[null,10]]`,
		series.Density:   `[[100,0],[100,5],[null,10]]`,
	} {
		got, _, err := set.AppendJSON(nil, series.Query{Measure: measure, From: 0, To: 15, Bucket: 5})
		if string(got) != want || err != nil {
			t.Errorf("measure %d: got %s, %v, want %s", measure, got, err, want)
		}
	}
}

// TestSecondsAndHistoryOfOneRowCountOnce: two seconds held live and a device's history of the
// same 5 s are two seconds and three, before they are summed up, after it, and beside each
// other, whichever came first.
func TestSecondsAndHistoryOfOneRowCountOnce(t *testing.T) {
	t.Parallel()
	value := func(tier series.Tier, rows int64, intensity, share float64) []byte {
		b := series.NewBlock(tier, 0)
		for ts := range rows {
			b.FillFrame(ts*tier.Step(), []series.Value{{ID: series.Network, Value: intensity}, {ID: kitchen, Value: share}})
		}
		return b.AppendValue(nil)
	}
	sum := func(finer []byte, held ...[]byte) []byte {
		t.Helper()
		var values [][]byte
		if finer != nil {
			values = [][]byte{finer}
		}
		out, err := series.Rollup(series.FiveSeconds, 0, values, held...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, c := range map[string]struct {
		live, past      [2]float64 // intensity and share
		density, shares string
	}{
		"quiet, then motion":   {[2]float64{0, 0}, [2]float64{0.5, 1}, `[[60,0]]`, `[[60,0]]`},
		"motion, then quiet":   {[2]float64{0.5, 0.8}, [2]float64{0, 0}, `[[40,0]]`, `[[32,0]]`},
		"another place":        {[2]float64{0.5, 0.2}, [2]float64{0.5, 0.7}, `[[100,0]]`, `[[50,0]]`},
		"the same all the way": {[2]float64{0.5, 0.4}, [2]float64{0.5, 0.4}, `[[100,0]]`, `[[40,0]]`},
	} {
		seconds := value(series.Second, 2, c.live[0], c.live[1])
		past := value(series.FiveSeconds, 1, c.past[0], c.past[1])
		summed := sum(seconds, past)
		for how, values := range map[string][][]byte{
			"as they came":            {seconds, past},
			"summed up":               {summed},
			"summed up again":         {sum(seconds, summed)},
			"beside the sum":          {seconds, summed},
			"the history came late":   {sum(nil, sum(seconds), past)},
			"beside the late history": {seconds, sum(nil, sum(seconds), past)},
		} {
			set, err := series.NewSet(values...)
			if err != nil {
				t.Fatal(err)
			}
			for id, want := range map[series.ID]string{series.Network: c.density, kitchen: c.shares} {
				got, _, err := set.AppendJSON(nil, series.Query{Series: id, Measure: series.Density, From: 0, To: 5, Bucket: 5})
				if string(got) != want || err != nil {
					t.Errorf("%s, %s, series %q: %s, %v, want %s", name, how, id, got, err, want)
				}
			}
		}
	}
}

func TestRollupLeavesDamageOut(t *testing.T) {
	t.Parallel()
	good, broken := blockOf(t, series.Second, 0, 0.1), blockOf(t, series.Second, 600, 0.2)
	broken[len(broken)-5]++
	sums, err := series.Rollup(series.FiveSeconds, 0, [][]byte{broken, good}, blockOf(t, series.Minute, 0, 0.5))
	if !errors.Is(err, series.ErrDamaged) {
		t.Errorf("err %v", err)
	}
	set, err := series.NewSet(sums)
	if err != nil {
		t.Fatal(err)
	}
	got, _, _ := set.AppendJSON(nil, series.Query{Measure: series.Intensity, From: 0, To: 605, Bucket: 300})
	if want := `[[0.1,0],[null,300],[null,600]]`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if none, err := series.Rollup(series.Minute, 0, nil); len(none) != 0 || err != nil {
		t.Errorf("of nothing: %x, %v", none, err)
	}
}

func TestPastItsRetentionATierIsNotShown(t *testing.T) {
	t.Parallel()
	seconds := blockOf(t, series.Second, 600, 0.1, 0.2, 0.3, 0.4, 0.5)
	sums, err := series.Rollup(series.FiveSeconds, 0, [][]byte{blockOf(t, series.Second, 0, 0.9), seconds})
	if err != nil {
		t.Fatal(err)
	}
	set, err := series.NewSet(seconds, sums)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		since map[series.Tier]int64
		from  int64
		want  string
	}{
		"kept":                             {nil, 600, `[[0.1,600],[0.2,601],[0.3,602]]`},
		"seconds are over":                 {map[series.Tier]int64{series.Second: 1200}, 600, `[[0.5,600]]`},
		"seconds begin later, nothing did": {map[series.Tier]int64{series.Second: 600}, 598, `[[null,598],[null,599],[0.1,600],[0.2,601],[0.3,602]]`},
		"all is over":                      {map[series.Tier]int64{series.Second: 1200, series.FiveSeconds: 1200}, 600, `[[null,600],[null,601],[null,602]]`},
	} {
		bound := set.Bound(func(tier series.Tier) int64 { return c.since[tier] }, 3600)
		got, _, err := bound.AppendJSON(nil, series.Query{Measure: series.Intensity, From: c.from, To: 603, Bucket: 1})
		if string(got) != c.want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
	bound := set.Bound(func(tier series.Tier) int64 { return map[series.Tier]int64{series.Second: 600}[tier] }, 3600)
	got, bucket, _ := bound.AppendJSON(nil, series.Query{Measure: series.Intensity, From: 0, To: 605, Bucket: 1})
	if bucket != 5 || len(got) == 0 {
		t.Errorf("with sums of an earlier time: bucket %d, want 5", bucket)
	}
}

// Short motion in a still time has the mean that it has: nights are judged by such means.
func TestMeanOfShortMotionIsNotRounded(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.Second, 0)
	i, _ := b.Index(series.Network)
	for ts := range int64(600) {
		b.Add(i, ts, map[int64]float64{7: 0.12}[ts])
	}
	fives, err := series.Rollup(series.FiveSeconds, 0, [][]byte{b.AppendValue(nil)})
	if err != nil {
		t.Fatal(err)
	}
	minutes, err := series.Rollup(series.Minute, 0, [][]byte{fives})
	if err != nil {
		t.Fatal(err)
	}
	for step, c := range map[int64]struct {
		value []byte
		from  int64
		want  string
	}{5: {fives, 5, "[[0.024,5]]"}, 60: {minutes, 0, "[[0.002,0]]"}} {
		set, err := series.NewSet(c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := set.AppendJSON(nil, series.Query{Measure: series.Mean, From: c.from, To: c.from + step, Bucket: step}); err != nil || string(got) != c.want {
			t.Errorf("%d s: %s, %v", step, got, err)
		}
	}
}
