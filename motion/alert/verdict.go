package alert

import "iter"

// Second is the state of a home in one second.
type Second uint8

// The states of a second. Unknown never counts as quiet.
const (
	Unknown Second = iota // no data: silent devices, a stopped engine, paused
	Quiet                 // data, and no motion
	Moving                // motion
)

// Verdict is the finding of a rule, which selects its list of actions.
type Verdict string

// The verdicts.
const (
	AtTime    Verdict = "time"       // mode NONE: motion was not evaluated
	Motion    Verdict = "motion"     // motion_actions
	NoMotion  Verdict = "no_motion"  // no_motion_actions
	NoHistory Verdict = "no_history" // no_history_actions
)

// tolerance is the inverse of the unknown share that a stretch without motion may have: one
// second in ten. A restart of the appliance must not hide inactivity, and a home without data
// must not look quiet.
const tolerance = 10

// Judge judges a whole period, oldest second first, as known at the target or later.
//
// SIMPLE: any motion is Motion. Without motion it is NoMotion if at least nine seconds in ten
// are known, else NoHistory. INACTIVITY applies the same to every stretch of inactive_minutes:
// NoMotion if one had no motion and is known; NoHistory if one may have had none; Motion if
// each had motion. NONE: AtTime.
func Judge(monitor Monitor, period []Second) Verdict {
	switch monitor.Mode {
	case None:
		return AtTime
	case Simple:
		return judge(period, len(period))
	}
	return judge(period, min(60*monitor.InactiveMinutes, len(period)))
}

// judge judges all stretches of length seconds in a period.
func judge(period []Second, length int) Verdict {
	moved, hidden := false, false
	for s := range stretches(period, length) {
		switch {
		case s.quiet():
			return NoMotion
		case s.moving == 0:
			hidden = true
		default:
			moved = true
		}
	}
	if moved && !hidden {
		return Motion
	}
	return NoHistory
}

// quietStretch returns the end of the first known stretch of length seconds without motion in a
// period, and whether there is one.
func quietStretch(period []Second, length int) (end int, found bool) {
	for s := range stretches(period, length) {
		if s.quiet() {
			return s.end, true
		}
	}
	return 0, false
}

// stretch counts consecutive seconds of a period.
type stretch struct{ end, length, moving, unknown int }

// quiet reports whether there was no motion and enough seconds are known.
func (s stretch) quiet() bool {
	return s.moving == 0 && s.unknown < s.length && s.unknown*tolerance <= s.length
}

// stretches returns all stretches of length seconds in a period, earliest first.
func stretches(period []Second, length int) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		s := stretch{length: length}
		count := func(at Second, by int) {
			switch at {
			case Moving:
				s.moving += by
			case Unknown:
				s.unknown += by
			}
		}
		for s.end < len(period) {
			count(period[s.end], 1)
			s.end++
			if s.end > length {
				count(period[s.end-length-1], -1)
			}
			if s.end >= length && !yield(s) {
				return
			}
		}
	}
}

// stillRun returns the number of seconds without motion at the end of a period.
func stillRun(period []Second) int {
	run := 0
	for run < len(period) && period[len(period)-1-run] != Moving {
		run++
	}
	return run
}
