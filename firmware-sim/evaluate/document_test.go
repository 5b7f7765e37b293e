package evaluate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/motion/detect"
)

// TestTheDocumentSaysWhatIsMeasured compares the tables of docs/detection.md with what the command
// prints today.
func TestTheDocumentSaysWhatIsMeasured(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "detection.md"))
	if err != nil {
		t.Fatal(err)
	}
	document := strings.ReplaceAll(string(text), "**", "")
	s := shown(t)
	product, recipe := everywhere(t)

	var want []string
	for g := range s.groups {
		now, was := product[g][0].figures(), recipe[g][0].figures()
		want = append(want, fmt.Sprintf("%.2f / %.2f | %.2f / %.2f |", *was.Recall, *was.FalsePositives, *now.Recall, *now.FalsePositives))
	}
	for d := range disturbances() {
		for name, scores := range map[string][][]*score{"LM1": recipe, "product": product} {
			row := "| " + name + " |"
			for k := d*len(rates()) + 1; k < (d+1)*len(rates()); k++ {
				row += fmt.Sprintf(" %.2f / %.2f |", *meanAccuracy(scores, k), *worstAccuracy(scores, k))
			}
			want = append(want, row)
		}
	}
	takes, err := open([]string{filepath.Join(captures(t), "..", "more", "geotec")})
	if err != nil {
		t.Fatal(err)
	}
	was, now := takes.measure(t, published(), condition{}).Groups[0], takes.measure(t, Defaults(), condition{}).Groups[0]
	want = append(want, fmt.Sprintf("outside the macro | %.2f | %.2f |", *was.Recall, *now.Recall),
		fmt.Sprintf("that motion is held | %.1f | %.1f |", *was.StillFlagged, *now.StillFlagged))
	left, err := s.cross(Defaults(), combine(detect.Defaults().Constants, knobs()))
	if err != nil {
		t.Fatal(err)
	}
	row := "| each set with what the others choose |"
	var mean, worst []rateCell
	for _, r := range left.Rates[0].Rows {
		switch {
		case r.Detector == chosenElsewhere && r.Set == meanOfSets:
			mean = r.Cells
		case r.Detector == chosenElsewhere && r.Set == worstSet:
			worst = r.Cells
		}
	}
	for k := 1; k < len(rates()); k++ {
		row += fmt.Sprintf(" %.2f / %.2f |", *mean[k].BalancedAccuracy, *worst[k].BalancedAccuracy)
	}
	want = append(want, row)
	all, err := s.measureLevels(detect.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		want = append(want, fmt.Sprintf("| %s (%.0f) | %.2f | %.2f | %.2f | %d | %.0f | %.0f |", l.Name, l.Sensitivity,
			*l.Recall, *l.FalsePositives, *l.Macro, l.Alarms.Onsets, *l.Alarms.PerDay, *l.Alarms.Bound))
	}
	for _, row := range want {
		if !strings.Contains(document, row) {
			t.Errorf("docs/detection.md lacks %q", row)
		}
	}
}
