package recording

import (
	"slices"
	"sync"

	"sensegate/motion"
)

// settling is how long frames have no label after it was changed: a tap comes a little before or
// after what it tells of.
const settling motion.Seconds = 3

// remembered is how long a change is kept: frames come that late at most.
const remembered motion.Seconds = 60

// change is a label from a time on.
type change struct {
	at    motion.Time
	label Label
}

// labels are the changes of the label, the oldest first.
type labels struct {
	mu   sync.Mutex
	list []change
}

// change changes the label from a time on. The same again changes nothing.
func (l *labels) change(label Label, at motion.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.list); n > 0 && l.list[n-1].label == label {
		return
	}
	l.list = append(l.list, change{at, label})
	last := len(l.list) - 1
	l.list = slices.DeleteFunc(l.list, func(c change) bool { return c.at < l.list[last].at.Add(-remembered) })
}

// now returns the newest label.
func (l *labels) now() Label {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == 0 {
		return Unlabelled
	}
	return l.list[len(l.list)-1].label
}

// digit returns the label of a frame that was measured at a time, as files have it.
func (l *labels) digit(at motion.Time) byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range slices.Backward(l.list) {
		if at >= c.at {
			if at < c.at.Add(settling) {
				break
			}
			return digits[c.label]
		}
	}
	return digits[Unlabelled]
}
