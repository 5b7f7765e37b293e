package evaluate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/detect"
)

// quarters returns the times of so many moments.
func quarters(n int) []motion.Seconds {
	var times []motion.Seconds
	for i := range n {
		times = append(times, float64(i)*detect.TickInterval)
	}
	return times
}

// TestADayOfMomentsKeepsItsOnePeak: however many values stand on a pixel, the greatest and the least are drawn.
func TestADayOfMomentsKeepsItsOnePeak(t *testing.T) {
	t.Parallel()
	times := quarters(4 * 86400)
	values := make([]float64, len(times))
	for i := range values {
		values[i] = 0.4 + 0.2*math.Sin(float64(i))
	}
	values[123456], values[234567] = 1, 0
	s := span{0, 86400}
	drawn := s.curve(times, values, axis{low: 0, high: 1, bend: even})
	for i, y := range map[int]string{123456: " 0", 234567: " 100"} {
		if want := " " + short(s.x(times[i])) + y + " "; !strings.Contains(drawn, want) {
			t.Errorf("no point %q", want)
		}
	}
	if len(drawn) > 60e3 {
		t.Errorf("%d bytes", len(drawn))
	}
}

func TestCurvesAreBrokenWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	s, a := span{0, 1000}, axis{low: 0, high: 100, bend: even}
	for name, c := range map[string]struct {
		times  []motion.Seconds
		values []float64
		want   string
	}{
		"a line":       {[]float64{0, 0.25, 0.5}, []float64{100, 0, 50}, "M0 0 0.3 100 0.5 50"},
		"a level line": {[]float64{0, 0.25, 0.5, 0.75}, []float64{50, 50, 50, 0}, "M0 50 0.8 100"},
		"a hole":       {[]float64{0, 0.25, 0.5, 0.75, 1}, []float64{0, 0, nan, 100, 0}, "M0 100 0.3 100M0.8 0 1 100"},
		"a long gap":   {[]float64{0, 0.25, 200, 200.25}, []float64{0, 100, 0, 100}, "M0 100 0.3 0M200 100 200.3 0"},
		"alone":        {[]float64{0, 0.25, 0.5}, []float64{nan, 50, nan}, "M0.3 50h.1"},
		"nothing":      {[]float64{0, 0.25}, []float64{nan, nan}, ""},
	} {
		if got := s.curve(c.times, c.values, a); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	wide := span{0, 1}
	if got, want := wide.curve([]float64{0, 0.25, 0.5, 0.75}, []float64{50, 50, 50, 0}, a), "M0 50 500 50 750 100"; got != want {
		t.Errorf("a level line on a wide screen: %q, want %q", got, want)
	}
}

func TestBlocksShowEachMomentAndNeedNoMoreThanAPixelEach(t *testing.T) {
	t.Parallel()
	s := span{0, 100}
	if got, want := s.blocks(quarters(400), func(i int) bool { return i >= 40 && i < 80 || i == 120 }, 0, 10), "M100 0H200V10H100zM300 0H302.5V10H300z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	day := span{0, 86400}
	drawn := day.blocks(quarters(4*86400), func(i int) bool { return i%2 == 0 && i%7 < 5 || i == 4*86400-1 }, 0, 10)
	if len(drawn) > 40e3 || !strings.Contains(drawn, "H1000V") {
		t.Errorf("%d bytes, ending in %q", len(drawn), drawn[max(0, len(drawn)-40):])
	}
	if got, want := day.blocks([]float64{43200}, func(int) bool { return true }, 0, 10), "M500 0H501V10H500z"; got != want {
		t.Errorf("a moment of a day is %q, want %q", got, want)
	}
}

func TestLapsesAreOrderedByMistakeAndLength(t *testing.T) {
	t.Parallel()
	times := quarters(12)
	times[11] = 600 // after a gap
	got := lapses(times, []outcome{missed, calm, alarmed, alarmed, found, flagged, flagged, flagged, unscored, left, alarmed, alarmed})
	want := []lapse{{alarmed, 0.5, 1}, {missed, 0, 0.25}, {alarmed, 2.5, 2.75}, {alarmed, 600, 600.25}, {flagged, 1.25, 2}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTimesOfPlotsAreRound(t *testing.T) {
	t.Parallel()
	for at, want := range map[motion.Seconds]string{0: "0:00", 9.75: "0:09.75", 59.5: "0:59.5", 61: "1:01", 3599.999: "1:00:00", 26100: "7:15:00", 86399.25: "23:59:59.25"} {
		if got := clock(at); got != want {
			t.Errorf("%v s is %q, want %q", at, got, want)
		}
	}
	for _, c := range []struct {
		s    span
		want string
	}{{span{0, 60}, "0:00 0:10 0:20 0:30 0:40 0:50"}, {span{26100, 26220}, "7:15:00 7:15:20 7:15:40 7:16:00 7:16:20 7:16:40"}, {span{0, 4.5}, "0:00 0:01 0:02 0:03 0:04"}} {
		var got []string
		for _, n := range c.s.labels() {
			got = append(got, n.Label)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%v: %q, want %q", c.s, text, c.want)
		}
	}
}
