package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"sensegate/motion"
	"sensegate/motion/detect"
)

// feed pushes n figures and returns the ticks.
func feed(link *detect.Coarse, start, step float64, n int, value func(i int) float64) []detect.Tick {
	var ticks []detect.Tick
	for i := range n {
		link.Push(epoch+motion.Time(start+float64(i)*step), value(i), func(t detect.Tick) { ticks = append(ticks, t) })
	}
	return ticks
}

func TestSwingingSignalIsMotion(t *testing.T) {
	t.Parallel()
	link := detect.NewCoarse(detect.Defaults(), detect.Signal)
	r := rand.New(rand.NewPCG(1, 1))
	quiet := feed(link, 0, 0.1, 400, func(int) float64 { return math.Round(-60 + 0.3*r.NormFloat64()) })
	if len(quiet) == 0 || share(quiet[8:], func(t detect.Tick) bool { return t.Valid && !t.Normal.Motion }) < 1 {
		t.Errorf("a steady signal: %+v", quiet[len(quiet)-1])
	}
	loud := feed(link, 40, 0.1, 200, func(i int) float64 { return math.Round(-60 + 5*math.Sin(float64(i)/3)) })
	if s := share(loud[8:], moving); s < 1 {
		t.Errorf("a swinging signal is motion in %.2f of the ticks", s)
	}
	last := loud[len(loud)-1]
	if q := last.Quality; !q.Coarse || q.Amplitude != 0 || math.Abs(q.RSSI+60) > 2 || math.Abs(q.Rate-10) > 0.5 {
		t.Errorf("quality %+v", q)
	}
	if !math.IsNaN(last.Features.R) || last.Intensity <= 0 {
		t.Errorf("tick %+v", last)
	}
}

func TestReportedIntensityIsFollowed(t *testing.T) {
	t.Parallel()
	for name, background := range map[string]float64{"silent when quiet": 0, "a noisy figure": 0.02} {
		link := detect.NewCoarse(detect.Defaults(), detect.Reported)
		quiet := feed(link, 0, 0.5, 80, func(int) float64 { return background })
		if s := share(quiet[len(quiet)/2:], moving); s > 0 {
			t.Errorf("%s: quiet is motion in %.2f of the ticks", name, s)
		}
		busy := feed(link, 40, 0.5, 20, func(int) float64 { return 0.4 })
		if s := share(busy[4:], moving); s < 1 {
			t.Errorf("%s: motion in %.2f of the ticks", name, s)
		}
		after := feed(link, 50, 0.5, 20, func(int) float64 { return background })
		if after[len(after)-1].Normal.Motion {
			t.Errorf("%s: motion goes on", name)
		}
	}
}

func TestCoarseLinkFallsSilent(t *testing.T) {
	t.Parallel()
	for _, source := range []detect.Source{detect.Signal, detect.Reported} {
		link := detect.NewCoarse(detect.Defaults(), source)
		feed(link, 0, 0.1, 100, func(i int) float64 { return float64(i % 7) })
		var last detect.Tick
		link.Advance(epoch+14, func(t detect.Tick) { last = t })
		if last.Valid || last.Normal.Motion || last.Time != epoch+14 {
			t.Errorf("source %d: %+v", source, last)
		}
	}
}

func TestCoarseLinkSurvivesOddInputAndRestart(t *testing.T) {
	t.Parallel()
	config := detect.Defaults()
	config.Calibration = 5
	link := detect.NewCoarse(config, detect.Signal)
	none := func(detect.Tick) {}
	for _, odd := range []float64{math.NaN(), math.Inf(1), 1e300} {
		link.Push(motion.Time(odd), -60, none)
		link.Push(epoch, odd, none)
	}
	feed(link, 1, 0.1, 200, func(i int) float64 { return -60 + float64(i%2) })
	learned := link.Snapshot()
	again := detect.NewCoarse(config, detect.Signal)
	if err := again.Restore(learned); err != nil {
		t.Fatal(err)
	}
	if !learned.Calibrated || again.Snapshot().Baseline != learned.Baseline || math.IsNaN(learned.Baseline) {
		t.Errorf("learned %+v, restored %+v", learned, again.Snapshot())
	}
}
