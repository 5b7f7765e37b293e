package household

import (
	"slices"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
)

// How many walk tests installers may begin in a home: each is told to the household, and shows while it
// runs whether somebody moves.
const (
	walksOfAnHour = 6 // but for short ones
	walksOfADay   = 24

	// A shorter walk test was stopped before it could show anything.
	shortWalk motion.Seconds = 10

	hour motion.Seconds = 3600
	day                 = 24 * hour
)

// walkStarts counts in memory the walk tests that installers have begun, by home.
type walkStarts struct {
	mu     sync.Mutex
	recent map[home.ID][]walkStart // of the last day, the oldest first
}

// walkStart is the start of a walk test.
type walkStart struct {
	id    string
	at    motion.Time
	short bool // it was stopped at once
}

// full returns how long an installer waits until another walk test may begin, 0: not at all.
func (w *walkStarts) full(id home.ID, now motion.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	ofDay := w.lastDay(id, now)
	ofHour := slices.DeleteFunc(slices.Clone(ofDay), func(s walkStart) bool { return s.short || now.Since(s.at) >= hour })
	wait := motion.Seconds(0)
	if len(ofHour) >= walksOfAnHour {
		wait = hour - now.Since(ofHour[0].at)
	}
	if len(ofDay) >= walksOfADay {
		wait = max(wait, day-now.Since(ofDay[0].at))
	}
	return time.Duration(wait * float64(time.Second))
}

// lastDay returns which walk tests were begun in the last day; mu is held. Those of the future were
// begun by a clock that was set back since.
func (w *walkStarts) lastDay(id home.ID, now motion.Time) []walkStart {
	return slices.DeleteFunc(slices.Clone(w.recent[id]), func(s walkStart) bool { return s.at > now || now.Since(s.at) >= day })
}

// began notes that an installer has begun a walk test.
func (w *walkStarts) began(id home.ID, test string, now motion.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.recent == nil {
		w.recent = map[home.ID][]walkStart{}
	}
	w.recent[id] = append(w.lastDay(id, now), walkStart{id: test, at: now})
}

// ended notes that somebody has ended a walk test. Those of residents are not counted.
func (w *walkStarts) ended(test string, now motion.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, starts := range w.recent {
		for i := range starts {
			if s := &starts[i]; s.id == test && now.Since(s.at) < shortWalk {
				s.short = true
			}
		}
	}
}
