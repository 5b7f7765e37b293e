package fuse_test

import (
	"slices"
	"strings"
	"testing"

	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// detectedAt returns the sample, counted from 1, with which the default settings detect motion in what a network
// of some links has seen; 0: never.
func detectedAt(config fuse.Config, scripts ...script) int {
	events := fuse.NewEvents(config)
	for i, s := range fused(scripts...).samples {
		if t, some := events.Add(&s); some && t.Kind == fuse.Detected {
			return i + 1
		}
	}
	return 0
}

// TestSingleDisturbanceIsNoDetection: it reaches the threshold while it is in a link's window, and its motion is
// held for 2 s more.
func TestSingleDisturbanceIsNoDetection(t *testing.T) {
	t.Parallel()
	before := repeat("q", 8) // 4 samples
	quick := defaults
	quick.DensityWindow, quick.DensityThreshold = 2, 0.5
	for name, c := range map[string]struct {
		config  fuse.Config
		scripts []script
		want    int
	}{
		"a walk":                               {defaults, []script{before + repeat("n", 16)}, 8},
		"one disturbance, held for long":       {defaults, []script{before + repeat("n", 6) + repeat("k", 40)}, 0},
		"one that comes again each second":     {defaults, []script{before + "nnkknnkknnkknnkkkkkk"}, 11},
		"one that two links see":               {defaults, []script{before + repeat("n", 4) + repeat("k", 8), before + repeat("n", 4) + repeat("k", 8)}, 8},
		"a jump of two links":                  {defaults, []script{before + repeat("j", 6) + repeat("k", 8), before + repeat("j", 6) + repeat("k", 8)}, 0},
		"a jump in a walk":                     {defaults, []script{before + "ssssjjjjjj" + repeat("s", 8)}, 11},
		"a short one in settings that want so": {quick, []script{before + "nn" + repeat("k", 4)}, 5},
	} {
		if got := detectedAt(c.config, c.scripts...); got != c.want {
			t.Errorf("%s is detected at sample %d, want %d", name, got, c.want)
		}
	}
}

// TestFirmMotionIsJudgedAtEachLevel: by what each level has seen.
func TestFirmMotionIsJudgedAtEachLevel(t *testing.T) {
	t.Parallel()
	var firm []string
	f := fuse.New(func(s *fuse.Step) {
		if s.Sample == nil {
			return
		}
		var at strings.Builder
		for level := 1; level <= 4; level++ {
			switch {
			case s.Sample.Levels.Firm(level):
				at.WriteByte('F')
			case s.Sample.Levels.Motion(level):
				at.WriteByte('m')
			default:
				at.WriteByte('-')
			}
		}
		firm = append(firm, at.String())
	})
	for i := range 20 {
		k, _ := tick(at(i), 'q')
		if i >= 4 {
			k.Levels = detect.Levels{On: 0b0001, Motion: 0b0011} // at level 2 it is only held
		}
		f.Add(key(1), k)
	}
	f.Advance(start)
	f.Advance(start.Add(5))
	if want := []string{"----", "----", "mm--", "mm--", "mm--", "Fm--", "Fm--"}; len(firm) < len(want) || !slices.Equal(firm[:len(want)], want) {
		t.Errorf("samples %v, want them to begin with %v", firm, want)
	}
}
