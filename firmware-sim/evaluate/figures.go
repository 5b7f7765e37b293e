package evaluate

import (
	"slices"

	"sensegate/firmware-sim/capture"
	"sensegate/motion/detect"
)

// figures are the results of a recording or group. Shares are in percent; figures
// without data, such as recall without motion, are nil.
type figures struct {
	Recall           *float64 `json:"recall"`
	FalsePositives   *float64 `json:"false_positive_rate"`
	Precision        *float64 `json:"precision"`
	F1               *float64 `json:"f1"`
	BalancedAccuracy *float64 `json:"balanced_accuracy"`
	FalseOnsets      *float64 `json:"false_onsets_per_hour"`
	Latency          *float64 `json:"latency_median_s"`
	StillFlagged     *float64 `json:"still_flagged"`
	QuietMinutes     float64  `json:"quiet_minutes"`
	MotionMinutes    float64  `json:"motion_minutes"`
	Undetected       int      `json:"motion_spans_missed"`
}

// ratio returns factor·part/whole, nil if whole is 0.
func ratio(factor float64, part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	v := factor * float64(part) / float64(whole)
	return &v
}

// accuracy returns the balanced accuracy in percent, nil without motion or without quiet.
func (s *score) accuracy() *float64 {
	if s.motion == 0 || s.quiet == 0 {
		return nil
	}
	v := 50*float64(s.hits)/float64(s.motion) + 50*(1-float64(s.alarms)/float64(s.quiet))
	return &v
}

func (s *score) figures() figures {
	f := figures{
		Recall:         ratio(100, s.hits, s.motion),
		FalsePositives: ratio(100, s.alarms, s.quiet),
		FalseOnsets:    ratio(3600/detect.TickInterval, s.onsets, s.quiet),
		StillFlagged:   ratio(100, s.stillFlagged, s.still),
		QuietMinutes:   float64(s.quiet) * detect.TickInterval / 60,
		MotionMinutes:  float64(s.motion) * detect.TickInterval / 60,
		Undetected:     s.missing,
	}
	if s.motion > 0 {
		f.Precision = ratio(100, s.hits, s.hits+s.alarms)
		f.F1 = ratio(200, s.hits, s.hits+s.alarms+s.motion)
	}
	f.BalancedAccuracy = s.accuracy()
	if v, some := medianOf(s.latencies); some {
		f.Latency = &v
	}
	return f
}

// reference is the published result of LM1 (docs/detection.md).
type reference struct {
	Recall         float64 `json:"recall"`
	FalsePositives float64 `json:"false_positive_rate"`
	Latency        float64 `json:"latency_median_s"`
}

// referenceOf returns the published figures of a group, nil if it has none.
func referenceOf(group string) *reference {
	switch group {
	case "espectre kept":
		return &reference{96.9, 0.0, 0.12}
	case "espectre pruned":
		return &reference{96.3, 0.0, 0.25}
	case "espectre 60 s":
		return &reference{98.8, 0.0, 0.38}
	case "ialr room 1":
		return &reference{97.6, 0.0, 1.0}
	case "ialr room 2":
		return &reference{98.1, 5.1, 0.75}
	}
	return nil
}

// report is the output of Run.
type report struct {
	Macro    *float64    `json:"macro_balanced_accuracy"` // mean over the groups that have one
	Groups   []groupRow  `json:"groups"`
	Captures []streamRow `json:"captures"`
	Alarms   alarms      `json:"false_alarms"`
	Rates    []rateTable `json:"rates,omitempty"`
	Levels   []level     `json:"levels,omitempty"`
	Problems []string    `json:"problems,omitempty"`
}

type groupRow struct {
	Group string `json:"group"`
	figures
	Reference *reference `json:"reference,omitempty"`
	sum       score
}

type streamRow struct {
	Group   string   `json:"group"`
	Capture string   `json:"capture"`
	Files   []string `json:"files"`
	figures
}

// summarise returns the report of recordings, ordered by group, and their scores, without the
// rates and the levels.
func summarise(recordings []*capture.Recording, scores []score, failures []error) *report {
	r := &report{Groups: []groupRow{}, Captures: []streamRow{}}
	for i, rec := range recordings {
		n := len(r.Groups)
		if n == 0 || r.Groups[n-1].Group != rec.Group {
			r.Groups = append(r.Groups, groupRow{Group: rec.Group, Reference: referenceOf(rec.Group)})
			n++
		}
		r.Groups[n-1].sum.add(scores[i])
		r.Captures = append(r.Captures, streamRow{rec.Group, rec.Name, slices.Clone(rec.Paths), scores[i].figures()})
	}
	sum, scored := 0.0, 0
	var all score
	for i := range r.Groups {
		g := &r.Groups[i]
		g.figures = g.sum.figures()
		all.add(g.sum)
		if g.BalancedAccuracy != nil {
			sum += *g.BalancedAccuracy
			scored++
		}
	}
	if scored > 0 {
		macro := sum / float64(scored)
		r.Macro = &macro
	}
	r.Alarms = alarmsOf(all)
	for _, err := range failures {
		if err != nil {
			r.Problems = append(r.Problems, err.Error())
		}
	}
	return r
}
