package events

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
	cuts map[motion.NetworkID]historyCut // not told yet; the writer's alone

	mu    sync.Mutex
	queue []Entry
	err   error // why the writer has stopped
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

func newRecorder() recorder {
	return recorder{wake: make(chan struct{}, 1), cuts: map[motion.NetworkID]historyCut{}}
}

// append queues events in order.
func (r *recorder) append(entries ...Entry) {
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

// next removes up to recordBatch entries that go into one commit. A change goes
// alone, because it can fail as a whole.
func (r *recorder) next() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.queue), recordBatch)
	if i := slices.IndexFunc(r.queue[:n], func(e Entry) bool { return e.Change != nil }); i >= 0 {
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
func (r *recorder) keep(entries []Entry) (lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.done != nil })
	lost = min(max(0, len(own)+len(r.queue)-recordKept), len(own))
	r.queue = append(own[lost:], r.queue...)
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
