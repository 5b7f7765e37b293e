package detect_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/detect"
)

func TestWhatWasLearnedSurvivesARestart(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{10, 50} {
		config := detect.Defaults()
		config.Calibration = 5
		before := detect.NewLink(config)
		rows := noise(20, int(60*rate), 64)
		run(before, rows, rate)
		text, err := json.Marshal(before.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		var learned detect.Learned
		if err := json.Unmarshal(text, &learned); err != nil {
			t.Fatal(err)
		}
		if !learned.Calibrated || learned.Disturbed || len(learned.Bins) != 64 || math.Abs(learned.Rate-rate) > rate/50 {
			t.Errorf("learned %s", text)
		}
		after := detect.NewLink(config)
		if err := after.Restore(learned); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(learned, after.Snapshot()); d != "" {
			t.Errorf("restored link (-before +after):\n%s", d)
		}
		ticks := run(after, rows, rate)
		if first := ticks[0]; !first.Valid || math.Abs(first.Baseline-learned.Baseline) > 1e-9 {
			t.Errorf("first tick after a restart: valid %v, baseline %v, want %v", first.Valid, first.Baseline, learned.Baseline)
		}
	}
}

// Restored on frames of another length, only the rest is void.
func TestRestoredLinkAcceptsAnotherFrameLength(t *testing.T) {
	t.Parallel()
	before := detect.NewLink(detect.Defaults())
	run(before, noise(21, 2000, 64), 50)
	after := detect.NewLink(detect.Defaults())
	if err := after.Restore(before.Snapshot()); err != nil {
		t.Fatal(err)
	}
	ticks := run(after, noise(22, 500, 56), 50)
	if l := after.Snapshot(); l.Length != 56 || !ticks[len(ticks)-1].Valid {
		t.Errorf("learned %+v, last tick %+v", l, ticks[len(ticks)-1])
	}
}

func TestMotionDuringCalibrationIsReported(t *testing.T) {
	t.Parallel()
	config := detect.Defaults()
	config.Calibration = 10
	link := detect.NewLink(config)
	run(link, walk(23, 600, 64, 50), 50)
	if l := link.Snapshot(); !l.Calibrated || !l.Disturbed {
		t.Errorf("learned %+v", l)
	}
}

func TestUnusableMemoryIsRefused(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]detect.Learned{
		"baseline":        {Baseline: math.NaN(), Calibrated: true},
		"rate":            {Rate: -1},
		"bin beyond":      {Length: 4, Bins: []int{1, 4}},
		"negative bin":    {Length: 4, Bins: []int{-1, 2}},
		"bins descending": {Length: 4, Bins: []int{2, 1}},
		"bin twice":       {Length: 4, Bins: []int{1, 1}},
		"former baseline": {Former: []detect.Learned{{Length: 4, Bins: []int{1}, Baseline: math.Inf(1)}}},
		"former bins":     {Former: []detect.Learned{{Length: 4}}},
		"former's former": {Former: []detect.Learned{{Length: 4, Bins: []int{1}, Former: make([]detect.Learned, 1)}}},
		"many formats":    {Former: make([]detect.Learned, 4)},
	} {
		link := detect.NewLink(detect.Defaults())
		if err := link.Restore(l); err == nil {
			t.Errorf("%s: accepted %+v", name, l)
		}
		if d := cmp.Diff(detect.NewLink(detect.Defaults()).Snapshot(), link.Snapshot()); d != "" {
			t.Errorf("%s: something was restored:\n%s", name, d)
		}
	}
}

func TestBinsAreChosenAgainAfterTwoHundredFrames(t *testing.T) {
	t.Parallel()
	// For a second only half of the subcarriers are heard.
	rows := noise(26, 400, 64)
	for _, row := range rows[:60] {
		for k := 32; k < 64; k++ {
			row[k] = 0
		}
	}
	link := detect.NewLink(detect.Defaults())
	var bins []int
	for i, row := range rows {
		link.Push(epoch+motion.Time(i)*0.02, row, nil, 0, func(t detect.Tick) {
			if !t.Valid {
				t.Time = 0
			}
			bins = append(bins, len(link.Snapshot().Bins))
		})
	}
	if bins[0] != 32 || bins[len(bins)-1] != 64 {
		t.Errorf("valid bins tick by tick: %v", bins)
	}
}
