package evaluate

import (
	"cmp"
	"slices"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/detect"
)

// outcome is what the decision at a moment counts as.
type outcome uint8

const (
	unscored   outcome = iota
	found              // motion, detected
	missed             // motion, not detected
	calm               // quiet, no motion detected
	alarmed            // quiet, motion detected
	left               // a still person, no motion detected
	flagged            // a still person, motion detected
	petLeft            // a pet walks, no motion detected
	petFlagged         // a pet walks, motion detected
)

// outcomeOf returns what it counts as that motion was detected, or was not, at a moment with a label.
func outcomeOf(label capture.Label, called bool) outcome {
	var yes, no outcome
	switch label {
	case capture.Motion:
		yes, no = found, missed
	case capture.Quiet:
		yes, no = alarmed, calm
	case capture.Still:
		yes, no = flagged, left
	case petWalks:
		yes, no = petFlagged, petLeft
	}
	if called {
		return yes
	}
	return no
}

// wrong reports whether the figures of accuracy count the outcome as a mistake.
func (o outcome) wrong() bool { return o == missed || o == alarmed }

// String names an outcome that a page lists.
func (o outcome) String() string {
	switch o {
	case missed:
		return "missed motion"
	case alarmed:
		return "false motion"
	case flagged:
		return "a still person taken for motion"
	case petFlagged:
		return "a pet taken for motion"
	}
	return ""
}

// lapse is a run of moments with the same outcome that a page lists.
type lapse struct {
	Outcome  outcome
	From, To motion.Seconds // To is that of the first moment that is no longer one of them
}

// Length returns the length of the lapse in seconds.
func (l lapse) Length() motion.Seconds { return l.To - l.From }

// lapses returns the runs of outcomes that a page lists, the worst first: mistakes before still people and pets
// taken for motion, long ones before short ones. Times are those of the moments, ascending.
func lapses(times []motion.Seconds, outcomes []outcome) []lapse {
	var all []lapse
	for i, o := range outcomes {
		if o.String() == "" {
			continue
		}
		if i > 0 && outcomes[i-1] == o && !apart(times[i-1], times[i]) {
			all[len(all)-1].To = times[i] + detect.TickInterval
			continue
		}
		all = append(all, lapse{o, times[i], times[i] + detect.TickInterval})
	}
	slices.SortStableFunc(all, func(a, b lapse) int {
		return cmp.Or(count(b.Outcome.wrong())-count(a.Outcome.wrong()), cmp.Compare(b.Length(), a.Length()))
	})
	return all
}

// apart reports whether no moments are scored between two that follow each other.
func apart(t, next motion.Seconds) bool { return next-t > 1.5*detect.TickInterval }
