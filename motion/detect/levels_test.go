package detect_test

import (
	"math"
	"testing"

	"sensegate/motion/detect"
)

// swelling is a quiet room in which somebody now and then moves, each time more.
func swelling(seed uint64, rate float64) [][]float32 {
	rows := noise(seed, int(240*rate), 64)
	for i, row := range rows {
		t := float64(i) / rate
		if t < 40 || math.Mod(t, 20) > 8 {
			continue
		}
		depth := 0.004 * math.Exp2((t-40)/40)
		for k := range row {
			row[k] *= float32(1 + depth*math.Sin(2*math.Pi*1.3*t+float64(k)/8))
		}
	}
	return rows
}

// compareLevels holds a link's ticks against those of links that run at each level, and returns at how
// many ticks the first level is in motion and the last is not.
func compareLevels(t *testing.T, ticksAt func(sensitivity float64) []detect.Tick) (differ int) {
	t.Helper()
	own := ticksAt(detect.SensitivityOf(2))
	for level := 1; level <= 4; level++ {
		at := uint8(1) << (level - 1)
		for i, want := range ticksAt(detect.SensitivityOf(level)) {
			got := own[i].Levels
			if got.On&at != 0 != want.Normal.On || got.Stay&at != 0 != want.Normal.Stay ||
				got.Motion&at != 0 != want.Normal.Motion || got.Strict&at != 0 != want.Strict.Motion {
				t.Fatalf("tick %d at level %d: %+v, a link of that level says %+v and strict %+v", i, level, got, want.Normal, want.Strict)
			}
			if level == 4 && got.Motion&1 != 0 && !want.Normal.Motion {
				differ++
			}
		}
	}
	return differ
}

func TestLevelsAreWhatALinkOfThatLevelDecides(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{10, 50} {
		rows := swelling(31, rate)
		differ := compareLevels(t, func(s float64) []detect.Tick {
			config := detect.Defaults()
			config.Sensitivity, config.Calibration = s, 10
			return run(detect.NewLink(config), rows, rate)
		})
		if differ < 10 {
			t.Errorf("at %v Hz High and Very Low differ in %d ticks only", rate, differ)
		}
	}
	for source, scale := range map[detect.Source]float64{detect.Signal: 1, detect.Reported: 0.02} {
		differ := compareLevels(t, func(s float64) []detect.Tick {
			config := detect.Defaults()
			config.Sensitivity, config.Calibration = s, 10
			return feed(detect.NewCoarse(config, source), 0, 0.1, 4000, func(i int) float64 {
				busy := float64(max(0, i-400)/200%2) * float64(i) / 1000
				return scale * math.Abs(0.3*math.Sin(float64(i))+busy*math.Sin(float64(i)/3))
			})
		})
		if differ < 10 {
			t.Errorf("source %v: High and Very Low differ in %d ticks only", source, differ)
		}
	}
}

func TestPinnedTickIsTheSameAtAllLevels(t *testing.T) {
	t.Parallel()
	tick := detect.Tick{Normal: detect.Verdict{On: true, Motion: true}, Levels: detect.Levels{Stay: 15, Strict: 1}}
	tick.Pin()
	if want := (detect.Levels{On: 15, Motion: 15}); tick.Levels != want {
		t.Errorf("%+v, want %+v", tick.Levels, want)
	}
}
