// Package evaluate measures the product's detection on labelled captures of real
// radios, as docs/detection.md shows. On simulated homes it measures detection, and
// the sleep times of motion/insight, against the simulated truth. It knows scoring
// and the reference figures; it must not know how motion is detected.
//
// Run may be called concurrently.
package evaluate

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/detect"
)

// Options change what Run does. The zero value prints a table of the product's
// defaults.
type Options struct {
	JSON        bool    // one JSON object instead of the table
	Sensitivity float64 // 0 = the default, otherwise up to 100
	LM1         bool    // measure the published recipe instead of the product's detector
}

// Run evaluates every labelled capture below dir and writes the figures to w. It
// lists captures that it cannot read and then returns an error.
func Run(dir string, w io.Writer, options Options) error {
	report, err := measure(dir, options, nil)
	if err != nil {
		return err
	}
	if options.JSON {
		err = report.writeJSON(w)
	} else {
		err = report.writeTable(w)
	}
	if err == nil && len(report.Problems) > 0 {
		err = fmt.Errorf("evaluate %s: some captures could not be read, see the report", dir)
	}
	return err
}

// degrade returns a recording's frames in worse quality. It may be called
// concurrently.
type degrade func(recording string, frames []capture.Frame) []capture.Frame

// measure scores all recordings below dir concurrently; worsen may be nil.
func measure(dir string, options Options, worsen degrade) (*report, error) {
	recordings, err := capture.Scan(dir)
	var problems []error
	if err != nil {
		problems = append(problems, err)
	}
	if len(recordings) == 0 {
		return nil, errors.Join(fmt.Errorf("evaluate %s: no labelled captures (*.csv.gz)", dir), err)
	}
	scores := make([]score, len(recordings))
	failures := make([]error, len(recordings))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, r := range recordings {
		group.Go(func() error {
			if failures[i] = r.Load(); failures[i] == nil {
				scores[i], failures[i] = assess(r, options, worsen)
			}
			r.Frames = nil
			return nil
		})
	}
	_ = group.Wait() // always nil: see failures
	return summarise(recordings, scores, append(problems, failures...)), nil
}

// assess runs the detector over a loaded recording and scores it.
func assess(r *capture.Recording, options Options, worsen degrade) (score, error) {
	config := detect.Defaults()
	config.Anchored, config.LM1 = true, options.LM1
	if options.Sensitivity != 0 {
		config.Sensitivity = options.Sensitivity
	}
	rules := rules{guard: r.Header.QuietGuard}
	if end, some := r.CalibrationEnd(); some {
		config.Calibration = end
		rules.calibrated, rules.calibration = true, end
	}
	frames := r.Frames
	if worsen != nil {
		frames = worsen(r.Name, frames)
	}
	slices.SortStableFunc(frames, func(a, b capture.Frame) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
	var ticks []decision
	err := detectMotion(r, frames, config, func(t detect.Tick) {
		ticks = append(ticks, decision{motion.Seconds(t.Time), t.Normal.Motion})
	})
	if err != nil {
		return score{}, err
	}
	return rules.score(frames, ticks), nil
}
