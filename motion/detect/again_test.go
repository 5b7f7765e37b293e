package detect_test

import (
	"math"
	"testing"

	"sensegate/motion"
	"sensegate/motion/detect"
)

// TestAgainDecidesAsTheLinkDid: under its own configuration with what the link decided, and under
// another one with what a link of that would have.
func TestAgainDecidesAsTheLinkDid(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{10, 50} {
		run := func(config detect.Config) []detect.Tick {
			var ticks []detect.Tick
			link := detect.NewLink(config)
			rows := noise(3, 4096, 64)
			for i := range int(90 * rate) {
				at := float64(i) / rate
				row := rows[i%len(rows)]
				if int(at)%30 > 20 { // somebody walks for ten of thirty seconds
					for k := range row {
						row[k] *= float32(1 + 0.2*math.Sin(8*at+float64(k)/8))
					}
				}
				if at < 50 || at > 52 { // the link is silent for two seconds
					link.Push(motion.Time(at), row, nil, -60, func(t detect.Tick) { ticks = append(ticks, t) })
				}
			}
			return ticks
		}
		config := detect.Defaults()
		config.Anchored, config.Calibration = true, 10
		other := config
		other.Sensitivity = 15
		other.Constants.Settle = 60
		ticks := run(config)
		for name, c := range map[string]detect.Config{"same": config, "other": other} {
			want, moving := run(c), 0
			at := 0
			detect.Again(c, 0, ticks, func(got detect.Tick) {
				w := want[at]
				at++
				if got.Normal.Motion {
					moving++
				}
				if got.Time != w.Time || got.Valid != w.Valid || got.Normal != w.Normal || got.Strict != w.Strict ||
					got.Baseline != w.Baseline || got.Intensity != w.Intensity {
					t.Fatalf("%v Hz, %s, at %v: %+v and %v, want %+v and %v", rate, name, w.Time, got.Normal, got.Baseline, w.Normal, w.Baseline)
				}
			})
			if at != len(want) || moving < 60 || moving > 200 {
				t.Errorf("%v Hz, %s: %d of %d ticks, %d in motion", rate, name, at, len(want), moving)
			}
		}
	}
}
