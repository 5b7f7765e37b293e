package series_test

import (
	"math/rand/v2"
	"testing"

	"sensegate/motion/series"

	"pgregory.net/rapid"
)

// answers returns what blocks hold of each series in [from, to), second by second.
func answers(t *rapid.T, blocks [][]byte, from, to int64) (all []string) {
	set, err := series.NewSet(blocks...)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []series.ID{series.Network, series.Link("A.B"), kitchen} {
		p, err := set.Points(series.Query{Series: id, Measure: series.Intensity, From: from, To: to, Bucket: 1})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for i := range p.Len() {
			if v, _, ok := p.At(i); ok {
				text += string(rune('a' + int(v*25)))
			} else {
				text += "-"
			}
		}
		all = append(all, text)
	}
	return all
}

func TestMovedRowsStandWhereTheyWereMoved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := secondsOf(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), 1)
		by := rapid.Int64Range(10_000, 50_000_000).Draw(t, "by")
		for start, value := range h[series.Second] {
			from, to := start+rapid.Int64Range(-10, 300).Draw(t, "from"), start+rapid.Int64Range(300, 700).Draw(t, "to")
			rest, moved, err := series.Move(value, from, to, by)
			if err != nil {
				t.Fatal(err)
			}
			var there, here [][]byte
			for at, v := range moved {
				if at != series.Second.BlockStart(at) {
					t.Fatalf("block at second %d", at)
				}
				if len(v) > 0 {
					there = append(there, v)
				}
			}
			if len(rest) > 0 {
				here = append(here, rest)
			}
			for i, was := range answers(t, [][]byte{value}, start, start+600) {
				cut := func(s string, low, high int64) string { return s[min(max(0, low), 600):min(max(0, high), 600)] }
				left := answers(t, here, start, start+600)[i]
				gone := answers(t, there, start+by, start+by+600)[i]
				f, e := from-start, to-start
				if cut(gone, f, e) != cut(was, f, e) || cut(left, 0, f) != cut(was, 0, f) || cut(left, e, 600) != cut(was, e, 600) {
					t.Fatalf("was %s, is %s and %s", was, left, gone)
				}
			}
		}
	})
}
