package series_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"

	"pgregory.net/rapid"
)

// figure is a row of the model: a finished figure in the codec's own steps.
type figure struct{ milli, density int }

// model keeps the rows of one series in the plainest way, per tier and second.
type model map[series.Tier]map[int64]figure

// drawBlocks fills blocks and the model with the same frames: runs of nothing,
// of zeros, of noise and of mixtures, in both tiers.
func drawBlocks(t *rapid.T, id series.ID) (model, [][]byte) {
	m := model{series.Second: {}, series.FiveSeconds: {}}
	var values [][]byte
	for _, tier := range []series.Tier{series.Second, series.FiveSeconds} {
		for n := range rapid.IntRange(0, 3).Draw(t, "blocks") {
			b := series.NewBlock(tier, 7200+int64(n)*tier.Span())
			i, _ := b.Index(id)
			fillBlock(t, b, i, id, m[tier])
			values = append(values, b.AppendValue(nil))
		}
	}
	return m, values
}

func fillBlock(t *rapid.T, b *series.Block, i int, id series.ID, rows map[int64]figure) {
	_, share := id.MAC()
	for ts := b.Start(); ts < b.End(); {
		run := rapid.IntRange(1, 80).Draw(t, "run")
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		for ; run > 0 && ts < b.End(); run, ts = run-1, ts+b.Tier().Step() {
			if kind == 0 {
				continue
			}
			frames := []float64{0, 0}
			if kind >= 2 {
				frames[0] = float64(rapid.IntRange(0, 1000).Draw(t, "milli")) / 1000
			}
			if kind == 3 {
				frames[1] = float64(rapid.IntRange(0, 60).Draw(t, "milli")) / 1000
			}
			if b.Tier() == series.FiveSeconds { // of a device's history
				b.Fill(i, ts, frames[0])
				rows[ts] = figureOf([]float64{frames[0], frames[0]}, share)
				continue
			}
			for _, v := range frames {
				b.Add(i, ts, v)
			}
			rows[ts] = figureOf(frames, share)
		}
	}
}

// figureOf is the row of two frames (payloads.md 4.6; a share is their mean).
func figureOf(frames []float64, share bool) figure {
	var f figure
	for _, v := range frames {
		if share {
			f.density += max(int(math.Round(v*100)), int(math.Ceil(v)))
			continue
		}
		f.milli = max(f.milli, int(math.Round(seriestest.Kept(v)*1000)))
		if v > 0 {
			f.density += 50
		}
	}
	if share {
		f.density = (f.density + 1) / 2
		f.milli = 10 * f.density
	}
	return f
}

// points answers a query second by second.
func (m model) points(q series.Query) [][2]any {
	step, bucket := m.resolution(q)
	out := [][2]any{}
	begin := (q.From + step - 1) / step * step
	if begin >= q.To {
		return out
	}
	for ts := begin / bucket * bucket; ts <= (q.To-1)/step*step; ts += bucket {
		var peak, sum, seconds int
		for s := ts; s < ts+bucket; s++ {
			if f, ok := m.at(s, q, bucket); ok {
				peak, sum, seconds = max(peak, f.milli), sum+f.density, seconds+1
			}
		}
		out = append(out, [2]any{measured(q.Measure, peak, sum, seconds), ts})
	}
	return out
}

// resolution returns the finest step in use and the effective bucket.
func (m model) resolution(q series.Query) (step, bucket int64) {
	has := func(tier series.Tier) bool {
		for ts := range m[tier] {
			if ts >= q.From && ts < q.To {
				return true
			}
		}
		return false
	}
	step, bucket = 1, q.Bucket
	if !has(series.Second) && has(series.FiveSeconds) {
		step = 5
	}
	for ts := range m[series.FiveSeconds] {
		for s := ts; s < min(ts+5, q.To); s++ {
			if _, held := m[series.Second][s]; ts >= q.From && !held { // seconds would hide it
				return step, (q.Bucket + 4) / 5 * 5
			}
		}
	}
	return step, bucket
}

func (m model) at(s int64, q series.Query, bucket int64) (figure, bool) {
	if f, ok := m[series.Second][s]; ok && s >= q.From && s < q.To {
		return f, true
	}
	slot := s / 5 * 5
	f, ok := m[series.FiveSeconds][slot]
	return f, ok && bucket%5 == 0 && slot >= q.From && slot < q.To
}

func measured(m series.Measure, peak, sum, seconds int) any {
	density := float64(sum) / float64(max(seconds, 1))
	switch {
	case seconds == 0:
		return nil
	case m == series.Intensity:
		return float64(peak) / 1000
	case m == series.Density:
		return float64((sum*100+seconds/2)/seconds) / 100
	case peak >= 300 || density >= 20:
		return 2.0
	case density > 0:
		return 1.0
	}
	return 0.0
}

func TestAnswersEqualASecondBySecondModel(t *testing.T) {
	t.Parallel()
	ids := []series.ID{series.Network, series.Link("A.B"), series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31})}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom(ids).Draw(t, "id")
		m, values := drawBlocks(t, id)
		set, err := series.NewSet(values...)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			from := rapid.SampledFrom([]int64{6900, 7200, 7800, 8400, 10800}).Draw(t, "edge") + rapid.Int64Range(-9, 400).Draw(t, "from")
			q := series.Query{
				Series:  id,
				Measure: rapid.SampledFrom([]series.Measure{series.Intensity, series.Density, series.State}).Draw(t, "measure"),
				From:    from,
				To:      from + rapid.Int64Range(-1, 9000).Draw(t, "length"),
				Bucket:  rapid.SampledFrom([]int64{1, 1, 2, 5, 5, 7, 10, 60, 120, 3600}).Draw(t, "bucket"),
			}
			compare(t, set, q, m)
		}
	})
}

// compare checks the three forms of an answer against the model.
func compare(t *rapid.T, set *series.Set, q series.Query, m model) {
	want, err := json.Marshal(m.points(q))
	if err != nil {
		t.Fatal(err)
	}
	points, err := set.Points(q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	_, bucket := m.resolution(q)
	if points.Bucket != bucket {
		t.Fatalf("%+v: bucket %d, want %d", q, points.Bucket, bucket)
	}
	decoded, _ := json.Marshal(pairs(points))
	if string(decoded) != string(want) {
		t.Fatalf("%+v:\nPoints %s\nwant   %s", q, decoded, want)
	}
	if packed := points.AppendJSON(nil); string(packed) != string(want) {
		t.Fatalf("%+v:\nPoints.AppendJSON %s\nwant %s", q, packed, want)
	}
	straight, bucket, err := set.AppendJSON([]byte("x"), q)
	if err != nil || bucket != points.Bucket || string(straight) != "x"+string(want) {
		t.Fatalf("%+v: bucket %d, %v:\nSet.AppendJSON %s\nwant x%s", q, bucket, err, straight, want)
	}
}

func TestLaterValueOfABlockWins(t *testing.T) {
	t.Parallel()
	sealed, open := blockOf(t, series.Second, 0, 0.1), blockOf(t, series.Second, 0, 0.1, 0.2)
	for name, order := range map[string][][]byte{"sealed first": {sealed, open}, "with others": {blockOf(t, series.Second, 600, 0.9), sealed, open}} {
		set, err := series.NewSet(order...)
		if err != nil {
			t.Fatal(err)
		}
		got, _, _ := set.AppendJSON(nil, series.Query{Measure: series.Intensity, From: 0, To: 3, Bucket: 1})
		if want := `[[0.1,0],[0.2,1],[null,2]]`; string(got) != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestAnswerWithoutDataIsNull(t *testing.T) {
	t.Parallel()
	set, err := series.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	got, bucket, err := set.AppendJSON(nil, series.Query{Measure: series.Density, From: 61, To: 180, Bucket: 60})
	if want := `[[null,60],[null,120]]`; string(got) != want || bucket != 60 || err != nil {
		t.Errorf("got %s, bucket %d, %v, want %s", got, bucket, err, want)
	}
	got, _, _ = set.AppendJSON(nil, series.Query{Measure: series.Density, From: 60, To: 60, Bucket: 60})
	if string(got) != `[]` {
		t.Errorf("empty range: got %s, want []", got)
	}
}

func TestFewSecondsHideNoFiveSecondData(t *testing.T) {
	t.Parallel()
	live := blockOf(t, series.Second, 600, 0, 0) // two seconds of quiet
	history := blockOf(t, series.FiveSeconds, 590, 0.5, 0.25)
	set, err := series.NewSet(live, history)
	if err != nil {
		t.Fatal(err)
	}
	got, bucket, err := set.AppendJSON(nil, series.Query{Measure: series.Intensity, From: 590, To: 605, Bucket: 1})
	if want := `[[0.5,590],[0.25,595],[0,600]]`; string(got) != want || bucket != 5 || err != nil {
		t.Errorf("got %s, bucket %d, %v, want %s with bucket 5", got, bucket, err, want)
	}
	got, bucket, _ = set.AppendJSON(nil, series.Query{Measure: series.Intensity, From: 600, To: 602, Bucket: 1})
	if want := `[[0,600],[0,601]]`; string(got) != want || bucket != 1 {
		t.Errorf("of the seconds alone: %s, bucket %d, want %s", got, bucket, want)
	}
}

func TestTimeGrowsByADigit(t *testing.T) {
	t.Parallel()
	for _, start := range []int64{0, 9_995, 999_999_995} {
		b := series.NewBlock(series.FiveSeconds, start)
		i, _ := b.Index(series.Network)
		for n := range int64(4) {
			b.Fill(i, start+5*n, 0)
		}
		set, _ := series.NewSet(b.AppendValue(nil))
		got, _, err := set.AppendJSON(nil, series.Query{Measure: series.Intensity, From: start, To: start + 20, Bucket: 5})
		want := fmt.Sprintf("[[0,%d],[0,%d],[0,%d],[0,%d]]", start, start+5, start+10, start+15)
		if string(got) != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestFiveSecondDataAnswersAOneSecondQuestionCoarser(t *testing.T) {
	t.Parallel()
	set, _ := series.NewSet(blockOf(t, series.FiveSeconds, 0, 0, 0.25, 1))
	got, bucket, err := set.AppendJSON(nil, series.Query{Measure: series.Intensity, From: 1, To: 16, Bucket: 1})
	if want := `[[0.25,5],[1,10],[null,15]]`; string(got) != want || bucket != 5 || err != nil {
		t.Errorf("got %s, bucket %d, %v, want %s with bucket 5", got, bucket, err, want)
	}
}

func TestSharesKeepOneBucketAndTheirOwnNulls(t *testing.T) {
	t.Parallel()
	kitchen, hall := motion.MAC{2, 0xbb, 0, 0, 0, 0x31}, motion.MAC{2, 0xbb, 0, 0, 0, 0x32}
	b := series.NewBlock(series.FiveSeconds, 0)
	k, _ := b.Index(series.Location(kitchen))
	h, _ := b.Index(series.Location(hall))
	for ts, v := range []float64{0.8, 1, 0, 0.2} {
		b.Fill(k, int64(ts)*5, v)
	}
	b.Fill(h, 0, 0.25)
	b.Fill(h, 5, 0)
	set, _ := series.NewSet(b.AppendValue(nil))
	shares, err := set.Shares(0, 20, 8)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(shares)
	want := `[{"MAC":"02:bb:00:00:00:31","Points":[[90,0],[10,10]]},{"MAC":"02:bb:00:00:00:32","Points":[[12.5,0],[null,10]]}]`
	if string(got) != want {
		t.Errorf("Shares = %s, want %s", got, want)
	}
	locations, err := set.Locations(0, 20)
	if err != nil || !slices.Equal(locations, []series.LocationShare{{MAC: kitchen, Density: 50, Seconds: 10}, {MAC: hall, Density: 12.5, Seconds: 1.25}}) {
		t.Errorf("Locations = %+v, %v", locations, err)
	}
}

// TestSumsOfMoreSecondsThanAnIntOf32BitsHas shows something where an int has 32 bits alone.
func TestSumsOfMoreSecondsThanAnIntOf32BitsHas(t *testing.T) {
	t.Parallel()
	const start = 1_764_000_000
	kitchen := motion.MAC{2, 0xbb, 0, 0, 0, 0x31}
	b := series.NewBlock(series.Second, start)
	for ts := range int64(10) {
		b.AddFrame(start+ts, []series.Value{{ID: series.Location(kitchen), Value: 0.5}})
	}
	set, _ := series.NewSet(b.AppendValue(nil))
	for _, from := range []int64{0, start} {
		locations, err := set.Locations(from, 1<<32)
		if err != nil || !slices.Equal(locations, []series.LocationShare{{MAC: kitchen, Density: 50, Seconds: 5}}) {
			t.Errorf("Locations from second %d = %+v, %v", from, locations, err)
		}
	}
}

// blockOf returns the sealed block of the network's finished figures from start.
func blockOf(t testing.TB, tier series.Tier, start int64, figures ...float64) []byte {
	t.Helper()
	b := series.NewBlock(tier, start)
	i, _ := b.Index(series.Network)
	for n, v := range figures {
		if !b.Fill(i, start+int64(n)*tier.Step(), v) {
			t.Fatalf("figure %d is outside the block", n)
		}
	}
	return b.AppendValue(nil)
}
