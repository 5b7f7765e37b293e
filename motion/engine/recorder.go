package engine

import (
	"encoding/json"
	"slices"
	"sync"

	"sensegate/motion"
	"sensegate/store"
)

const (
	recordBatch = 256  // waiting events that one commit takes at most
	recordKept  = 4096 // events of our own that wait for room on the disk at most
)

// recorder is the queue in front of the one writer of events. Appending never
// waits, so a network can append under its own mutex and keep its order.
type recorder struct {
	wake chan struct{}

	mu    sync.Mutex
	queue []entry
	err   error // why the writer has stopped
}

// entry is one event on its way to the history, or an inventory with the events that
// come of it; of an inventory event names the network whose records it changes, 0 for
// none of those in memory.
type entry struct {
	event      motion.Event
	dedupe     string          // events of one network with the same key are one event; "" = none
	past       bool            // of an import: stored, and not pushed
	ofGuardian bool            // its guardian has reported it
	state      json.RawMessage // of the network's event machine after this transition; nil = as stored
	take       takeInventory   // instead of event
	done       chan<- entry    // receives the entry back when it is stored; nil = nobody waits
	err        error
}

// takeInventory brings the records of a network up to date.
type takeInventory func(*store.Tx) (*inventory, error)

func newRecorder() recorder { return recorder{wake: make(chan struct{}, 1)} }

// append queues events in order.
func (r *recorder) append(entries ...entry) {
	if len(entries) == 0 {
		return
	}
	r.mu.Lock()
	stopped := r.err
	if stopped == nil {
		r.queue = append(r.queue, entries...)
	}
	r.mu.Unlock()
	if stopped != nil {
		answer(entries, stopped)
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// next removes up to recordBatch entries that go into one commit. An inventory goes
// alone, because it can fail as a whole.
func (r *recorder) next() []entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.queue), recordBatch)
	if i := slices.IndexFunc(r.queue[:n], func(e entry) bool { return e.take != nil }); i >= 0 {
		n = max(i, 1)
	}
	batch := r.queue[:n:n]
	r.queue = r.queue[n:]
	if len(r.queue) == 0 {
		r.queue = nil
	}
	return batch
}

// stop refuses all later entries with err. Those that wait stay in the queue.
func (r *recorder) stop(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// keep puts the entries for which nobody waits back to the head of the queue. Of more
// than recordKept the oldest go; it returns how many are lost.
func (r *recorder) keep(entries []entry) (lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.done != nil })
	lost = min(max(0, len(own)+len(r.queue)-recordKept), len(own))
	r.queue = append(own[lost:], r.queue...)
	return lost
}

// answer tells those who wait that their entries were not stored.
func answer(entries []entry, err error) {
	for _, e := range entries {
		if e.done != nil {
			e.err = err
			e.done <- e
		}
	}
}
