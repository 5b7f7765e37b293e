package evaluate

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"sensegate/firmware-sim/capture"
	"sensegate/motion/detect"
)

// alarms are the false alarms over all quiet of the recordings as recorded.
type alarms struct {
	Onsets int      `json:"onsets"`  // motion that began in quiet
	Hours  float64  `json:"hours"`   // of quiet
	PerDay *float64 `json:"per_day"` // nil without quiet, as is Bound
	Bound  *float64 `json:"bound_95"`
}

// confidence of the bound, one-sided.
const confidence = 0.95

func alarmsOf(s score) alarms {
	a := alarms{Onsets: s.onsets, Hours: float64(s.quiet) * detect.TickInterval / 3600}
	if s.quiet > 0 {
		perDay, bound := float64(a.Onsets)/a.Hours*24, poissonBound(a.Onsets)/a.Hours*24
		a.PerDay, a.Bound = &perDay, &bound
	}
	return a
}

// poissonBound returns the exact one-sided upper bound of the mean of a Poisson variable that
// was n: the mean at which at most n has the probability 1 − confidence (Garwood 1936).
func poissonBound(n int) float64 {
	atMost := func(mean float64) float64 {
		sum, log := 0.0, -mean // of the probability of k: exp(−mean) itself is 0 from 746 on
		for k := range n + 1 {
			if k > 0 {
				log += math.Log(mean / float64(k))
			}
			sum += math.Exp(log)
		}
		return sum
	}
	low, high := 0.0, float64(n)+10*math.Sqrt(float64(n)+1)
	for range 100 {
		if middle := (low + high) / 2; atMost(middle) > 1-confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

func (a alarms) String() string {
	if a.PerDay == nil {
		return "no quiet was recorded"
	}
	return fmt.Sprintf("%d onsets in %.2f hours of quiet: %.0f a day, with 95 %% confidence at most %.0f", a.Onsets, a.Hours, *a.PerDay, *a.Bound)
}

// level is what a sensitivity gives on the recordings as recorded.
type level struct {
	Name        string   `json:"name"`
	Sensitivity float64  `json:"sensitivity"`
	figures              // of all recordings together
	Macro       *float64 `json:"macro_balanced_accuracy"`
	Alarms      alarms   `json:"false_alarms"`
}

// levels returns the settings levels, least sensitive first, and the end of the scale, without
// their figures.
func levels() []level {
	return []level{
		{Name: "Very Low", Sensitivity: detect.SensitivityOf(4)},
		{Name: "Low", Sensitivity: detect.SensitivityOf(3)},
		{Name: "Medium", Sensitivity: detect.SensitivityOf(2)},
		{Name: "High", Sensitivity: detect.SensitivityOf(1)},
		{Name: "end of the scale", Sensitivity: 100},
	}
}

// measureLevels scores the detector at each level.
func (s *study) measureLevels(config detect.Config) ([]level, error) {
	all := levels()
	scores, err := s.sweep(conditions()[:1], len(all), nil, func(r *capture.Recording, _ condition, frames []capture.Frame) ([]score, error) {
		t, err := follow(r, frames, config)
		if err != nil {
			return nil, err
		}
		var each []score
		for _, l := range all {
			each = append(each, t.again(l.Sensitivity, config.Constants))
		}
		return each, nil
	})
	if err != nil {
		return nil, err
	}
	for i := range all {
		groups := s.pool(scores[i])
		var sum score
		for _, g := range groups {
			sum.add(*g[0])
		}
		all[i].figures, all[i].Macro, all[i].Alarms = sum.figures(), meanAccuracy(groups, 0), alarmsOf(sum)
	}
	return all, nil
}

func writeLevels(w io.Writer, all []level) error {
	fmt.Fprintln(w, "\nlevels of sensitivity, all recordings as recorded together")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "level\tsensitivity\trecall %\tFP %\tmacro bAcc %\tfalse onsets\ta day\tat most (95 %)\t")
	for _, l := range all {
		fmt.Fprintf(t, "%s\t%.0f\t%s%d\t%s\n", l.Name, l.Sensitivity, cell(l.Recall, 2)+cell(l.FalsePositives, 2)+cell(l.Macro, 2), l.Alarms.Onsets,
			cell(l.Alarms.PerDay, 0)+cell(l.Alarms.Bound, 0))
	}
	return t.Flush()
}
