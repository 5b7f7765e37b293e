package evaluate

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/detect"
)

func captures(t *testing.T) string {
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "csi")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("captures are missing: %v", err)
		}
		t.Skipf("captures are missing (set SENSEGATE_DATA): %v", err)
	}
	return filepath.Join(dir, "csi")
}

// shown returns the captures.
func shown(t *testing.T) *study {
	t.Helper()
	s, err := open([]string{captures(t)})
	if err != nil || len(s.problems) > 0 {
		t.Fatal(err, s.problems)
	}
	return s
}

// swept are the scores of the shown sets at all rates with all disturbances, by group: the product's and the
// recipe's. They take a while, and are measured once for all tests.
var swept struct {
	once            sync.Once
	product, recipe [][]*score
	err             error
}

// unraced skips a test that measures for minutes when the race detector is on, which shorter ones of the same code
// have seen.
func unraced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("measured without the race detector, as .ci/run does in a step of its own")
	}
}

func everywhere(t *testing.T) (product, recipe [][]*score) {
	t.Helper()
	unraced(t)
	s := shown(t)
	swept.once.Do(func() {
		measured := func(o Options) [][]*score {
			scores, err := s.sweep(conditions(), 1, nil, scored(o.config(), nil))
			swept.err = errors.Join(swept.err, err)
			return s.pool(scores[0])
		}
		swept.product, swept.recipe = measured(Defaults()), measured(published())
	})
	if swept.err != nil {
		t.Fatal(swept.err)
	}
	return swept.product, swept.recipe
}

// measure scores every capture under a condition.
func (s *study) measure(t *testing.T, options Options, c condition) *report {
	t.Helper()
	scores, err := s.sweep([]condition{c}, 1, nil, scored(options.config(), nil))
	if err != nil {
		t.Fatal(err)
	}
	return s.report(scores[0])
}

// published returns the options that measure the recipe.
func published() Options {
	o := Defaults()
	o.LM1 = true
	return o
}

// worst returns the least recall of a capture.
func (r *report) worst() float64 {
	least := 100.0
	for _, c := range r.Captures {
		if c.Recall != nil {
			least = min(least, *c.Recall)
		}
	}
	return least
}

func TestPublishedFiguresAreReached(t *testing.T) {
	t.Parallel()
	study := shown(t)
	for name, c := range map[string]struct {
		options      Options
		macro, worst float64
	}{"lm1": {published(), 98.25, 89.9}, "product": {Defaults(), 98.5, 92.4}} {
		r := study.measure(t, c.options, condition{})
		if *r.Macro < c.macro || r.worst() < c.worst {
			t.Errorf("%s: macro balanced accuracy %.2f, worst recall %.2f", name, *r.Macro, r.worst())
		}
		checked := 0
		for _, g := range r.Groups {
			if g.Reference == nil {
				continue
			}
			checked++
			if *g.Recall < g.Reference.Recall-0.1 || *g.FalsePositives > g.Reference.FalsePositives+0.1 {
				t.Errorf("%s, %s: recall %.2f, false positives %.2f; published %.1f, %.1f",
					name, g.Group, *g.Recall, *g.FalsePositives, g.Reference.Recall, g.Reference.FalsePositives)
			}
			if *g.Latency > g.Reference.Latency+0.1 {
				t.Errorf("%s, %s: latency %.2f s, published %.2f", name, g.Group, *g.Latency, g.Reference.Latency)
			}
		}
		if checked != 5 || len(r.Captures) != 30 {
			t.Errorf("%s: %d groups and %d captures", name, checked, len(r.Captures))
		}
	}
}

// interrupt makes an outage of 0.3 s in every second.
func interrupt(seed string, frames []capture.Frame) []capture.Frame {
	r := random(seed)
	second, begin := -1.0, 0.0
	var kept []capture.Frame
	for _, f := range frames {
		if s := math.Floor(f.Time); s != second {
			second, begin = s, s+0.7*r.Float64()
		}
		if f.Time < begin || f.Time >= begin+0.3 {
			kept = append(kept, f)
		}
	}
	return kept
}

// A bad network costs little, and nowhere more than it costs the recipe.
func TestDetectionSurvivesABadNetwork(t *testing.T) {
	t.Parallel()
	unraced(t)
	study := shown(t)
	worsened := func(w degrade) condition { return condition{disturbance: disturbance{worsen: w}} }
	for name, c := range map[string]struct {
		condition condition
		macro     float64
	}{
		"30 % loss": {worsened(lose), 97.5}, "30 % outages": {worsened(interrupt), 97.5}, "100 ms jitter": {worsened(jitter), 98},
		"40 frames a second": {worsened(thin(40)), 98}, "33 frames a second": {worsened(thin(33)), 97.3},
		"25 frames a second": {worsened(thin(25)), 97.8}, "10 frames a second": {worsened(thin(10)), 94},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, lm1 := study.measure(t, Defaults(), c.condition), study.measure(t, published(), c.condition)
			t.Logf("macro balanced accuracy %.2f, of the recipe %.2f; worst recall %.1f, %.1f", *r.Macro, *lm1.Macro, r.worst(), lm1.worst())
			if *r.Macro < c.macro || *r.Macro < *lm1.Macro || r.worst() < lm1.worst()-1 {
				t.Errorf("macro balanced accuracy %.2f, worst recall %.1f; want at least %.1f and the recipe's %.2f, %.1f",
					*r.Macro, r.worst(), c.macro, *lm1.Macro, lm1.worst())
			}
		})
	}
}

// A link without channel state is coarse, not useless.
func TestSignalStrengthAloneSeesMotion(t *testing.T) {
	t.Parallel()
	recordings, err := capture.Scan(captures(t))
	if err != nil {
		t.Fatal(err)
	}
	var sum score
	for _, r := range recordings {
		if err := r.Load(); err != nil {
			t.Fatal(err)
		}
		if r.Frames[0].RSSI == 0 {
			continue
		}
		config := detect.Defaults()
		config.Anchored = true
		config.Calibration, _ = r.CalibrationEnd()
		link := detect.NewCoarse(config, detect.Signal)
		var ticks []decision
		for _, f := range r.Frames {
			link.Push(motion.Time(f.Time), float64(f.RSSI), func(tick detect.Tick) {
				ticks = append(ticks, decision{motion.Seconds(tick.Time), tick.Normal.Motion})
			})
		}
		sum.add(compare(rules{true, config.Calibration, r.Header.QuietGuard}.moments(r.Frames), ticks))
	}
	f := sum.figures()
	if f.BalancedAccuracy == nil || *f.BalancedAccuracy < 94 {
		t.Errorf("recall and false positives %s", f.row())
	}
}

// synthesise writes a capture of somebody walking in the second half, with only
// the header given.
func synthesise(t *testing.T, path, header string, bins int, rate float64) {
	t.Helper()
	late := func(at float64) bool { return at >= 30 }
	writeCapture(t, path, header, bins, rate, 60, late, func(at float64) capture.Label {
		if late(at) {
			return capture.Motion
		}
		return capture.Quiet
	})
}

// writeCapture writes a capture of so many seconds: when somebody walks, and what the labels say.
func writeCapture(t *testing.T, path, header string, bins int, rate, length float64, walks func(at float64) bool, label func(at float64) capture.Label) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "# %s\nt_ms,label,rssi,data_hex\n", header)
	r := random(path)
	for i := range int(length * rate) {
		row := make([]byte, bins)
		at, ripple := float64(i)/rate, 0.0
		if walks(at) {
			ripple = 0.2
		}
		for k := range row {
			row[k] = byte(60 * (1 + ripple*math.Sin(2*math.Pi*1.3*at+float64(k)/8) + 0.03*r.NormFloat64()))
		}
		fmt.Fprintf(&text, "%.1f,%d,,%x\n", at*1e3, label(at), row)
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, z.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestUnknownCapturesAreEvaluated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synthesise(t, filepath.Join(dir, "a", "bare.csv.gz"), `{"kind":"amp_uint8"}`, 57, 20)
	synthesise(t, filepath.Join(dir, "b", "c", "antennas.csv.gz"),
		`{"kind":"amp_uint8","bins":90,"segments":[[0,30],[30,60],[60,90]],"group":"three antennas","calibrate":{"frames":200}}`, 90, 100)
	synthesise(t, filepath.Join(dir, "b", "hole.csv.gz"),
		`{"kind":"amp_uint8","segments":[[2,110],[140,250]],"group":"holes","calibrate":{"quiet_frames":50},"rate_hz":12}`, 256, 12)
	var out bytes.Buffer
	options := Defaults()
	options.JSON = true
	if err := Run([]string{dir}, &out, options); err != nil {
		t.Fatal(err)
	}
	var r struct {
		Macro    float64 `json:"macro_balanced_accuracy"`
		Groups   []struct{ Group string }
		Captures []struct {
			Capture string
			Recall  float64
			FP      float64 `json:"false_positive_rate"`
			F1      float64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	if len(r.Captures) != 3 || len(r.Groups) != 3 || r.Groups[0].Group != "a" {
		t.Fatalf("report %+v", r)
	}
	for _, c := range r.Captures {
		if c.Recall < 90 || c.FP > 2 || c.F1 < 90 {
			t.Errorf("%+v", c)
		}
	}
	if r.Macro < 95 {
		t.Errorf("macro %v", r.Macro)
	}
}

func TestUnreadableCaptureIsReportedAndTheRestEvaluated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synthesise(t, filepath.Join(dir, "good.csv.gz"), `{"kind":"amp_uint8"}`, 57, 20)
	synthesise(t, filepath.Join(dir, "broken.csv.gz"), `{"kind":"music"}`, 57, 20)
	var out bytes.Buffer
	err := Run([]string{dir}, &out, Defaults())
	if err == nil || !strings.Contains(out.String(), "broken.csv.gz") || !strings.Contains(out.String(), "macro balanced accuracy") {
		t.Errorf("error %v, report:\n%s", err, &out)
	}
	if err := Run([]string{t.TempDir()}, &out, Defaults()); err == nil {
		t.Error("a folder without captures has figures")
	}
}

func TestScoringFollowsTheLabelOfTheNewestFrame(t *testing.T) {
	t.Parallel()
	var frames []capture.Frame
	for i := range 400 { // 40 s: quiet, motion from 10 s, quiet from 20 s, a still person from 35 s
		at := float64(i) / 10
		label := capture.Quiet
		switch {
		case at >= 35:
			label = capture.Still
		case at >= 10 && at < 20:
			label = capture.Motion
		}
		frames = append(frames, capture.Frame{Time: at, Label: label})
	}
	var ticks []decision
	for k := range 156 {
		at := 1 + float64(k)*0.25
		ticks = append(ticks, decision{at, at >= 11 && at < 21 || at >= 28 && at < 29 || at >= 36})
	}
	s := compare(rules{calibrated: true, calibration: 2, guard: 5}.moments(frames), ticks)
	if s.motion != 40 || s.hits != 36 || s.onsets != 1 || s.alarms != 4 || s.still != 20 || s.stillFlagged != 16 {
		t.Errorf("score %+v", s)
	}
	if want := 31 + 40; s.quiet != want { // 2.25…9.75 s, and from 5 s after the last frame of motion to 34.75 s
		t.Errorf("%d quiet ticks, want %d", s.quiet, want)
	}
	if len(s.latencies) != 1 || s.latencies[0] != 1 || s.motionSpans != 1 || s.missing != 0 {
		t.Errorf("latencies %v", s.latencies)
	}
}
