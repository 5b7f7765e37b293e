package evaluate

import (
	"fmt"
	"io"
	"text/tabwriter"

	"sensegate/firmware-sim/capture"
	"sensegate/motion/detect"
)

// crossReport is the result of leaving each group out once.
type crossReport struct {
	Grid     string      `json:"grid"`
	Settings int         `json:"settings"`
	Folds    []fold      `json:"folds"`
	Rates    []rateTable `json:"rates"`
	Problems []string    `json:"problems,omitempty"`
}

// fold is a group and what was chosen without it.
type fold struct {
	LeftOut   string           `json:"left_out"`
	Chosen    string           `json:"chosen"` // how the constants differ from the product's
	Constants detect.Constants `json:"constants"`
	Others    float64          `json:"others_balanced_accuracy"` // on which they were chosen
	Product   float64          `json:"others_product"`           // of the product's constants there
}

// names of the detectors that Cross compares
const (
	chosenElsewhere = "chosen elsewhere"
	productAsIs     = "product"
	lm1             = "LM1"
)

// Cross scores each group of the captures below dirs with those constants of a grid that all other
// groups choose, under all conditions, and writes the figures to w, beside those of the product and
// of LM1.
func Cross(dirs []string, w io.Writer, options Options) error {
	study, err := open(dirs)
	if err != nil {
		return err
	}
	report, err := study.cross(options, combine(detect.Defaults().Constants, knobs()))
	if err != nil {
		return err
	}
	if options.JSON {
		err = writeJSON(w, report)
	} else {
		err = report.write(w)
	}
	if err == nil {
		err = study.unread(dirs)
	}
	return err
}

// cross leaves each group out once. decisions are the constants to choose from, with each lag.
func (s *study) cross(options Options, decisions []detect.Constants) (*crossReport, error) {
	config := options.config()
	var settings []detect.Constants
	for _, lag := range lagKnob().values {
		for _, c := range decisions {
			c.Lag = lag
			settings = append(settings, c)
		}
	}
	product, recipe := len(settings), len(settings)+1 // variants after the grid
	scores, err := s.sweep(conditions(), len(settings)+2, options.Progress, func(r *capture.Recording, c condition, frames []capture.Frame) ([]score, error) {
		var all []score
		for i := 0; i < len(settings); i += len(decisions) {
			seen := config
			seen.Constants = settings[i]
			t, err := follow(r, frames, seen)
			if err != nil {
				return nil, err
			}
			for _, c := range settings[i : i+len(decisions)] {
				all = append(all, t.again(config.Sensitivity, c))
			}
		}
		asIs, err := scored(config, nil)(r, c, frames)
		if err != nil {
			return nil, err
		}
		reference := config
		reference.LM1 = true
		published, err := scored(reference, nil)(r, c, frames)
		return append(append(all, asIs...), published...), err
	})
	if err != nil {
		return nil, err
	}
	groups := make([][][]*score, len(scores)) // by variant, group and condition
	for v := range scores {
		groups[v] = s.pool(scores[v])
	}
	report := &crossReport{Grid: gridText(), Settings: len(settings)}
	elsewhere := make([][]*score, len(s.groups))
	for g, name := range s.groups {
		best, accuracy := choose(settings, groups, g)
		if best < 0 {
			return nil, fmt.Errorf("evaluate: no group but %q has motion and quiet to choose constants on", name)
		}
		elsewhere[g] = groups[best][g]
		report.Folds = append(report.Folds, fold{name, changes(settings[best]), settings[best], accuracy, others(groups[product], g)})
	}
	report.Rates = rateTables(s.groups, pooled{chosenElsewhere, elsewhere},
		pooled{productAsIs, groups[product]}, pooled{lm1, groups[recipe]})
	for _, err := range s.problems {
		report.Problems = append(report.Problems, err.Error())
	}
	return report, nil
}

// tolerance is the balanced accuracy, in points of percent, by which the constants that are chosen
// may fall short of the best. There are but minutes of quiet to tell two settings apart by.
const tolerance = 0.1

// choose returns the settings to be used on a group, −1 for none, and how well they do on the
// others: of those that do best there, within the tolerance, the most careful ones.
func choose(settings []detect.Constants, groups [][][]*score, leftOut int) (chosen int, accuracy float64) {
	means, best := make([]float64, len(settings)), 0.0
	for v := range settings {
		means[v] = others(groups[v], leftOut)
		best = max(best, means[v])
	}
	chosen = -1
	care := -1
	for v, c := range settings {
		if means[v] == 0 || means[v] < best-tolerance {
			continue
		}
		if now := careOf(c); now > care || now == care && means[v] > accuracy {
			chosen, care, accuracy = v, now, means[v]
		}
	}
	return chosen, accuracy
}

// others returns the balanced accuracy of all groups but one: the mean over the groups of the
// mean over the conditions that they reach. 0 = no group has motion and quiet.
func others(groups [][]*score, leftOut int) float64 {
	sum, n := 0.0, 0
	for g := range groups {
		cells, reached := 0.0, 0
		for _, s := range groups[g] {
			if g == leftOut || s == nil {
				continue
			}
			if v := s.accuracy(); v != nil {
				cells += *v
				reached++
			}
		}
		if reached > 0 {
			sum += cells / float64(reached)
			n++
		}
	}
	return sum / float64(max(n, 1))
}

func (r *crossReport) write(w io.Writer) error {
	fmt.Fprintf(w, "each set with the constants that the other sets choose, the most careful within %.1f points of the best of %d settings: %s\n\n",
		tolerance, r.Settings, r.Grid)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "left out\tbAcc % of the others, chosen\tproduct\tchosen")
	for _, f := range r.Folds {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%s\n", f.LeftOut, f.Others, f.Product, f.Chosen)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := writeRates(w, r.Rates); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, detector := range []string{chosenElsewhere, productAsIs, lm1} {
		fmt.Fprintln(w, summary(r.Rates, detector))
	}
	for _, p := range r.Problems {
		fmt.Fprintln(w, "problem:", p)
	}
	return nil
}
