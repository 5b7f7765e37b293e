package detect_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/detect"
)

const epoch = motion.Time(1_764_000_000)

// walk is noise in which somebody walks: a smooth ripple over time and
// subcarriers.
func walk(seed uint64, frames, n int, rate float64) [][]float32 {
	rows := noise(seed, frames, n)
	for i, row := range rows {
		t := float64(i) / rate
		for k := range row {
			row[k] *= float32(1 + 0.15*math.Sin(2*math.Pi*1.3*t+float64(k)/8))
		}
	}
	return rows
}

// run pushes rows at a steady rate from epoch on and returns the ticks.
func run(link *detect.Link, rows [][]float32, rate float64) []detect.Tick {
	var ticks []detect.Tick
	for i, row := range rows {
		link.Push(epoch+motion.Time(float64(i)/rate), row, nil, -55, func(t detect.Tick) { ticks = append(ticks, t) })
	}
	return ticks
}

func share(ticks []detect.Tick, is func(detect.Tick) bool) float64 {
	n := 0
	for _, t := range ticks {
		if is(t) {
			n++
		}
	}
	return float64(n) / float64(len(ticks))
}

func moving(t detect.Tick) bool { return t.Normal.Motion }

// TestWhatKeepsMotionIsTold: a tick says which statistic decides, and above what it keeps motion.
func TestWhatKeepsMotionIsTold(t *testing.T) {
	t.Parallel()
	for rate, coherent := range map[float64]bool{10: false, 25: true, 100: true} {
		rows := append(noise(1, int(40*rate), 64), walk(2, int(20*rate), 64, rate)...)
		kept := map[bool]int{}
		for _, tick := range run(detect.NewLink(detect.Defaults()), rows, rate) {
			statistic := tick.Power
			if coherent {
				statistic = tick.Features.R
			}
			if tick.Valid && (tick.Coherent != coherent || tick.Normal.Stay != (statistic > tick.Keep) || tick.Keep >= tick.On) {
				t.Fatalf("at %v frames/s: %+v", rate, tick)
			}
			kept[tick.Normal.Stay]++
		}
		if kept[true] < 40 || kept[false] < 40 {
			t.Errorf("at %v frames/s motion is kept or not: %v", rate, kept)
		}
	}
}

// TestJumpIsTold: the radio goes over to another path, of the same strength; a walk later is none.
func TestJumpIsTold(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{25, 50, 100} {
		rows := noise(1, int(60*rate), 64)
		for _, row := range rows[len(rows)/2:] {
			for k := range row {
				row[k] *= float32(1 + 0.3*math.Sin(float64(k)/5))
			}
		}
		still := len(rows)
		rows = append(rows, walk(2, int(10*rate), 64, rate)...)
		var jumps, walked []detect.Tick
		for _, tick := range run(detect.NewLink(detect.Defaults()), rows, rate) {
			switch at := tick.Time.Since(epoch); {
			case at > 29 && at < 33:
				jumps = append(jumps, tick)
			case at > float64(still)/rate+2:
				walked = append(walked, tick)
			}
		}
		jump := func(t detect.Tick) bool { return t.Jump }
		proven := func(t detect.Tick) bool { return t.Normal.On && !t.Jump }
		if share(jumps, jump) == 0 || share(jumps, proven) > 0 || share(walked, moving) < 0.95 || share(walked, jump) > 0 {
			t.Errorf("at %v frames/s jumps are %.2f of the ticks around one and %.2f of a walk's; %.2f and %.2f start motion otherwise", rate,
				share(jumps, jump), share(walked, jump), share(jumps, proven), share(walked, proven))
		}
	}
}

func TestConstantGainChangesNothing(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{10, 25, 100} {
		rows := walk(1, int(20*rate), 64, rate)
		louder := make([][]float32, len(rows))
		for i, row := range rows {
			for _, a := range row {
				louder[i] = append(louder[i], 4*a) // exact in binary
			}
		}
		want := run(detect.NewLink(detect.Defaults()), rows, rate)
		got := run(detect.NewLink(detect.Defaults()), louder, rate)
		for i := range want {
			if d := math.Abs(got[i].Features.R - want[i].Features.R); d > 1e-9 || got[i].Normal != want[i].Normal {
				t.Fatalf("%v Hz, tick %d: R %v, want %v", rate, i, got[i].Features.R, want[i].Features.R)
			}
		}
	}
}

// swing gives every frame another gain.
func swing(rows [][]float32) [][]float32 {
	r := rand.New(rand.NewPCG(3, 3))
	swinging := make([][]float32, len(rows))
	for i, row := range rows {
		gain := float32(0.5 + r.Float64())
		for _, a := range row {
			swinging[i] = append(swinging[i], gain*a)
		}
	}
	return swinging
}

func TestRandomGainPerFrameChangesNothingAtLowRates(t *testing.T) {
	t.Parallel()
	rows := walk(2, 300, 64, 10)
	want := run(detect.NewLink(detect.Defaults()), rows, 10)
	got := run(detect.NewLink(detect.Defaults()), swing(rows), 10)
	for i := range want {
		if d := math.Abs(got[i].Features.R - want[i].Features.R); !(d < 1e-4) {
			t.Fatalf("tick %d: R %v, want %v", i, got[i].Features.R, want[i].Features.R)
		}
	}
}

// At high rates the features are regressed on the gain, so that R itself
// depends on it a little.
func TestRandomGainPerFrameChangesNoVerdictAtHighRates(t *testing.T) {
	t.Parallel()
	const rate = 100
	if s := share(run(detect.NewLink(detect.Defaults()), swing(walk(2, 20*rate, 64, rate)), rate), moving); s < 0.98 {
		t.Errorf("walking called motion in %.3f of the ticks", s)
	}
	ticks := run(detect.NewLink(detect.Defaults()), swing(noise(2, 60*rate, 64)), rate)
	if s := share(ticks, func(t detect.Tick) bool { return math.Abs(t.Features.R) < 0.06 }); s < 0.99 {
		t.Errorf("|R| < 0.06 in %.3f of the ticks of noise", s)
	}
	if s := share(ticks, moving); s > 0 {
		t.Errorf("noise called motion in %.3f of the ticks", s)
	}
}

func TestIndependentNoiseIsIncoherent(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{50, 100} {
		ticks := run(detect.NewLink(detect.Defaults()), noise(4, int(300*rate), 64), rate)
		if s := share(ticks, func(t detect.Tick) bool { return math.Abs(t.Features.R) < 0.06 }); s < 0.99 {
			t.Errorf("%v Hz: |R| < 0.06 in %.3f of the ticks, want 0.99", rate, s)
		}
		if s := share(ticks, moving); s > 0 {
			t.Errorf("%v Hz: noise called motion in %.3f of the ticks", rate, s)
		}
	}
}

func TestWalkingIsMotionAtEveryRate(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{10, 15, 20, 25, 30, 50, 100, 140} {
		ticks := run(detect.NewLink(detect.Defaults()), walk(5, int(20*rate), 64, rate), rate)
		if s := share(ticks, moving); s < 0.95 {
			t.Errorf("%v Hz: motion in %.2f of the ticks", rate, s)
		}
	}
}

func TestTicksFallOnSharedTimes(t *testing.T) {
	t.Parallel()
	link := detect.NewLink(detect.Defaults())
	var ticks []detect.Tick
	for i, row := range noise(6, 300, 64) {
		link.Push(epoch+0.1234+motion.Time(i)*0.02, row, nil, -55, func(t detect.Tick) { ticks = append(ticks, t) })
	}
	if len(ticks) == 0 || ticks[0].Time != epoch+1.25 {
		t.Fatalf("%d ticks, the first %v", len(ticks), ticks)
	}
	for i, tick := range ticks {
		if want := epoch + 1.25 + motion.Time(i)*0.25; tick.Time != want {
			t.Fatalf("tick %d at %v, want %v", i, tick.Time, want)
		}
	}
}

func TestSilenceIsInvalidAndEndsMotion(t *testing.T) {
	t.Parallel()
	const rate = 50
	link := detect.NewLink(detect.Defaults())
	ticks := run(link, walk(7, 10*rate, 64, rate), rate)
	if last := ticks[len(ticks)-1]; !last.Normal.Motion || !last.Valid {
		t.Fatalf("no motion before the silence: %+v", last)
	}
	var silent []detect.Tick
	link.Advance(epoch+15, func(t detect.Tick) { silent = append(silent, t) })
	if len(silent) != 21 || silent[len(silent)-1].Time != epoch+15 {
		t.Fatalf("%d ticks of silence", len(silent))
	}
	for _, tick := range silent[3:] {
		if tick.Valid || tick.Normal != (detect.Verdict{}) || tick.Strict != (detect.Verdict{}) || tick.Intensity != 0 ||
			!math.IsNaN(tick.Features.R) || !math.IsNaN(tick.Power) {
			t.Fatalf("tick of a silent link: %+v", tick)
		}
	}
	if q := silent[len(silent)-1].Quality.Valid; q > 0.7 || q < 0.5 {
		t.Errorf("share of valid ticks %v", q)
	}
}

func TestLongSilenceIsLeaptOver(t *testing.T) {
	t.Parallel()
	link := detect.NewLink(detect.Defaults())
	rows := noise(8, 200, 64)
	run(link, rows, 50)
	var ticks []detect.Tick
	emit := func(t detect.Tick) { ticks = append(ticks, t) }
	link.Push(epoch+1e6, rows[0], nil, 0, emit)
	if len(ticks) > 300 {
		t.Errorf("%d ticks for a gap of eleven days", len(ticks))
	}
	ticks = nil
	for i, row := range rows {
		link.Push(epoch+1e6+motion.Time(i)*0.02, row, nil, 0, emit)
	}
	if len(ticks) < 14 || !ticks[len(ticks)-1].Valid || ticks[0].Time != epoch+1e6 {
		t.Errorf("%d ticks after the gap: %v", len(ticks), ticks)
	}
}

func TestClockSetBackGoesOnFromThere(t *testing.T) {
	t.Parallel()
	link := detect.NewLink(detect.Defaults())
	rows := noise(9, 400, 64)
	run(link, rows, 50)
	var ticks []detect.Tick
	for i, row := range rows {
		link.Push(epoch-5000+motion.Time(i)*0.02, row, nil, 0, func(t detect.Tick) { ticks = append(ticks, t) })
	}
	if len(ticks) < 20 || !ticks[len(ticks)-1].Valid || ticks[0].Time > epoch-4998 {
		t.Errorf("%d ticks after the clock was set back", len(ticks))
	}
}

func TestLateFrameIsDropped(t *testing.T) {
	t.Parallel()
	rows := noise(10, 500, 64)
	want := run(detect.NewLink(detect.Defaults()), rows, 50)
	link := detect.NewLink(detect.Defaults())
	var got []detect.Tick
	for i, row := range rows {
		now := epoch + motion.Time(float64(i)/50)
		link.Push(now, row, nil, -55, func(t detect.Tick) { got = append(got, t) })
		link.Push(now-0.3, rows[(i+7)%len(rows)], nil, -20, func(detect.Tick) { t.Error("a late frame made a tick") })
	}
	for i := range want {
		if got[i].Features != want[i].Features && want[i].Valid {
			t.Fatalf("tick %d: %+v, want %+v", i, got[i].Features, want[i].Features)
		}
	}
}

func TestOddInputNeverPanics(t *testing.T) {
	t.Parallel()
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e11, -1e11, 0, 0.25, 1e9, 5e10}
	rapid.Check(t, func(t *rapid.T) {
		config := detect.Config{
			Sensitivity: rapid.Float64Range(0, 100).Draw(t, "s"),
			Calibration: rapid.Float64Range(0, 10).Draw(t, "calibration"),
			Anchored:    rapid.Bool().Draw(t, "anchored"),
		}
		link := detect.NewLink(config)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		now, ticks := 1e9, 0
		emit := func(tick detect.Tick) {
			ticks++
			if tick.Valid != !math.IsNaN(tick.Features.M) || tick.Frames < 0 || math.IsNaN(tick.Baseline) || math.IsNaN(tick.Intensity) {
				t.Fatalf("tick %+v", tick)
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now += rapid.SampledFrom([]float64{0, 0.01, 0.02, 0.1, 1, 70, -0.01, -1, -100}).Draw(t, "step")
			at := now
			if rapid.IntRange(0, 9).Draw(t, "odd?") == 0 {
				at = rapid.SampledFrom(odd).Draw(t, "odd")
			}
			if rapid.IntRange(0, 9).Draw(t, "advance?") == 0 {
				link.Advance(motion.Time(at), emit)
				continue
			}
			n := rapid.SampledFrom([]int{64, 64, 64, 128, 7, 0}).Draw(t, "bins")
			ends := rapid.SampledFrom([][]int{nil, nil, {32, 64}, {64, 32}, {-1, 500}}).Draw(t, "ends")
			for range rapid.IntRange(1, 30).Draw(t, "burst") {
				row := make([]float32, n)
				for k := range row {
					row[k] = 10 + 5*r.Float32()
				}
				if n > 0 && r.IntN(20) == 0 {
					row[r.IntN(n)] = rapid.SampledFrom([]float32{0, float32(math.NaN()), float32(math.Inf(1))}).Draw(t, "amp")
				}
				link.Push(motion.Time(at), row, ends, -50, emit)
				at += 0.02
			}
		}
		if ticks > 60*400 {
			t.Fatalf("%d ticks", ticks)
		}
	})
}

func TestOtherFrameLengthResetsTheLink(t *testing.T) {
	t.Parallel()
	link := detect.NewLink(detect.Defaults())
	run(link, walk(11, 500, 64, 50), 50)
	if l := link.Snapshot(); l.Length != 64 {
		t.Fatalf("learned %+v", l)
	}
	rows := noise(12, 500, 128)
	var ticks []detect.Tick
	for i, row := range rows {
		link.Push(epoch+10+motion.Time(i)*0.02, row, []int{64, 128}, 0, func(t detect.Tick) { ticks = append(ticks, t) })
	}
	if l := link.Snapshot(); l.Length != 128 || !slices.Equal(l.Ends, []int{64, 128}) || len(l.Bins) != 128 || l.Calibrated {
		t.Errorf("learned %+v", l)
	}
	if last := ticks[len(ticks)-1]; !last.Valid || last.Normal.Motion {
		t.Errorf("last tick %+v", last)
	}
}

func TestMixedFrameLengthsSenseOnTheCommonOne(t *testing.T) {
	t.Parallel()
	link := detect.NewLink(detect.Defaults())
	long, short := noise(13, 1000, 128), walk(14, 1000, 64, 50)
	var ticks []detect.Tick
	for i := range short {
		row := short[i]
		if i%5 == 0 { // the first frame is one of the rare ones
			row = long[i]
		}
		link.Push(epoch+motion.Time(i)*0.02, row, nil, 0, func(t detect.Tick) { ticks = append(ticks, t) })
	}
	if l := link.Snapshot(); l.Length != 64 {
		t.Errorf("senses on frames of %d", l.Length)
	}
	if s := share(ticks[len(ticks)/2:], moving); s < 0.95 {
		t.Errorf("motion in %.2f of the ticks", s)
	}
}

func TestWeakLinkIsMarked(t *testing.T) {
	t.Parallel()
	rows := noise(15, 500, 64)
	for _, row := range rows {
		for k := range row {
			row[k] /= 8
		}
	}
	ticks := run(detect.NewLink(detect.Defaults()), rows, 50)
	strong := run(detect.NewLink(detect.Defaults()), noise(15, 500, 64), 50)
	last, other := ticks[len(ticks)-1].Quality, strong[len(strong)-1].Quality
	if !last.Weak || last.Amplitude < 2 || last.Amplitude > 5 || last.RSSI != -55 || math.Abs(last.Rate-50) > 1 {
		t.Errorf("quality of a weak link %+v", last)
	}
	if other.Weak || other.Coarse || math.Abs(other.Amplitude/last.Amplitude-8) > 0.1 {
		t.Errorf("quality of a strong link %+v", other)
	}
}

func TestSensitivityMovesTheThreshold(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{10, 100} {
		rows := noise(16, int(10*rate), 64)
		var on []float64
		for level := 1; level <= 4; level++ {
			config := detect.Defaults()
			config.Sensitivity = detect.SensitivityOf(level)
			ticks := run(detect.NewLink(config), rows, rate)
			on = append(on, ticks[len(ticks)-1].On)
		}
		if !slices.IsSorted(on) || on[0] == on[3] {
			t.Errorf("%v Hz: thresholds of the four levels %v", rate, on)
		}
		if rate == 100 && (on[0] != 0.30 || on[3] != 0.60) {
			t.Errorf("coherence thresholds %v, want 0.30 to 0.60", on)
		}
	}
}

func TestFramesAllocateNothingOnceWarm(t *testing.T) {
	rows := noise(17, 1000, 64)
	config := detect.Defaults()
	config.Calibration = 1
	link := detect.NewLink(config)
	i := 0
	push := func() {
		link.Push(epoch+motion.Time(i)*0.01, rows[i%len(rows)], nil, -50, func(detect.Tick) {})
		i++
	}
	for range 500 {
		push()
	}
	if n := testing.AllocsPerRun(5000, push); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}
