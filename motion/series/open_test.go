package series_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/series"

	"pgregory.net/rapid"
)

// ask returns the answer over the first seconds of a block.
func ask(t testing.TB, b *series.Block, id series.ID, m series.Measure, seconds int64) string {
	t.Helper()
	set, err := series.NewSet(b.AppendValue(nil))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := set.AppendJSON(nil, series.Query{Series: id, Measure: m, From: b.Start(), To: b.Start() + seconds, Bucket: b.Tier().Step()})
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestFramesOfASecondBecomeOneRow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frames             []float64
		intensity, density string
	}{
		"two in motion":         {[]float64{0.2, 0.353}, "0.353", "100"},
		"one in motion":         {[]float64{0, 0.1}, "0.1", "50"},
		"quiet":                 {[]float64{0, 0}, "0", "0"},
		"never rounded away":    {[]float64{0.0001, 0}, "0.01", "50"},
		"noise":                 {[]float64{0.034, 0.0451}, "0.05", "100"},
		"the end of noise":      {[]float64{0.1949, 0.1994}, "0.2", "100"},
		"no noise":              {[]float64{0.1996, 0.2014}, "0.201", "100"},
		"clipped":               {[]float64{-3, 7}, "1", "50"},
		"infinite":              {[]float64{math.Inf(1), math.Inf(-1)}, "1", "50"},
		"one of three":          {[]float64{0, 0, 0.5}, "0.5", "33"},
		"not a number is none":  {[]float64{math.NaN()}, "null", "null"},
		"not a number is apart": {[]float64{math.NaN(), 0.5}, "0.5", "100"},
		"none":                  {nil, "null", "null"},
	} {
		b := series.NewBlock(series.Second, 0)
		i, _ := b.Index(series.Network)
		for _, v := range c.frames {
			if ok := b.Add(i, 0, v); ok == math.IsNaN(v) {
				t.Errorf("%s: Add(%v) = %v", name, v, ok)
			}
		}
		b.Add(i, 1, 0)
		if got, want := ask(t, b, "", series.Intensity, 1), fmt.Sprintf("[[%s,0]]", c.intensity); got != want {
			t.Errorf("%s: intensity %s, want %s", name, got, want)
		}
		if got, want := ask(t, b, "", series.Density, 1), fmt.Sprintf("[[%s,0]]", c.density); got != want {
			t.Errorf("%s: density %s, want %s", name, got, want)
		}
	}
}

func TestShareIsTheMeanOfItsFrames(t *testing.T) {
	t.Parallel()
	id := series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31})
	b := series.NewBlock(series.Second, 0)
	i, _ := b.Index(id)
	b.Add(i, 0, 1)
	b.Add(i, 0, 0.5)
	b.Add(i, 1, 0)
	for range 1000 {
		b.Add(i, 2, 1)
	}
	if got, want := ask(t, b, id, series.Density, 4), `[[75,0],[0,1],[100,2],[null,3]]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestManyFramesKeepTheMaximum(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.Second, 0)
	i, _ := b.Index(series.Network)
	for range 255 {
		b.Add(i, 0, 0.1)
	}
	b.Add(i, 0, 0.9)
	if got := ask(t, b, "", series.Intensity, 1) + ask(t, b, "", series.Density, 1); got != `[[0.9,0]][[100,0]]` {
		t.Error(got)
	}
}

func TestMotionAfterManyQuietFramesIsNoDamage(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.Second, 0)
	i, _ := b.Index(series.Network)
	for range 255 {
		b.Add(i, 0, 0)
	}
	b.Add(i, 0, 0.5)
	replayed := series.NewBlock(series.Second, 0)
	if err := replayed.ReplayIncrement(b.AppendIncrement(nil)); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, b, "", series.Intensity, 1) + ask(t, b, "", series.Density, 1); got != `[[0.5,0]][[1,0]]` {
		t.Error(got)
	}
}

func TestOneFrameOfManyIsNotRoundedAway(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.Second, 0)
	i, _ := b.Index(series.Network)
	for n := range 250 {
		b.Add(i, 0, float64(n/249))
	}
	if got := ask(t, b, "", series.Density, 1); got != `[[1,0]]` {
		t.Error(got)
	}
}

func TestHistoryFillsOnlyGaps(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.FiveSeconds, 0)
	i, _ := b.Index(series.Network)
	if !b.Fill(i, 3, 0.2) || !b.Fill(i, 5, 0) {
		t.Error("a gap was not filled")
	}
	for _, ts := range []int64{0, 4, 5, -1, 3600} {
		if b.Fill(i, ts, 0.9) {
			t.Errorf("second %d was filled", ts)
		}
	}
	if b.Fill(i, 10, math.NaN()) {
		t.Error("not a number was stored")
	}
	if got, want := ask(t, b, "", series.Intensity, 15), `[[0.2,0],[0,5],[null,10]]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSamplesOutsideTheBlockAreRefused(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.Second, 1234)
	if b.Start() != 1200 || b.End() != 1800 {
		t.Errorf("block is [%d, %d), want [1200, 1800)", b.Start(), b.End())
	}
	i, _ := b.Index(series.Network)
	if b.Add(i, 1199, 0) || b.Add(i, 1800, 0) || !b.Empty() || b.Pending() {
		t.Error("a frame outside was counted")
	}
	if !b.Add(i, 1200, 0) || !b.Add(i, 1799, 0) || b.Empty() || !b.Pending() {
		t.Error("a frame inside was not counted")
	}
}

func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.FiveSeconds, 0)
	for n := range series.MaxSeries {
		id := series.Link(strings.Repeat("x", 250) + fmt.Sprint(n))
		if i, ok := b.Index(id); !ok || i != n {
			t.Fatalf("Index of series %d = %d, %v", n, i, ok)
		}
		b.Fill(n, 0, 1)
	}
	if _, ok := b.Index("one more"); ok {
		t.Error("one more series was taken")
	}
	if i, ok := b.Index(series.Link(strings.Repeat("x", 250) + "7")); !ok || i != 7 {
		t.Errorf("known series is %d, %v", i, ok)
	}
	if _, ok := series.NewBlock(series.Second, 0).Index(series.Link(strings.Repeat("x", 256))); ok {
		t.Error("a name of 256 bytes was taken")
	}
	if info, err := series.Inspect(b.AppendValue(nil)); err != nil || len(info.Series) != series.MaxSeries {
		t.Errorf("Inspect: %d series, %v", len(info.Series), err)
	}
}

func TestIDsTellWhatTheyName(t *testing.T) {
	t.Parallel()
	mac := motion.MAC{2, 0xbb, 0, 0, 0, 0x31}
	if got, ok := series.Location(mac).MAC(); got != mac || !ok {
		t.Errorf("MAC = %v, %v", got, ok)
	}
	for _, id := range []series.ID{series.Network, series.Link("A.B"), "@12345", "@1234567"} {
		if _, ok := id.MAC(); ok {
			t.Errorf("%q is a location", id)
		}
	}
}

func TestIncrementsRestoreTheBlock(t *testing.T) {
	t.Parallel()
	ids := []series.ID{series.Network, "A.B", series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31})}
	rapid.Check(t, func(t *rapid.T) {
		b := series.NewBlock(series.Second, 0)
		var journal [][]byte
		for range rapid.IntRange(0, 12).Draw(t, "flushes") {
			for range rapid.IntRange(0, 20).Draw(t, "frames") {
				i, _ := b.Index(rapid.SampledFrom(ids).Draw(t, "id"))
				b.Add(i, rapid.Int64Range(0, 599).Draw(t, "ts"), rapid.Float64Range(0, 1).Draw(t, "value"))
			}
			pending := b.Pending()
			increment := b.AppendIncrement(nil)
			if pending != (len(increment) > 0) {
				t.Fatalf("pending %v, increment of %d bytes", pending, len(increment))
			}
			if written := rapid.Bool().Draw(t, "written"); written && pending {
				journal = append(journal, increment)
				b.Committed()
			}
		}
		if last := b.AppendIncrement(nil); len(last) > 0 {
			journal = append(journal, last)
		}
		restored := series.NewBlock(series.Second, 0)
		for _, increment := range journal {
			if err := restored.ReplayIncrement(increment); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := restored.AppendValue(nil), b.AppendValue(nil); !bytes.Equal(got, want) {
			t.Fatalf("restored\n%x\nwant\n%x", got, want)
		}
	})
}

func TestRowsAddedDuringAFlushStayPending(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.Second, 0)
	i, _ := b.Index(series.Network)
	b.Add(i, 0, 0.1)
	b.AppendIncrement(nil)
	b.Add(i, 1, 0.2)
	b.Committed()
	increment := b.AppendIncrement(nil)
	if want := "\x01\x00\x01\x01\x81\x00\x02\x14\x00"; string(increment) != want { // no name, of row 1 one row: level 20
		t.Errorf("increment is %q, want %q", increment, want)
	}
	b.Committed()
	if b.Pending() || len(b.AppendIncrement(nil)) > 0 {
		t.Error("committed rows are pending")
	}
}

// TestBlockBegunAnewHoldsNothingOfBefore: a block that begins in the memory of another one is written as a new one is, and
// takes no more memory.
func TestBlockBegunAnewHoldsNothingOfBefore(t *testing.T) {
	t.Parallel()
	names := []series.ID{series.Network, series.Link("A.B"), series.Link("A.C"), series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31})}
	rapid.Check(t, func(t *rapid.T) {
		used := &series.Block{}
		for range rapid.IntRange(1, 4).Draw(t, "blocks") {
			tier := rapid.SampledFrom([]series.Tier{series.Second, series.FiveSeconds}).Draw(t, "tier")
			start := 3600 * rapid.Int64Range(0, 9).Draw(t, "start")
			fresh := series.NewBlock(tier, start)
			used.Begin(tier, start)
			for range rapid.IntRange(0, 9).Draw(t, "frames") {
				var frame []series.Value
				for _, id := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "series") {
					frame = append(frame, series.Value{ID: id, Value: rapid.Float64Range(0, 1).Draw(t, "value")})
				}
				ts := start + rapid.Int64Range(0, 599).Draw(t, "ts")
				fresh.AddFrame(ts, frame)
				used.AddFrame(ts, frame)
			}
			if used.Pending() != fresh.Pending() || used.Journaled() || used.Bytes() != fresh.Bytes() {
				t.Errorf("pending %v, journaled %v, %d bytes; a new block: %v, false, %d", used.Pending(), used.Journaled(), used.Bytes(), fresh.Pending(), fresh.Bytes())
			}
			if got, want := used.AppendIncrement(nil), fresh.AppendIncrement(nil); !bytes.Equal(got, want) {
				t.Errorf("increment %x, of a new block %x", got, want)
			}
			used.Committed()
			if got, want := used.AppendValue(nil), fresh.AppendValue(nil); !bytes.Equal(got, want) {
				t.Errorf("value %x, of a new block %x", got, want)
			}
		}
	})
}
