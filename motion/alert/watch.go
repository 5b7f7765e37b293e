package alert

import (
	"slices"
	"time"

	"sensegate/motion"
)

func (m Monitor) duration() time.Duration {
	return time.Duration(m.DurationMinutes) * time.Minute
}

func (m Monitor) inactive() time.Duration {
	return time.Duration(m.InactiveMinutes) * time.Minute
}

// start returns the minute from which inactivity counts towards a target: the
// beginning of the period, or when the rule was armed or last found inactivity.
func (s *step) start(target motion.Stamp) motion.Stamp {
	start := target.Add(-s.Rule.Monitor.duration())
	for _, later := range []motion.Stamp{s.State.Armed, s.State.From} {
		if later <= s.now {
			start = max(start, later)
		}
	}
	return minute(start)
}

// begin returns the first time at which a target can fire.
func (s *step) begin(target motion.Stamp) motion.Stamp {
	if s.Rule.Monitor.Mode != Inactivity {
		return target
	}
	return min(target, s.start(target).Add(s.Rule.Monitor.inactive()))
}

// watch fires when there has been inactivity within the period of a target since
// start, and else says when there can be at the earliest.
func (s *step) watch(target motion.Stamp) {
	s.looked, s.wake = target, s.begin(target)
	from, to := s.start(target), minute(min(s.now, target))
	length := s.Rule.Monitor.InactiveMinutes
	if to < from.Add(s.Rule.Monitor.inactive()) {
		return
	}
	period := s.minutes(from, to)
	end, found := quietStretch(period, length)
	if !found {
		wait := max(1, length-stillRun(period))
		s.wake = min(target, to.Add(time.Duration(wait)*time.Minute))
		return
	}
	stop := from.Add(time.Duration(end) * time.Minute)
	s.fire(&Firing{Target: target, Verdict: NoMotion, From: stop.Add(-s.Rule.Monitor.inactive()), To: stop}, stop)
	s.State.From = minute(s.now)
	if s.Rule.Monitor.RepeatMonitoring {
		s.State.Open = target
	}
}

// conclude fires a target that has come, with the verdict on its whole period. A
// period that is not known yet is looked at again until it has settled.
func (s *step) conclude(target motion.Stamp) {
	from, to := minute(target.Add(-s.Rule.Monitor.duration())), minute(target)
	var period []Minute
	if s.Rule.Monitor.Mode != None {
		period = s.minutes(from, to)
	}
	verdict, due := Judge(s.Rule.Monitor, period), target
	if verdict == NoHistory {
		due = target.Add(settle)
	}
	if s.now < due {
		s.State.Tries++
		s.looked, s.wake = target, min(due, s.now.Add(again))
		return
	}
	s.fire(&Firing{Target: target, Verdict: verdict, From: from, To: to}, due)
}

// fire makes a firing the result and remembers its target. due is when it should
// have fired.
func (s *step) fire(f *Firing, due motion.Stamp) {
	if late := s.now.Since(due); late > onTime {
		f.Late = late
	}
	f.Actions = s.Rule.Actions(f.Verdict)
	s.result.Fired = f
	st := &s.State
	st.Tries, st.Skipped, st.Looked, st.Ended = 0, nil, s.now, s.now
	if !slices.Contains(st.Fired, f.Target) {
		st.Fired = append(st.Fired, f.Target)
		st.Fired = st.Fired[max(0, len(st.Fired)-maxFired):]
	}
}

// minutes looks at the minutes of [from, to).
func (s *step) minutes(from, to motion.Stamp) []Minute {
	s.State.Looked = s.now
	period := make([]Minute, to.Since(from)/time.Minute)
	if s.look != nil {
		copy(period, s.look(from.Std(), to.Std()))
	}
	return period
}

// Actions returns the list that a verdict runs. A rule that does not look at
// motion (NONE) runs its first list that is not empty, in the order of the
// record: no_motion, motion, no_history.
func (r Rule) Actions(v Verdict) []Action {
	switch v {
	case Motion:
		return r.Motion
	case NoMotion:
		return r.NoMotion
	case NoHistory:
		return r.NoHistory
	}
	for _, list := range [][]Action{r.NoMotion, r.Motion, r.NoHistory} {
		if len(list) > 0 {
			return list
		}
	}
	return []Action{}
}
