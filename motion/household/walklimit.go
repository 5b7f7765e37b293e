package household

import (
	"slices"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
)

// walksOfInstallers is how many walk tests installers may begin in a home in an hour: each is told to
// the household, and shows while it runs whether somebody moves.
const walksOfInstallers = 6

const hour motion.Seconds = 3600

// walkStarts counts in memory the walk tests that installers have begun, by home.
type walkStarts struct {
	mu     sync.Mutex
	recent map[home.ID][]motion.Time // of the last hour
	last   map[home.ID]home.UserID   // who has begun the last one; 0: a resident
}

// full returns how long an installer waits until another walk test may begin, 0: not at all.
func (w *walkStarts) full(id home.ID, now motion.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	recent := w.lastHour(id, now)
	if len(recent) < walksOfInstallers {
		return 0
	}
	return time.Duration((hour - now.Since(recent[0])) * float64(time.Second))
}

// lastHour returns when walk tests were begun in the last hour; mu is held. Those of the future were
// begun by a clock that was set back since.
func (w *walkStarts) lastHour(id home.ID, now motion.Time) []motion.Time {
	return slices.DeleteFunc(slices.Clone(w.recent[id]), func(at motion.Time) bool { return at > now || now.Since(at) >= hour })
}

// began notes who has begun a walk test; 0 is a resident.
func (w *walkStarts) began(id home.ID, user home.UserID, now motion.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.recent == nil {
		w.recent, w.last = map[home.ID][]motion.Time{}, map[home.ID]home.UserID{}
	}
	w.last[id] = user
	if user != 0 {
		w.recent[id] = append(w.lastHour(id, now), now)
	}
}

// beganBy returns the installer who has begun the last walk test, 0 for a resident or nobody.
func (w *walkStarts) beganBy(id home.ID) home.UserID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[id]
}
