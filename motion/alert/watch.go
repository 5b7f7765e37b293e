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

// start returns the second from which inactivity counts for a target: the beginning of the
// period, or the time when the rule was armed or last found inactivity, if later.
func (s *step) start(target motion.Stamp) motion.Stamp {
	start := target.Add(-s.Rule.Monitor.duration())
	for _, later := range []motion.Stamp{s.State.Armed, s.State.From} {
		if later <= s.now {
			start = max(start, later)
		}
	}
	return second(start)
}

// begin returns the first time at which a target can fire.
func (s *step) begin(target motion.Stamp) motion.Stamp {
	switch s.Rule.Monitor.Mode {
	case None:
		return target
	case Inactivity:
		target = min(target, s.start(target).Add(s.Rule.Monitor.inactive()))
	}
	return target.Add(arrival)
}

// watch fires if there was inactivity in the period of a target since start, or else schedules
// the earliest time at which there can be.
func (s *step) watch(target motion.Stamp) {
	s.looked, s.wake = target, s.begin(target)
	from, to := s.start(target), second(min(s.now.Add(-arrival), target))
	inactive := s.Rule.Monitor.inactive()
	if to < from.Add(inactive) {
		return
	}
	period, _ := s.seconds(from, to)
	end, found := quietStretch(period, int(inactive/time.Second))
	if !found {
		wait := inactive - time.Duration(stillRun(period))*time.Second
		if wait <= 0 { // too little is known yet
			wait = again
		}
		s.wake = min(target, to.Add(wait)).Add(arrival)
		return
	}
	stop := from.Add(time.Duration(end) * time.Second)
	s.State.From = stop
	if s.now.Since(stop) > arrival+onTime {
		s.State.From = second(s.now)
	}
	s.fire(&Firing{Target: target, Verdict: NoMotion, From: stop.Add(-inactive), To: stop}, stop.Add(arrival))
	if s.Rule.Monitor.RepeatMonitoring {
		s.State.Open = target
	}
}

// conclude fires a target that is due, with the verdict on its whole period. While the period
// is not known it is evaluated again, until it has settled.
func (s *step) conclude(target motion.Stamp) {
	if s.Rule.Condition().AtOnce {
		s.pass(target)
		return
	}
	firing := &Firing{Target: target, Verdict: AtTime, From: second(target.Add(-s.Rule.Monitor.duration())), To: second(target)}
	due := s.conclusion(target)
	if s.now >= due && s.Rule.Monitor.Mode != None {
		period, more := s.seconds(firing.From, firing.To)
		firing.Verdict = Judge(s.Rule.Monitor, period)
		if firing.Verdict == NoHistory && more {
			due = target.Add(settle)
		}
		if s.now < due {
			s.State.Tries++
		}
	}
	if s.now < due {
		s.looked, s.wake = target, min(due, max(s.conclusion(target), s.now.Add(again)))
		return
	}
	s.fire(firing, due)
}

// conclusion returns when the whole period of a target can be judged.
func (s *step) conclusion(target motion.Stamp) motion.Stamp {
	if s.Rule.Monitor.Mode == None {
		return target
	}
	return target.Add(arrival)
}

// fire makes a firing the result and remembers its target. due is when it should have fired.
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

// seconds reads the seconds of [from, to); more reports whether some may still become known.
func (s *step) seconds(from, to motion.Stamp) (period []Second, more bool) {
	s.State.Looked = s.now
	period = make([]Second, to.Since(from)/time.Second)
	if s.look == nil {
		return period, false
	}
	seen, more := s.look(from.Std(), to.Std())
	copy(period, seen)
	return period, more
}

// Actions returns the list for a verdict. A rule without evaluation of motion (NONE) runs its
// first list that is not empty, in the order of the record: no_motion, motion, no_history.
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
