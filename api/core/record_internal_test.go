package core

import (
	"slices"
	"strings"
	"testing"

	"sensegate/motion/jsonwriter"
)

func TestLongAnswersAreSentInPieces(t *testing.T) {
	t.Parallel()
	calls := 0
	write := func(w *jsonwriter.Writer, i int) {
		calls++
		w.Integer(`{"id":`, int64(i))
		w.Raw(`,"text":"` + strings.Repeat("x", 3000) + `"}`)
	}
	var sizes []int
	for piece := range networksJSON(2000, false, write) {
		sizes = append(sizes, len(piece))
	}
	if len(sizes) < 2 || slices.Max(sizes) > 2*networkPiece || slices.Min(sizes[:len(sizes)-1]) < networkPiece {
		t.Errorf("pieces of %d bytes", sizes)
	}
	calls = 0
	networksJSON(2000, false, write)(func([]byte) bool { return false })
	if calls == 2000 {
		t.Error("networks are written for a client that is gone")
	}
}

func TestOneNetworkIsAnObjectUnlessAnArrayIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count int
		array bool
		want  string
	}{{1, false, "{}\n"}, {1, true, "[{}]\n"}, {2, false, "[{},{}]\n"}} {
		got := ""
		for piece := range networksJSON(c.count, c.array, func(w *jsonwriter.Writer, _ int) { w.Raw("{}") }) {
			got += string(piece)
		}
		if got != c.want {
			t.Errorf("%d, array %v: %q, want %q", c.count, c.array, got, c.want)
		}
	}
}
