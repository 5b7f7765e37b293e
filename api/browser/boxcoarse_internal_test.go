package browser

import (
	"maps"
	"testing"

	"sensegate/motion/engine/sensing"
)

// TestFiguresOfTheBoxAreTooCoarseToTellOfMotion: one record more, or a second, does not show.
func TestFiguresOfTheBoxAreTooCoarseToTellOfMotion(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 4: 0, 5: 10, 14: 10, 996: 1000, 1092: 1100, 1093: 1100, 123_456: 120_000} {
		if got := rounded(n); got != want {
			t.Errorf("%d as %d, want %d", n, got, want)
		}
	}
	r := byTheMinute(sensing.Reason{Code: "silent", Figures: sensing.Figures{"for_s": 89, "least": 7}})
	if want := (sensing.Figures{"for_s": 60, "least": 7}); r.Code != "silent" || !maps.Equal(r.Figures, want) {
		t.Errorf("%+v, want %v", r, want)
	}
}
