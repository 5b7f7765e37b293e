package alert

import (
	"time"

	"sensegate/motion"
)

// longestRehearsal is how much time Rehearse judges in all.
const longestRehearsal = 14 * 24 * time.Hour

// Run is an occurrence of a rule with the period that it is about.
type Run struct{ Start, End motion.Stamp }

// Runs returns the next occurrences after now, at most n. A period that is under way counts.
func (r Rule) Runs(now time.Time, n int) (runs []Run, err error) {
	recurrence, err := Parse(r.RRule)
	if err != nil {
		return nil, err
	}
	for t := range recurrence.After(now) {
		if len(runs) == n {
			break
		}
		target := motion.StampOf(t)
		runs = append(runs, Run{r.begins(recurrence, target), target})
	}
	return runs, nil
}

// Rehearsal says what a rule would have done.
type Rehearsal struct {
	Told    []motion.Stamp // when it would have run actions
	Unknown int            // occurrences of which too little is known
}

// Rehearse returns what the rule would have done about its occurrences in (from, to] whose period
// does not begin before since, had it been there already ([Recurrence.begun]); look returns the seconds of a period, and scene the scene at a time.
// ok is false for a rule whose periods add up to more than two weeks: that is not computed.
func (r Rule) Rehearse(since, from, to motion.Stamp, look func(from, to motion.Stamp) ([]Second, error), scene func(motion.Stamp) string) (h Rehearsal, ok bool, err error) {
	recurrence, err := Parse(r.RRule)
	if err != nil {
		return h, false, err
	}
	recurrence = recurrence.begun(from.Std())
	atOnce, sum := r.Condition().AtOnce, time.Duration(0)
	for t := range recurrence.After(from.Std()) {
		target := motion.StampOf(t)
		start, end := r.begins(recurrence, target), target
		if atOnce {
			start, end = max(start, from), min(end, to)
		}
		if start > to || !atOnce && target > to {
			break
		}
		if start < since && r.Monitor.Mode != None {
			continue
		}
		if sum += max(0, end.Since(start)); sum > longestRehearsal {
			return Rehearsal{}, false, nil
		}
		var period []Second
		if r.Monitor.Mode != None && start < end {
			if period, err = look(second(start), second(end)); err != nil {
				return h, false, err
			}
		}
		if atOnce {
			r.rehearseAtOnce(&h, second(start), period, scene)
			continue
		}
		r.rehearse(&h, second(start), target, period, scene)
	}
	return h, true, nil
}

// rehearseAtOnce adds the motion in a period that is not within the pause after the last.
func (r Rule) rehearseAtOnce(h *Rehearsal, start motion.Stamp, period []Second, scene func(motion.Stamp) string) {
	known := 0
	for i, s := range period {
		at := start.Add(time.Duration(i) * time.Second)
		if s != Unknown {
			known++
		}
		again := len(h.Told) == 0 || at >= h.Told[len(h.Told)-1].Add(pause)
		if s == Moving && again && r.Condition().Holds(scene(at)) && len(r.Motion) > 0 {
			h.Told = append(h.Told, at)
		}
	}
	if (len(period)-known)*tolerance > len(period) {
		h.Unknown++
	}
}

// rehearse adds what the rule would have done about one occurrence.
func (r Rule) rehearse(h *Rehearsal, start, target motion.Stamp, period []Second, scene func(motion.Stamp) string) {
	tell := func(at motion.Stamp, v Verdict) {
		if len(r.Actions(v)) > 0 && r.Condition().Holds(scene(at)) {
			h.Told = append(h.Told, at)
		}
	}
	if r.Monitor.Mode == Inactivity { // as in watch: each stretch, one after the other
		length, found := 60*r.Monitor.InactiveMinutes, false
		for rest, at := period, start; ; {
			end, quiet := quietStretch(rest, length)
			if !quiet {
				break
			}
			at, rest, found = at.Add(time.Duration(end)*time.Second), rest[end:], true
			tell(at, NoMotion)
			if !r.Monitor.RepeatMonitoring {
				break
			}
		}
		if found {
			return
		}
	}
	verdict := Judge(r.Monitor, period)
	if verdict == NoHistory && len(r.NoHistory) == 0 {
		h.Unknown++
	}
	tell(target, verdict)
}
