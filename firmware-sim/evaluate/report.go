package evaluate

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

const columns = "recall %\tFP %\tprecision %\tF1 %\tbAcc %\tfalse onsets/h\tlatency s\tstill flagged %\tquiet min\tmotion min\t"

// writeTable writes a row per capture and per group, the macro figure, the false alarms, the
// rates, the levels and the problems.
func (r *report) writeTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "capture\tgroup\t%s\n", columns)
	for _, c := range r.Captures {
		fmt.Fprintf(t, "%s\t%s\t%s\n", c.Capture, c.Group, c.row())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "group\t%sreference recall / FP, latency\t\n", columns)
	for _, g := range r.Groups {
		published := "-"
		if f := g.Reference; f != nil {
			published = fmt.Sprintf("%.1f / %.1f, %.2f", f.Recall, f.FalsePositives, f.Latency)
		}
		fmt.Fprintf(t, "%s\t%s%s\t\n", g.Group, g.row(), published)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Macro != nil {
		fmt.Fprintf(w, "\nmacro balanced accuracy: %.2f %% (%d captures, %d groups)\n", *r.Macro, len(r.Captures), len(r.Groups))
	}
	fmt.Fprintf(w, "false alarms as recorded: %v\n", r.Alarms)
	if err := writeRates(w, r.Rates); err != nil {
		return err
	}
	for _, row := range r.Rates[0].Rows[:1] {
		fmt.Fprintln(w, summary(r.Rates, row.Detector))
	}
	if err := writeLevels(w, r.Levels); err != nil {
		return err
	}
	for _, p := range r.Problems {
		fmt.Fprintln(w, "problem:", p)
	}
	return nil
}

func (f *figures) row() string {
	return cell(f.Recall, 2) + cell(f.FalsePositives, 2) + cell(f.Precision, 2) + cell(f.F1, 2) + cell(f.BalancedAccuracy, 2) +
		cell(f.FalseOnsets, 0) + cell(f.Latency, 2) + cell(f.StillFlagged, 1) +
		fmt.Sprintf("%.1f\t%.1f\t", f.QuietMinutes, f.MotionMinutes)
}

func cell(v *float64, digits int) string {
	if v == nil {
		return "-\t"
	}
	return fmt.Sprintf("%.*f\t", digits, *v)
}
