package insight_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion/insight"
)

// TestColeKripkeWeighsTheMinutesAround puts one count into a quiet hour: minute
// by minute it must be just too weak, or just strong enough, to wake.
func TestColeKripkeWeighsTheMinutesAround(t *testing.T) {
	t.Parallel()
	forms := []struct {
		name    string
		form    insight.Form
		epochs  int
		unit    float64 // what a weight of 1 needs to wake
		weights [7]float64
	}{
		{"1 min", insight.OneMinute, 1, 100 * 1000, [7]float64{106, 54, 58, 76, 230, 74, 67}},
		{"30 s", insight.ThirtyS, 2, 10_000, [7]float64{50, 30, 14, 28, 121, 8, 50}},
		{"10 s", insight.TenS, 6, 100_000, [7]float64{550, 378, 413, 699, 1736, 287, 309}},
	}
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			const minute = 30
			for k, weight := range f.weights {
				for _, c := range []struct {
					count int32
					want  insight.Score
				}{{int32(f.unit/weight) - 1, insight.Asleep}, {int32(f.unit/weight) + 1, insight.Awake}} {
					counts := make(insight.Counts, 60*f.epochs)
					counts[(minute+k-4)*f.epochs+f.epochs/2] = c.count
					if got := insight.ColeKripke(counts, f.form)[minute]; got != c.want {
						t.Errorf("a count of %d %d minutes after: score %d, want %d", c.count, k-4, got, c.want)
					}
				}
			}
		})
	}
}

func TestUnknownCountsLeaveTheirSurroundingsUnscored(t *testing.T) {
	t.Parallel()
	const gap = 30
	cases := []struct {
		name        string
		scores      func(insight.Counts) []insight.Score
		epochs      int
		first, last int // unscored minutes, seen from the gap
	}{
		{"Cole-Kripke 1 min", func(c insight.Counts) []insight.Score { return insight.ColeKripke(c, insight.OneMinute) }, 1, -2, 4},
		{"Cole-Kripke 10 s", func(c insight.Counts) []insight.Score { return insight.ColeKripke(c, insight.TenS) }, 6, -2, 4},
		{"Sadeh", insight.Sadeh, 1, -5, 5},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			counts := make(insight.Counts, 60*c.epochs)
			counts[gap*c.epochs] = insight.NoCount
			for i, got := range c.scores(counts) {
				want := insight.Asleep
				if i >= gap+c.first && i <= gap+c.last {
					want = insight.Unscored
				}
				if got != want {
					t.Errorf("minute %d is %d, want %d", i, got, want)
				}
			}
		})
	}
}

// minutesOf returns the scores that letters stand for: S, W and ? for unscored.
func minutesOf(letters string) []insight.Score {
	scores := make([]insight.Score, len(letters))
	for i, l := range letters {
		scores[i] = map[rune]insight.Score{'S': insight.Asleep, 'W': insight.Awake, '?': insight.Unscored}[l]
	}
	return scores
}

func TestPeriodsBeginAndEndByTheirRule(t *testing.T) {
	t.Parallel()
	rule := insight.PeriodRule{BedTime: 3, WakeTime: 4, Shortest: 5, Longest: 12}
	cases := []struct {
		name, scores string
		want         [][2]int
	}{
		{"nothing", "", nil},
		{"awake all the time", "WWWWWWWWWW", nil},
		{"asleep to the end of the record", "WWSSSSSS", [][2]int{{2, 8}}},
		{"a doze does not begin one", "SSWWWWSSSSSWWWW", [][2]int{{6, 11}}},
		{"a short awakening does not end one", "SSSWWWSSSWWWW", [][2]int{{0, 9}}},
		{"two", "SSSSSWWWWSSSSSWWWW", [][2]int{{0, 5}, {9, 14}}},
		{"too short", "SSSSWWWW", nil},
		{"too long", "SSSSSSSSSSSSSWWWW", nil},
		{"not over what is unknown", "SSSSS?SSSSSSWWWW", [][2]int{{0, 5}, {6, 12}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scores := minutesOf(c.scores)
			var got [][2]int
			for _, p := range insight.Periods(make(insight.Counts, len(scores)), scores, rule) {
				got = append(got, [2]int{p.From, p.To})
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("periods of %s = %v, want %v", c.scores, got, c.want)
			}
		})
	}
}

func TestPeriodsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		counts := insight.Counts(rapid.SliceOfN(rapid.SampledFrom([]int32{insight.NoCount, 0, 0, 0, 40, 300, 5000}), 0, 400).Draw(r, "counts"))
		rule := insight.PeriodRule{BedTime: 2, WakeTime: 3, Shortest: 2, Longest: 1440}
		end := 0
		for _, scores := range [][]insight.Score{insight.ColeKripke(counts, insight.OneMinute), insight.Sadeh(counts)} {
			end = 0
			for _, p := range insight.Periods(counts, scores, rule) {
				if p.From < end || p.Asleep+p.Awake != p.Len() || slices.Contains(scores[p.From:p.To], insight.Unscored) {
					r.Fatalf("period %+v overlaps, does not add up or reaches over a gap", p)
				}
				for _, percent := range []float64{p.Efficiency, p.Movement, p.Fragmentation} {
					if percent < 0 || percent > 100 {
						r.Fatalf("period %+v: percent out of bounds", p)
					}
				}
				end = p.To
			}
		}
	})
}
