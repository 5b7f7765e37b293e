package evaluate

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/firmware-sim/capture"
	"sensegate/motion/detect"
)

// steady returns frames at a steady rate for some seconds.
func steady(rate, seconds float64) []capture.Frame {
	var frames []capture.Frame
	for i := range int(rate * seconds) {
		frames = append(frames, capture.Frame{Time: float64(i) / rate})
	}
	return frames
}

func TestThinningKeepsTheRateAndVariesTheIntervals(t *testing.T) {
	t.Parallel()
	frames := thin(33)("a", steady(100, 60))
	if rate := rateOf(frames); math.Abs(rate-33) > 0.1 {
		t.Errorf("%.2f frames/s", rate)
	}
	intervals := map[int]int{}         // ms
	for i := 2; i < len(frames); i++ { // the first beat is as near as chance has it
		intervals[int(math.Round(1e3*(frames[i].Time-frames[i-1].Time)))]++
	}
	if len(intervals) != 2 || intervals[30] < 1000 || intervals[40] < 20 {
		t.Errorf("intervals %v", intervals)
	}
}

func TestConditionsAreReachedByRecordingsWithTheFrames(t *testing.T) {
	t.Parallel()
	r := &capture.Recording{Name: "a", Frames: steady(50, 30)}
	for rate, want := range map[float64]int{0: 1500, 10: 300, 25: 750, 50: 1500, 100: 0} {
		c := condition{rate: rate}
		if c.reached(r) != (want > 0) {
			t.Errorf("%v frames/s: reached %v", rate, !c.reached(r))
		}
		if n := len(c.apply(r, 0)); want > 0 && (n < want-2 || n > want+2) {
			t.Errorf("%v frames/s: %d frames, want %d", rate, n, want)
		}
	}
	c := condition{rate: 20}
	first, again, other := c.apply(r, 1), c.apply(r, 1), c.apply(r, 2)
	if first[5].Time != again[5].Time || first[5].Time == other[5].Time {
		t.Errorf("draw 1: frame at %v, again at %v; draw 2 at %v", first[5].Time, again[5].Time, other[5].Time)
	}
}

// TestBoundIsThatOfThePoissonDistribution compares with the tables of Garwood 1936.
func TestBoundIsThatOfThePoissonDistribution(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{0: 2.996, 1: 4.744, 4: 9.154, 10: 16.962, 50: 63.287, 973: 1025.896} { // the last one by its definition, with logarithms
		if got := poissonBound(n); math.Abs(got-want) > 1e-3 {
			t.Errorf("%d: %.4f, want %.3f", n, got, want)
		}
	}
}

func TestFalseAlarmsADayHaveABound(t *testing.T) {
	t.Parallel()
	a := alarmsOf(score{quiet: 4 * 3600 * 12, onsets: 2}) // 12 hours
	if want := "2 onsets in 12.00 hours of quiet: 4 a day, with 95 % confidence at most 13"; a.String() != want {
		t.Errorf("%q, want %q", a, want)
	}
	if a := alarmsOf(score{motion: 100}); a.PerDay != nil || a.String() != "no quiet was recorded" {
		t.Errorf("without quiet: %q", a)
	}
}

// Less sensitive is not more: recall and false positives rise with the sensitivity, 0 included.
func TestLevelsRise(t *testing.T) {
	t.Parallel()
	all, err := shown(t).measureLevels(detect.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Name != "Very Low" || all[0].Sensitivity != 0 {
		t.Errorf("first level %q, %v", all[0].Name, all[0].Sensitivity)
	}
	for i := 1; i < len(all); i++ {
		if *all[i].Recall <= *all[i-1].Recall || *all[i].FalsePositives < *all[i-1].FalsePositives {
			t.Errorf("%s: recall %.2f, FP %.2f; %s: %.2f, %.2f", all[i-1].Name, *all[i-1].Recall, *all[i-1].FalsePositives,
				all[i].Name, *all[i].Recall, *all[i].FalsePositives)
		}
	}
}

// TestSensitivityZeroIsMeasured: 0 is the level Very Low, not "the default".
func TestSensitivityZeroIsMeasured(t *testing.T) {
	t.Parallel()
	study := shown(t)
	deaf := Defaults()
	deaf.Sensitivity = 0
	if now, as := study.measure(t, deaf, condition{}), study.measure(t, Defaults(), condition{}); *now.Macro >= *as.Macro-0.5 {
		t.Errorf("macro %.2f at 0, %.2f as it is", *now.Macro, *as.Macro)
	}
}

// TestASetWithoutQuietIsOutsideTheMacro reads the takes of sitting and walking.
func TestASetWithoutQuietIsOutsideTheMacro(t *testing.T) {
	t.Parallel()
	csi := captures(t)
	s, err := open([]string{csi, filepath.Join(csi, "..", "more", "geotec")})
	if err != nil {
		t.Fatal(err)
	}
	with, without := s.measure(t, Defaults(), condition{}), shown(t).measure(t, Defaults(), condition{})
	if *with.Macro != *without.Macro || len(with.Groups) != len(without.Groups)+1 {
		t.Errorf("macro %.3f of %d groups, %.3f of %d", *with.Macro, len(with.Groups), *without.Macro, len(without.Groups))
	}
	for _, g := range with.Groups {
		if g.Group == "geotec chairs" && (g.BalancedAccuracy != nil || *g.Recall < 99 || g.StillFlagged == nil) {
			t.Errorf("row %+v", g)
		}
	}
}

// TestAGroupHasNoSayInItsOwnConstants: the first setting is perfect on the first group alone.
func TestAGroupHasNoSayInItsOwnConstants(t *testing.T) {
	t.Parallel()
	cell := func(hits int) []*score { return []*score{{hits: hits, motion: 100, quiet: 100}, nil} }
	settings := make([]detect.Constants, 3) // equally careful
	groups := [][][]*score{                 // by setting and group
		{cell(100), cell(10), cell(10)},
		{cell(0), cell(60), cell(60)},
		{cell(0), cell(60), cell(50)},
	}
	for leftOut, want := range []int{1, 0, 1} {
		if leftOut == 2 { // groups 0 and 1 decide: 55 against 30
			want = 0
		}
		if got, accuracy := choose(settings, groups, leftOut); got != want {
			t.Errorf("without group %d: setting %d (%.1f), want %d", leftOut, got, accuracy, want)
		}
	}
}

func TestOfSettingsThatAreAboutAsGoodTheMostCarefulIsChosen(t *testing.T) {
	t.Parallel()
	product := detect.Defaults().Constants
	careful, deaf := product, product
	product.Alone, careful.Alone = 2, 2.5
	deaf.Alone, deaf.Noise = careful.Alone, 1.8
	of := func(hits int) [][]*score {
		return [][]*score{{{hits: 0, motion: 1, quiet: 1}}, {{hits: hits, motion: 1000, quiet: 1}}}
	}
	settings := []detect.Constants{product, careful, deaf}
	if got, accuracy := choose(settings, [][][]*score{of(990), of(989), of(980)}, 0); got != 1 || accuracy != 99.45 {
		t.Errorf("setting %d, %v", got, accuracy)
	}
	if text := changes(product); text != "alone 2 (product 2.5)" {
		t.Errorf("changes: %q", text)
	}
}

func TestTheGridHoldsTheProduct(t *testing.T) {
	t.Parallel()
	product := detect.Defaults().Constants
	found := 0
	for _, c := range combine(product, append([]knob{lagKnob()}, knobs()...)) {
		if c == product {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d times", found)
	}
}

// TestTheProductHoldsAtEveryRate: what docs/detection.md says of the shown sets from 25 frames a second on, and
// nowhere much less than the recipe.
func TestTheProductHoldsAtEveryRate(t *testing.T) {
	t.Parallel()
	s := shown(t)
	product, recipe := everywhere(t)
	for k, c := range conditions()[:len(rates())] { // undisturbed
		if c.rate >= slowest && (*meanAccuracy(product, k) < 97.5 || *worstAccuracy(product, k) < 97) {
			t.Errorf("%v frames/s: mean %.2f, worst %.2f", c.rate, *meanAccuracy(product, k), *worstAccuracy(product, k))
		}
		for g, name := range s.groups {
			if now, was := product[g][k], recipe[g][k]; now != nil && *now.accuracy() < *was.accuracy()-0.4 {
				t.Errorf("%s at %v frames/s: %.2f, the recipe %.2f", name, c.rate, *now.accuracy(), *was.accuracy())
			}
		}
	}
}

// TestEachSetIsLeftOutOnce runs the whole of Cross over three invented sets.
func TestEachSetIsLeftOutOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"attic", "barn", "cellar"} {
		synthesise(t, filepath.Join(dir, name+".csv.gz"), `{"kind":"amp_uint8","calibrate":{"frames":200},"group":"`+name+`"}`, 57, 50)
	}
	s, err := open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	least, most := 0, 0
	options := Defaults()
	options.Progress = func(done, of int) { least, most = max(least, done), of }
	r, err := s.cross(options, combine(detect.Defaults().Constants, knobs()[:1]))
	if err != nil {
		t.Fatal(err)
	}
	if least != most || most != 3*3*7 { // sets, disturbances, rates that are reached
		t.Errorf("progress ended at %d of %d", least, most)
	}
	if len(r.Folds) != 3 || r.Settings != 9 || len(r.Rates) != 3 {
		t.Fatalf("%d folds, %d settings, %d tables", len(r.Folds), r.Settings, len(r.Rates))
	}
	for _, f := range r.Folds {
		if f.Others < f.Product-tolerance || f.Others < 90 {
			t.Errorf("%+v", f)
		}
	}
	var out bytes.Buffer
	if err := r.write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"of 9 settings", "attic ", "barn ", "cellar ", chosenElsewhere, lm1, "worst cell", "30 % lost"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
