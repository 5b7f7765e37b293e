package events

import (
	"encoding/json"
	"slices"
	"sync"

	"sensegate/motion"
	"sensegate/store"
)

const (
	maxBatch = 256  // waiting events that one commit takes at most
	maxKept  = 4096 // events of our own that wait for room on the disk at most
)

// queue is what waits for the one writer of events. Appending never waits, so a network
// can append under its own mutex and keep its order.
type queue struct {
	wake chan struct{}

	mu      sync.Mutex
	entries []Entry
	err     error // why the writer has stopped
}

// Entry is one event on its way to the history, or a change of records with the events that come
// of it. Of the Event of a change only NetworkID counts: the network to reload afterwards, 0 for
// none.
type Entry struct {
	Event      motion.Event
	Dedupe     string          // events of one network with the same key are one event; "" = none
	past       bool            // of an import: stored, and not pushed
	OfGuardian bool            // its guardian has reported it
	State      json.RawMessage // of the network's event machine after this transition; nil = as stored
	Change     change          // instead of Event
	done       chan<- Entry    // receives the entry back when it is stored; nil = nobody waits
	err        error
}

// change changes records and returns the events that come of it.
type change func(*store.Tx) ([]motion.Event, error)

// append queues events in order.
func (q *queue) append(entries ...Entry) {
	if len(entries) == 0 {
		return
	}
	q.mu.Lock()
	stopped := q.err
	if stopped == nil {
		q.entries = append(q.entries, entries...)
	}
	q.mu.Unlock()
	if stopped != nil {
		answer(entries, stopped)
		return
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next removes up to maxBatch entries that go into one commit. A change goes
// alone, because it can fail as a whole.
func (q *queue) next() []Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.entries), maxBatch)
	if i := slices.IndexFunc(q.entries[:n], func(e Entry) bool { return e.Change != nil }); i >= 0 {
		n = max(i, 1)
	}
	batch := q.entries[:n:n]
	q.entries = q.entries[n:]
	if len(q.entries) == 0 {
		q.entries = nil
	}
	return batch
}

// stop refuses all later entries with err. Those that wait stay in the queue.
func (q *queue) stop(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = err
}

// keep puts the entries for which nobody waits back to the head of the queue. Of more
// than maxKept the oldest go; it returns how many are lost.
func (q *queue) keep(entries []Entry) (lost int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.done != nil })
	lost = min(max(0, len(own)+len(q.entries)-maxKept), len(own))
	q.entries = append(own[lost:], q.entries...)
	return lost
}

// answer tells those who wait that their entries were not stored.
func answer(entries []Entry, err error) {
	for _, e := range entries {
		if e.done != nil {
			e.err = err
			e.done <- e
		}
	}
}
