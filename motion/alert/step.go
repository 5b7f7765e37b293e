package alert

import (
	"fmt"
	"slices"
	"time"

	"sensegate/motion"
)

// Times of a schedule.
const (
	grace    = 15 * time.Minute // a missed occurrence may fire this much late; older ones are skipped
	arrival  = 3 * time.Second  // after a second, until its live frames have arrived
	settle   = 5 * time.Minute  // after a target, until data in batches of 5 minutes has arrived
	again    = time.Minute      // between two reads of missing data
	onTime   = time.Minute      // a later firing is late
	setBack  = 24 * time.Hour   // of a clock, within which nothing fires twice
	maxFired = 48               // occurrences remembered: two days of the densest rule
)

// Look returns the seconds of [from, to), whole seconds, oldest first, and whether devices may
// still report more of them. Missing seconds at the end count as unknown; if the history
// cannot be read it returns nil.
type Look func(from, to time.Time) (period []Second, more bool)

// Firing is one run of actions.
type Firing struct {
	Target   motion.Stamp  // the occurrence
	Verdict  Verdict       // what was found
	Actions  []Action      // what to do
	Late     time.Duration // delay beyond the due time; 0 up to a minute
	From, To motion.Stamp  // the time that was judged
}

// Result is the result of one step: what to do and what to record.
type Result struct {
	Fired   *Firing
	Skipped *Skip
}

// Step advances a job to now and returns what is due: at most one firing. The caller stores the
// returned job together with the effects of the result in one transaction; then each occurrence
// fires once, whenever a restart happens.
//
// Call it for every job, also disabled and finished ones, several times a minute and at start: it
// returns at once if there is nothing to do. It needs no timer and no notice of clock jumps. It
// calls look at most twice.
//
// An occurrence fires at its time or up to 15 minutes late; older ones are skipped. An
// occurrence that evaluates motion fires three seconds later, when the live frames have
// arrived. Inactivity fires within the period, and may fire there again (see Monitor). If too
// little is known at the target, the verdict waits for late data for up to five minutes, as
// long as devices may report some. If the clock jumps ahead, Step skips the occurrences in
// between, and the rule continues when the clock returns. If it is set back by up to a day,
// nothing fires twice; by more, the rule continues in the new time. A clock from before the
// rule was armed is never believed: nothing is forgotten.
//
// The error is about a stored rrule that can no longer be parsed (its zone was removed); j is
// then unchanged.
func (j Job) Step(now time.Time, look Look) (Job, Result, error) {
	at := motion.StampOf(now)
	if j.idle(at) {
		return j, Result{}, nil
	}
	recurrence, err := Parse(j.Rule.RRule)
	if err != nil {
		return j, Result{}, fmt.Errorf("read rule %s: %w", j.Rule.UUID, err)
	}
	j.State.Fired = slices.Clone(j.State.Fired)
	s := step{Job: j, recurrence: recurrence, now: at, look: look}
	s.State.Done, s.Rule.Enabled = false, true
	s.clock()
	s.skip()
	s.run()
	s.schedule()
	return s.Job, s.result, nil
}

// idle reports whether there is nothing to do: the rule is disabled, finished or waiting. A
// rule that finished because the clock jumped over its last occurrence resumes when the clock
// returns.
func (j Job) idle(now motion.Stamp) bool {
	s := j.State
	last := motion.Stamp(j.Rule.Target)
	switch {
	case s.Done:
		return now >= last || now < s.Armed || slices.Contains(s.Fired, last)
	case !j.Rule.Enabled:
		return true
	}
	inOrder := now >= s.Seen || s.Doubt != 0 && now >= s.Doubt
	return inOrder && now < s.Wake
}

// step is the state of one call of Step.
type step struct {
	Job
	recurrence Recurrence
	now        motion.Stamp
	look       Look
	looked     motion.Stamp // the occurrence that was evaluated
	wake       motion.Stamp // when to evaluate it again
	result     Result
}

// clock detects a clock that was set back. After a while the new time is believed: then
// occurrences that fired more than a day ahead of it fired by a wrong clock and are forgotten.
// A time before the rule was armed is never believed.
func (s *step) clock() {
	st := &s.State
	if s.now >= st.Seen {
		st.Doubt = 0
		return
	}
	leapt := s.now > s.belief().Add(again)
	if st.Doubt == 0 || s.now < st.Doubt || leapt {
		st.Doubt = s.now
	}
	if s.now < s.belief() || s.now < st.Armed {
		return
	}
	st.Seen, st.Doubt = s.now, 0
	st.Fired = slices.DeleteFunc(st.Fired, func(t motion.Stamp) bool { return t > s.now.Add(setBack) })
}

// belief returns when a clock that was set back is believed: when all earlier firings would be
// too old to fire if the clock returned.
func (s *step) belief() motion.Stamp {
	return s.State.Doubt.Add(s.Rule.Monitor.duration() + grace + again)
}

// skip records the occurrences since the last step that are too old to fire.
func (s *step) skip() {
	st := &s.State
	if s.now < st.Seen {
		return
	}
	after := max(beforeGrace(st.Seen), st.Armed)
	var skipped Skip
	for t := range s.recurrence.After(after.Std()) {
		target := motion.StampOf(t)
		if target > beforeGrace(s.now) {
			break
		}
		if slices.Contains(st.Fired, target) {
			continue
		}
		if skipped.Count == 0 {
			skipped.First = target
		}
		skipped.Count++
		skipped.Last = target
	}
	st.Seen = s.now
	if skipped.Count > 0 {
		s.result.Skipped, st.Skipped = &skipped, &skipped
		st.Ended, st.Tries = s.now, 0
		s.Rule.Target = max(s.Rule.Target, Target(skipped.Last))
	}
}

// beforeGrace returns the last time that is too old to fire at now.
func beforeGrace(now motion.Stamp) motion.Stamp { return now.Add(-grace) - 1 }

// next returns the first occurrence that may still fire.
func (s *step) next() (motion.Stamp, bool) {
	after := beforeGrace(s.now)
	if s.State.Armed <= s.now {
		after = max(after, s.State.Armed)
	}
	for t := range s.recurrence.After(after.Std()) {
		if target := motion.StampOf(t); !slices.Contains(s.State.Fired, target) {
			return target, true
		}
	}
	return 0, false
}

// run evaluates the occurrence that is still monitored, or else the next one.
func (s *step) run() {
	st := &s.State
	if open := st.Open; open != 0 {
		m := s.Rule.Monitor
		if m.Mode != Inactivity || !m.RepeatMonitoring || s.now > open.Add(grace) || s.now < open.Add(-m.duration()) {
			st.Open = 0
		} else {
			s.watch(open)
			if s.now >= open.Add(arrival) {
				st.Open = 0
			}
		}
	}
	if st.Open != 0 || s.result.Fired != nil {
		return
	}
	target, ok := s.next()
	switch {
	case !ok:
	case s.Rule.Monitor.Mode == Inactivity && s.now < target:
		s.watch(target)
	case s.now < target:
		s.looked, s.wake = target, s.begin(target)
	default:
		s.conclude(target)
	}
}

// schedule sets target and wake to the next occurrence, or records that there is none.
func (s *step) schedule() {
	st := &s.State
	target := st.Open
	if target == 0 {
		var ok bool
		if target, ok = s.next(); !ok {
			st.Done, st.Wake, s.Rule.Enabled = true, 0, false
			return
		}
	}
	if motion.Stamp(s.Rule.Target) != target {
		s.Rule.Target, st.Queued, st.Tries = Target(target), s.now, 0
	}
	st.Wake = s.begin(target)
	if s.looked == target && s.result.Fired == nil {
		st.Wake = s.wake
	}
	if st.Doubt != 0 {
		st.Wake = min(st.Wake, s.belief())
	}
}
