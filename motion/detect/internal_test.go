package detect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
)

func TestMedianIsTheMiddle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-5, 5), 1, 50).Draw(t, "values")
		sorted := slices.Sorted(slices.Values(v))
		want := (sorted[(len(v)-1)/2] + sorted[len(v)/2]) / 2
		if got := median(v); got != want {
			t.Fatalf("median of %v = %v, want %v", sorted, got, want)
		}
	})
}

func TestPairsDoNotCrossHolesOrSegments(t *testing.T) {
	t.Parallel()
	mean := make([]float64, 40)
	for k := range mean {
		mean[k] = 20
	}
	mean[9], mean[10], mean[11], mean[12], mean[13] = 0, 0, 4, 0, 0 // a guard hole, one bin too quiet
	l := selectBins(mean, []int{20, 36, 40})                        // the last segment is too small
	if len(l.bins) != 15+16 || !slices.Equal(l.parts, []part{{0, 15}, {15, 31}}) {
		t.Fatalf("bins %v in parts %v", l.bins, l.parts)
	}
	if l.pairs != 7+4+14 {
		t.Errorf("%d pairs", l.pairs)
	}
	for k, half := range l.link {
		if half > 0 && (l.bins[k+2]-l.bins[k] > 4 || (l.bins[k] < 20) != (l.bins[k+2] < 20)) {
			t.Errorf("pair of bins %d and %d", l.bins[k], l.bins[k+2])
		}
	}
}

// naive computes step 4 as it is written, on normalised rows and gains per
// column.
func naive(l *layout, rows, gains [][]float64, regress bool, span float64) (R, M float64) {
	n, columns := len(rows), len(l.bins)
	x := make([][]float64, columns)
	variance := make([]float64, columns)
	for k := range columns {
		g0 := make([]float64, n)
		var mean, g, gg, xg float64
		for t := range n {
			mean += rows[t][k] / float64(n)
			g += gains[t][k] / float64(n)
		}
		for t := range n {
			x[k] = append(x[k], rows[t][k]-mean)
			g0[t] = gains[t][k] - g
			gg += g0[t] * g0[t]
			xg += x[k][t] * g0[t]
		}
		for t := range n {
			if regress {
				x[k][t] -= xg / math.Max(gg, 1e-9) * g0[t]
			}
			variance[k] += x[k][t] * x[k][t] / float64(n)
		}
	}
	var deviation, C float64
	var weights []float64 // of lags 1, 2, …
	sum := 0.0
	for lag := 1; float64(lag) < span+1 && (lag == 1 || n > lag+3); lag++ {
		weights = append(weights, math.Min(1, span-float64(lag-1)))
		sum += weights[lag-1]
	}
	for i, half := range l.link {
		if half == 0 {
			continue
		}
		j := i + 2
		deviation += math.Sqrt(variance[i] * variance[j])
		for t := range n {
			M += x[i][t] * x[j][t] / float64(n-1)
		}
		for lag := 1; lag <= len(weights); lag++ {
			for t := range n - lag {
				C += weights[lag-1] / sum * (x[i][t]*x[j][t+lag] + x[j][t]*x[i][t+lag]) / 2 / float64(n-lag)
			}
		}
	}
	pairs := float64(l.pairs)
	return C / pairs / (deviation/pairs + 1e-12), M / pairs
}

func TestBlockSumsGiveTheFormulasAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		mean := make([]float64, 30)
		for k := range mean {
			mean[k] = 10 + 40*r.Float64()
		}
		l := selectBins(mean, []int{14, 30})
		w := newWindow(l)
		var rows, gains [][]float64
		blocks := rapid.IntRange(2, maxBlocks).Draw(t, "blocks")
		for range blocks {
			for range rapid.IntRange(0, 30).Draw(t, "frames") {
				amp := make([]float32, 30)
				loud := 1 + 0.2*r.NormFloat64()
				for k := range amp {
					amp[k] = float32(math.Abs(loud * (mean[k] + r.NormFloat64())))
				}
				row, gain := make([]float64, len(l.bins)), make([]float64, len(l.parts))
				l.normalise(row, gain, amp)
				wide := make([]float64, len(l.bins))
				for s, p := range l.parts {
					for k := p.lo; k < p.hi; k++ {
						wide[k] = gain[s]
					}
				}
				rows, gains = append(rows, row), append(gains, wide)
				w.push(0, amp, 0)
			}
			w.close()
		}
		lags := rapid.OneOf(rapid.Float64Range(1, maxLag), rapid.Map(rapid.IntRange(1, maxLag), func(k int) float64 { return float64(k) })).Draw(t, "lags")
		regress := rapid.Bool().Draw(t, "regress")
		skip := rapid.IntRange(0, blocks/2).Draw(t, "skipped blocks")
		n, tail := w.count(blocks), w.count(skip)
		R, M := w.coherence(skip+1, blocks, regress, lags)
		if n-tail < minFeature {
			if !math.IsNaN(R) || !math.IsNaN(M) {
				t.Fatalf("features of %d frames: %v, %v", n-tail, R, M)
			}
			return
		}
		wantR, wantM := naive(l, rows[:n-tail], gains[:n-tail], regress, lags)
		if math.Abs(R-wantR) > 1e-9 || math.Abs(M-wantM) > 1e-12 {
			t.Fatalf("%d frames: R %v, M %v; want %v, %v", n-tail, R, M, wantR, wantM)
		}
	})
}

// weighAll gives a judge ticks of one power and coherence, and returns the last.
func weighAll(j *judge, from, n int, power, r float64) Tick {
	var tick Tick
	for i := range n {
		tick = Tick{Time: motion.Time(float64(from+i) * TickInterval)}
		j.weigh(&tick, evidence{power: power, steady: power, r: r, halves: r})
	}
	return tick
}

func TestBaselineEscapesToANewQuiet(t *testing.T) {
	t.Parallel()
	j := newJudge(powerScale(product()), DefaultSensitivity)
	j.until = 10
	weighAll(&j, 0, 100, -8.5, 0.01)
	// An air conditioner: more power, incoherent.
	if tick := weighAll(&j, 100, 5, -6.0, 0.07); !tick.Normal.Motion {
		t.Fatalf("a rise of 2.5 is no motion: %+v", tick)
	}
	if tick := weighAll(&j, 105, 80, -6.0, 0.07); tick.Normal.Motion || math.Abs(tick.Baseline+6) > 0.1 {
		t.Errorf("after twenty seconds: motion %v, baseline %v", tick.Normal.Motion, tick.Baseline)
	}
	// Somebody walks: as steady, but coherent.
	if tick := weighAll(&j, 185, 400, -4.0, 0.5); !tick.Normal.Motion || tick.Baseline < -6.1 || tick.Baseline > -5.9 {
		t.Errorf("a walk: motion %v, baseline %v", tick.Normal.Motion, tick.Baseline)
	}
}

func TestMotionLastsTwoSecondsAfterItsLastSign(t *testing.T) {
	t.Parallel()
	j := newJudge(powerScale(product()), DefaultSensitivity)
	high := func(i int, r float64) Verdict {
		tick := Tick{Time: motion.Time(float64(i) * TickInterval)}
		j.weigh(&tick, evidence{power: -6, steady: -6, r: r, halves: 0, coherent: true, chance: 0.1})
		return tick.Normal
	}
	if v := high(0, 0.29); v.On || v.Motion {
		t.Errorf("R 0.29: %+v", v)
	}
	if v := high(1, 0.31); !v.On || !v.Motion {
		t.Errorf("R 0.31: %+v", v)
	}
	if v := high(2, 0.09); v.On || !v.Stay || !v.Motion {
		t.Errorf("R 0.09: %+v", v)
	}
	for i := 3; i < 10; i++ {
		if v := high(i, 0); v.Stay || !v.Motion {
			t.Errorf("%.2f s after the last sign: %+v", float64(i-2)*0.25, v)
		}
	}
	if v := high(10, 0); v.Motion {
		t.Errorf("two seconds after the last sign: %+v", v)
	}
}

func TestStrictVerdictNeedsAThirdMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r, halves      float64
		normal, strict bool
	}{{0.35, 0, true, false}, {0.40, 0, true, true}, {0.2, 0.16, true, false}, {0.2, 0.2, true, true}, {0.2, 0.14, false, false}} {
		j := newJudge(powerScale(product()), DefaultSensitivity)
		var tick Tick
		j.weigh(&tick, evidence{power: -6, steady: -6, r: c.r, halves: c.halves, coherent: true, chance: 0.1})
		if tick.Normal.On != c.normal || tick.Strict.On != c.strict {
			t.Errorf("R %v, halves %v: normal %v, strict %v", c.r, c.halves, tick.Normal.On, tick.Strict.On)
		}
	}
}

func TestRateChangesOnlyAfterTenSeconds(t *testing.T) {
	t.Parallel()
	var p pace
	now := motion.Time(0)
	block := func(rate float64) {
		end := now.Add(TickInterval)
		for ; now < end; now = now.Add(1 / rate) {
			p.arrive(now)
		}
		p.settle()
		p.close()
	}
	for range 8 {
		block(50)
	}
	if math.Abs(p.rate-50) > 1 || p.windowBlocks() != 4 || !p.coherent() {
		t.Fatalf("rate %v, window of %d", p.rate, p.windowBlocks())
	}
	for range 30 {
		block(10)
	}
	if p.windowBlocks() != 4 {
		t.Error("a dip of eight seconds changed the window")
	}
	for range 200 {
		block(10)
	}
	if math.Abs(p.rate-10) > 1 || p.windowBlocks() != 10 || p.coherent() {
		t.Errorf("rate %v, window of %d", p.rate, p.windowBlocks())
	}
}

// A tick that neither coherence nor power alone calls motion.
func TestCoherenceAndPowerTogetherBeginMotion(t *testing.T) {
	t.Parallel()
	high := evidence{power: -7, steady: -7, r: 0.18, halves: 0.1, rb: 0.2, newest: -7, coherent: true, chance: 0.1}
	low := evidence{power: -7.5, steady: -8.9, r: 0.2, halves: 0.1, rb: 0.45, newest: -6.5}
	with := func(e evidence, change func(*evidence)) evidence { change(&e); return e }
	for name, c := range map[string]struct {
		e    evidence
		want bool
	}{
		"high rate":                     {high, true},
		"high rate, so few frames":      {with(high, func(e *evidence) { e.chance = 1 / math.Sqrt(30) }), false},
		"high rate, power of the quiet": {with(high, func(e *evidence) { e.power = -8.1 }), false},
		"high rate, faint":              {with(high, func(e *evidence) { e.faint = true }), false},
		"low rate":                      {low, true},
		"low rate, incoherent":          {with(low, func(e *evidence) { e.rb = 0.35 }), false},
		"low rate, newer half unknown":  {with(low, func(e *evidence) { e.rb = math.NaN() }), false},
		"low rate, barely louder":       {with(low, func(e *evidence) { e.newest = -7.2 }), false},
	} {
		for _, s := range []scale{powerScale(product()), lm1Scale()} {
			j := newJudge(s, DefaultSensitivity)
			j.take(quiet{baseline: -8.5})
			var tick Tick
			j.weigh(&tick, c.e)
			if want := c.want && s.prompt; tick.Normal.On != want || tick.Strict.On {
				t.Errorf("%s, prompt %v: normal %+v, strict %+v, want on %v", name, s.prompt, tick.Normal, tick.Strict, want)
			}
		}
	}
}

func TestFaintLinkNeedsBothHalves(t *testing.T) {
	t.Parallel()
	for halves, want := range map[float64]bool{0.02: false, 0.07: false, 0.1: true} {
		j := newJudge(powerScale(product()), DefaultSensitivity)
		var tick Tick
		j.weigh(&tick, evidence{power: -6, steady: -6, r: 0.4, halves: halves, coherent: true, faint: true, chance: 0.1})
		if tick.Normal.On != want {
			t.Errorf("halves %v: on %v", halves, tick.Normal.On)
		}
	}
}

// TestFewFramesMustAgreeMore: what starts motion in a hundred frames may be noise in thirty.
func TestFewFramesMustAgreeMore(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]evidence{
		"the whole window": {power: -9, steady: -9, r: 0.35, coherent: true},
		"both halves":      {power: -9, steady: -9, halves: 0.2, coherent: true},
	} {
		for frames, want := range map[float64]bool{100: true, 30: false} {
			j := newJudge(powerScale(product()), DefaultSensitivity)
			j.calibrated = true
			e.chance = 1 / math.Sqrt(frames)
			if v, _ := j.decide(&j.normal, 0, &e, -8); v.On != want {
				t.Errorf("%s of %v frames: on %v", name, frames, v.On)
			}
		}
	}
}

// TestLagsAreTimes: at any rate, with jitter and after a while of loss, the lags span the same time,
// unless that is less than one or more than maxLag intervals.
func TestLagsAreTimes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		name               string
		rate, jitter, loss float64
		want               float64
	}{
		{"a steady rate", 59.5, 0, 0, 0.06 * 59.5},
		{"just below two lags", 33, 0, 0, 1.98},
		{"jitter of twice the interval", 50, 0.04, 0, 3},
		{"a third lost", 60, 0, 1. / 3, 0.06 * 40},
		{"less than one lag", 10, 0, 0, 1},
		{"more than the most", 140, 0, 0, maxLag},
	} {
		var p pace
		var times []float64
		for i := range int(test.rate * 180) {
			if at := float64(i)/test.rate + test.jitter*r.Float64(); r.Float64() >= test.loss {
				times = append(times, at)
			}
		}
		slices.Sort(times)
		least, most := math.Inf(1), 0.0
		next := 0
		for tick := 1; tick < 700; tick++ {
			for ; next < len(times) && times[next] <= float64(tick)*TickInterval; next++ {
				p.arrive(motion.Time(times[next]))
			}
			p.settle()
			p.close()
			if lags := p.lags(0.06); tick > 240 {
				least, most = min(least, lags), max(most, lags)
			}
		}
		if least < 0.97*test.want || most > 1.03*test.want {
			t.Errorf("%s: %.3f to %.3f lags, want %.3f", test.name, least, most, test.want)
		}
	}
}
