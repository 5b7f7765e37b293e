package detect_test

import (
	"math"
	"testing"

	"sensegate/motion"
	"sensegate/motion/detect"
)

// calibrating returns a link that has run for a minute, calibrated in its first
// ten seconds, and the time it has come to.
func calibrating(t *testing.T) (*detect.Link, func(rows [][]float32)) {
	t.Helper()
	config := detect.Defaults()
	config.Calibration = 10
	link := detect.NewLink(config)
	at := epoch
	feed := func(rows [][]float32) {
		for _, row := range rows {
			link.Push(at, row, nil, -50, func(detect.Tick) {})
			at = at.Add(0.02)
		}
	}
	if c := link.Calibration(); link.CancelCalibration() || c.Running || c.Done {
		t.Fatalf("before the first frame: %+v", c)
	}
	feed(noise(30, 250, 64))
	if c := link.Calibration(); !c.Running || c.Done {
		t.Fatalf("after five seconds: %+v", c)
	}
	feed(noise(31, 2750, 64))
	return link, feed
}

func TestCalibrationIsDoneAgain(t *testing.T) {
	t.Parallel()
	link, feed := calibrating(t)
	first := link.Calibration()
	if first.Running || !first.Done || first.At < epoch+9 || first.At > epoch+12 {
		t.Fatalf("calibrated %+v", first)
	}
	link.Calibrate()
	feed(walk(32, 250, 64, 50))
	if c := link.Calibration(); !c.Running || !c.Done || c.At != first.At {
		t.Errorf("under way: %+v", c)
	}
	feed(walk(33, 500, 64, 50))
	if c := link.Calibration(); c.Running || !c.Done || !c.Disturbed || c.At < epoch+69 || c.Baseline < first.Baseline+1 {
		t.Errorf("done again: %+v, before %+v", c, first)
	}
}

func TestCancelledCalibrationGivesBackWhatWasLearned(t *testing.T) {
	t.Parallel()
	link, feed := calibrating(t)
	before := link.Calibration()
	if link.CancelCalibration() {
		t.Error("there was no calibration to cancel")
	}
	link.Calibrate()
	feed(walk(34, 300, 64, 50))
	if s := link.Snapshot(); !s.Calibrated || s.Baseline != before.Baseline || s.CalibratedAt != before.At {
		t.Errorf("a restart meanwhile would find %+v, want what was before: %+v", s, before)
	}
	if !link.CancelCalibration() {
		t.Error("the calibration was not cancelled")
	}
	if after := link.Calibration(); after != before {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func TestFirstCalibrationIsCutShort(t *testing.T) {
	t.Parallel()
	link := detect.NewLink(detect.Defaults())
	run(link, noise(35, 500, 64), 50)
	if !link.CancelCalibration() {
		t.Fatal("there was no calibration to cancel")
	}
	if c := link.Calibration(); c.Running || !c.Done || c.At < epoch+9 || c.Baseline == 0 {
		t.Errorf("after ten seconds %+v", c)
	}
}

// Who is silent while it calibrates has learned nothing.
func TestCalibrationOfASilentLinkChangesNothing(t *testing.T) {
	t.Parallel()
	link, feed := calibrating(t)
	before := link.Calibration()
	link.Calibrate()
	link.Advance(epoch+200, func(detect.Tick) {})
	rows := noise(36, 200, 64)
	for i, row := range rows {
		link.Push(epoch+motion.Time(210+float64(i)*0.02), row, nil, -50, func(detect.Tick) {})
	}
	feed(nil)
	if after := link.Calibration(); after.Running || after.At != before.At || math.Abs(after.Baseline-before.Baseline) > 0.5 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// A figure that stays high for minutes is the new quiet, whatever it was before.
func TestCoarseLinkEscapesToANewQuiet(t *testing.T) {
	t.Parallel()
	link := detect.NewCoarse(detect.Defaults(), detect.Reported)
	feed(link, 0, 0.5, 120, func(int) float64 { return 0.01 })
	ticks := feed(link, 60, 0.5, 400, func(int) float64 { return 0.2 })
	if !ticks[100].Normal.Motion || ticks[len(ticks)-1].Normal.Motion {
		t.Errorf("at 25 s motion %v, at 200 s %v", ticks[100].Normal.Motion, ticks[len(ticks)-1].Normal.Motion)
	}
	link.Calibrate()
	if c := link.Calibration(); !c.Running || !c.Done || !link.CancelCalibration() {
		t.Errorf("calibration %+v", c)
	}
}
