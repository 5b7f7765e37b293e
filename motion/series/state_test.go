package series_test

import (
	"encoding/json"
	"math"
	"testing"

	"sensegate/motion"
	"sensegate/motion/series"
)

func TestStateBlocksAreConsecutiveBucketsOfOneState(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.FiveSeconds, 0)
	network, _ := b.Index(series.Network)
	kitchen, _ := b.Index(series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31}))
	hall, _ := b.Index(series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x32}))
	// Minutes: 0 none, 1 and 2 strong, 3 low (1 of 12 rows), 4 no data, 5 many weak rows.
	for ts := int64(0); ts < 360; ts += 5 {
		v := 0.0
		switch minute := ts / 60; {
		case minute == 4:
			continue
		case minute == 1, minute == 2:
			v = 0.5
		case minute == 3 && ts == 200, minute == 5 && ts < 320:
			v = 0.1
		}
		b.Fill(network, ts, v)
		b.Fill(kitchen, ts, v)
		b.Fill(hall, ts, 0)
	}
	set, err := series.NewSet(b.AppendValue(nil))
	if err != nil {
		t.Fatal(err)
	}
	const (
		strong = `{"State":2,"Start":60,"Stop":180,"Density":[[100,60],[100,120]],"Devices":[{"MAC":"02:bb:00:00:00:31","Density":50,"Seconds":60}]}`
		low    = `{"State":1,"Start":180,"Stop":240,"Density":[[8.33,180]],"Devices":[{"MAC":"02:bb:00:00:00:31","Density":0.83,"Seconds":0.5}]}`
		many   = `{"State":2,"Start":300,"Stop":330,"Density":[[66.67,300]],"Devices":[{"MAC":"02:bb:00:00:00:31","Density":6.67,"Seconds":2}]}`
	)
	for name, c := range map[string]struct {
		states uint8
		want   string
	}{
		"both":   {3, "[" + strong + "," + low + "," + many + "]"},
		"motion": {2, "[" + strong + "," + many + "]"},
		"low":    {1, "[" + low + "]"},
		"none":   {0, "[]"},
	} {
		blocks, err := set.StateBlocks(series.StateQuery{From: 10, To: 330, StateBucket: 60, DensityBucket: 60, States: c.states})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(blocks); string(got) != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

func TestStateFollowsPeakAndDensity(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		figures []float64
		want    string
	}{
		"quiet":               {[]float64{0, 0, 0, 0, 0, 0}, `[[0,0]]`},
		"low":                 {[]float64{0.299, 0, 0, 0, 0, 0}, `[[1,0]]`},
		"strong peak":         {[]float64{0.3, 0, 0, 0, 0, 0}, `[[2,0]]`},
		"a fifth of the rows": {[]float64{0.001, 0, 0, 0, 0}, `[[2,0]]`},
		"no data":             {nil, `[[null,0]]`},
	} {
		set, _ := series.NewSet(blockOf(t, series.Second, 0, c.figures...))
		got, _, err := set.AppendJSON(nil, series.Query{Measure: series.State, From: 0, To: 6, Bucket: 6})
		if string(got) != c.want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
}

func TestPointsBetween(t *testing.T) {
	t.Parallel()
	set, _ := series.NewSet(blockOf(t, series.Second, 0, 0.1, 0.2, 0.3, 0.4))
	points, _ := set.Points(series.Query{Measure: series.Intensity, From: 0, To: 4, Bucket: 2})
	for name, c := range map[string]struct {
		from, to int64
		want     string
	}{
		"inside one bucket": {1, 2, `[[0.2,0]]`},
		"across":            {1, 3, `[[0.2,0],[0.4,2]]`},
		"before":            {-5, 0, `[]`},
		"after":             {4, 9, `[]`},
		"wider":             {-9, 99, `[[0.2,0],[0.4,2]]`},
	} {
		if got := points.Between(c.from, c.to).AppendJSON(nil); string(got) != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestQuietRowMayReachOverTheEnd asks for windows that end in the middle of a 5 s
// row without motion.
func TestQuietRowMayReachOverTheEnd(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.FiveSeconds, 0)
	network, _ := b.Index(series.Network)
	kitchen, _ := b.Index(series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31}))
	for ts := int64(0); ts < 600; ts += 5 {
		v := 0.0
		if ts < 60 {
			v = 0.5
		}
		b.Fill(network, ts, v)
		b.Fill(kitchen, ts, v)
	}
	set, err := series.NewSet(b.AppendValue(nil))
	if err != nil {
		t.Fatal(err)
	}
	for to := int64(61); to < 130; to++ {
		shares, err := set.Locations(0, to)
		rows := float64((to + 4) / 5)
		if want := round2(100 * 12 * 0.5 / rows); err != nil || len(shares) != 1 || round2(shares[0].Density) != want {
			t.Errorf("to %d: %+v, %v; want a density of %v", to, shares, err, want)
		}
		query := series.StateQuery{From: 0, To: to, StateBucket: 60, DensityBucket: 30, States: 3}
		if blocks, err := set.StateBlocks(query); err != nil || len(blocks) != 1 {
			t.Errorf("to %d: %+v, %v", to, blocks, err)
		}
	}
}

func round2(v float64) float64 { return math.Round(100*v) / 100 }
