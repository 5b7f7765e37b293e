package detect

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestReachIsAboveOneWhereALinkStartsMotion draws what a link may feel, and asks both.
func TestReachIsAboveOneWhereALinkStartsMotion(t *testing.T) {
	t.Parallel()
	seen := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.OneOf(rapid.Float64Range(-0.2, 1), rapid.Just(math.NaN()))
		power := rapid.Float64Range(-9, -2)
		e := evidence{
			power: power.Draw(t, "power"), steady: power.Draw(t, "steady"), newest: rapid.OneOf(power, rapid.Just(math.NaN())).Draw(t, "newest"),
			r: share.Draw(t, "r"), rb: share.Draw(t, "rb"), chance: 1 / math.Sqrt(float64(rapid.IntRange(2, 400).Draw(t, "frames"))),
			coherent: rapid.Bool().Draw(t, "coherent"), faint: rapid.Bool().Draw(t, "faint"),
		}
		if e.coherent && math.IsNaN(e.r) {
			e.r = 0 // a high rate has coherence
		}
		e.halves = rapid.Float64Range(-0.2, 1).Draw(t, "halves")
		j := newJudge(powerScale(product()), rapid.Float64Range(1, 100).Draw(t, "sensitivity"))
		j.calibrated, j.baseline = rapid.Bool().Draw(t, "calibrated"), power.Draw(t, "baseline")
		v, threshold := j.decide(&j.normal, 0, &e, j.baseline)
		got := j.reach(&e, threshold)
		if got < 0 || math.IsNaN(got) || v.On != (got > 1) {
			t.Fatalf("On %v and reach %v", v.On, got)
		}
		seen[v.On]++
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("drawn: %v, want both", seen)
	}
}
