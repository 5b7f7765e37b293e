package evaluate

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// rateTable is the balanced accuracy of each set at each rate under one disturbance.
type rateTable struct {
	Disturbance string    `json:"disturbance"`
	Rows        []rateRow `json:"rows"`
}

// rateRow is a set, or the mean or the worst of the sets.
type rateRow struct {
	Set      string     `json:"set"`
	Detector string     `json:"detector"`
	Cells    []rateCell `json:"cells"`
}

// rateCell has the figures at one rate, in percent; nil = not known.
type rateCell struct {
	Rate             float64  `json:"frames_per_second"` // 0 = as recorded
	BalancedAccuracy *float64 `json:"balanced_accuracy"`
	Recall           *float64 `json:"recall,omitempty"`
	FalsePositives   *float64 `json:"false_positive_rate,omitempty"`
}

const (
	meanOfSets = "mean of the sets"
	worstSet   = "worst set"
)

// OfSets reports whether the row is the mean or the worst of the sets.
func (r *rateRow) OfSets() bool { return r.Set == meanOfSets || r.Set == worstSet }

// pooled are the scores of a detector by group and condition.
type pooled struct {
	detector string
	scores   [][]*score
}

// rateTables returns a table per disturbance, with the rows of all detectors side by side.
// conditions must be conditions().
func rateTables(groups []string, detectors ...pooled) []rateTable {
	var tables []rateTable
	for d, disturbance := range disturbances() {
		table := rateTable{Disturbance: disturbance.name}
		at := d * len(rates())
		var sums []rateRow
		for _, p := range detectors {
			mean, worst := rateRow{Set: meanOfSets, Detector: p.detector}, rateRow{Set: worstSet, Detector: p.detector}
			for k, rate := range rates() {
				mean.Cells = append(mean.Cells, rateCell{Rate: rate, BalancedAccuracy: meanAccuracy(p.scores, at+k)})
				worst.Cells = append(worst.Cells, rateCell{Rate: rate, BalancedAccuracy: worstAccuracy(p.scores, at+k)})
			}
			sums = append(sums, mean, worst)
		}
		for g, name := range groups {
			for _, p := range detectors {
				row := rateRow{Set: name, Detector: p.detector}
				for k, rate := range rates() {
					cell := rateCell{Rate: rate}
					if s := p.scores[g][at+k]; s != nil {
						f := s.figures()
						cell.BalancedAccuracy, cell.Recall, cell.FalsePositives = f.BalancedAccuracy, f.Recall, f.FalsePositives
					}
					row.Cells = append(row.Cells, cell)
				}
				table.Rows = append(table.Rows, row)
			}
		}
		table.Rows = append(table.Rows, sums...)
		tables = append(tables, table)
	}
	return tables
}

// accuracies returns the balanced accuracy of the groups that have one under a condition.
func accuracies(scores [][]*score, condition int) []float64 {
	var all []float64
	for g := range scores {
		if s := scores[g][condition]; s != nil {
			if v := s.accuracy(); v != nil {
				all = append(all, *v)
			}
		}
	}
	return all
}

func meanAccuracy(scores [][]*score, condition int) *float64 {
	all := accuracies(scores, condition)
	if len(all) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	sum /= float64(len(all))
	return &sum
}

func worstAccuracy(scores [][]*score, condition int) *float64 {
	var worst *float64
	for _, v := range accuracies(scores, condition) {
		if worst == nil || v < *worst {
			worst = &v
		}
	}
	return worst
}

// summary says of a detector what the goals ask: over the sets and the rates from slowest on,
// without a disturbance, the least mean of a rate and the worst cell.
func summary(tables []rateTable, detector string) string {
	var mean, worst *rateCell
	var set string
	for _, row := range tables[0].Rows {
		if row.Detector != detector {
			continue
		}
		for i := range row.Cells {
			c := &row.Cells[i]
			switch {
			case c.Rate < slowest || c.BalancedAccuracy == nil || row.Set == worstSet:
			case row.Set == meanOfSets:
				if mean == nil || *c.BalancedAccuracy < *mean.BalancedAccuracy {
					mean = c
				}
			case worst == nil || *c.BalancedAccuracy < *worst.BalancedAccuracy:
				worst, set = c, row.Set
			}
		}
	}
	if mean == nil {
		return fmt.Sprintf("%s: no set has motion and quiet at %d frames/s or more", detector, slowest)
	}
	return fmt.Sprintf("%s, from %d frames/s: least mean %.2f (at %.0f), worst cell %.2f (%s at %.0f)",
		detector, slowest, *mean.BalancedAccuracy, mean.Rate, *worst.BalancedAccuracy, set, worst.Rate)
}

// writeRates writes tables of balanced accuracy, with recall and false positives.
func writeRates(w io.Writer, tables []rateTable) error {
	for _, table := range tables {
		fmt.Fprintf(w, "\nbalanced accuracy %% (recall/FP) by frames a second, %s\n", table.Disturbance)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(t, "set\tdetector\tas recorded\t")
		for _, rate := range rates()[1:] {
			fmt.Fprintf(t, "%.0f\t", rate)
		}
		fmt.Fprintln(t)
		for _, row := range table.Rows {
			fmt.Fprintf(t, "%s\t%s\t", row.Set, row.Detector)
			for _, c := range row.Cells {
				fmt.Fprint(t, c.text()+"\t")
			}
			fmt.Fprintln(t)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (c *rateCell) text() string {
	number := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.1f", *v)
	}
	switch {
	case c.BalancedAccuracy == nil && c.Recall == nil:
		return "-"
	case c.Recall == nil:
		return fmt.Sprintf("%.2f", *c.BalancedAccuracy)
	case c.BalancedAccuracy == nil:
		return fmt.Sprintf("(%s/%s)", number(c.Recall), number(c.FalsePositives))
	}
	return fmt.Sprintf("%.1f (%s/%s)", *c.BalancedAccuracy, number(c.Recall), number(c.FalsePositives))
}
