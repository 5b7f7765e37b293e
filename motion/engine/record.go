package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

const (
	recordBatch = 256             // waiting events that one commit takes at most
	recordRetry = 5 * time.Second // between two tries on a full disk
	recordKept  = 4096            // events of our own that wait for room on the disk at most
)

// recorder is the queue in front of the one writer of events. Appending never
// waits, so a network can append under its own mutex and keep its order.
type recorder struct {
	wake chan struct{}

	mu    sync.Mutex
	queue []entry
	err   error // why the writer has stopped
}

// entry is one event on its way to the history.
type entry struct {
	event  motion.Event
	dedupe string          // events of one network with the same key are one event; "" = none
	past   bool            // of an import: stored, and not pushed
	state  json.RawMessage // of the network's event machine after this transition; nil = as stored
	done   chan<- entry    // receives the entry back when it is stored; nil = nobody waits
	err    error
}

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

// take removes up to recordBatch entries.
func (r *recorder) take() []entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.queue), recordBatch)
	batch := r.queue[:n:n]
	r.queue = r.queue[n:]
	if len(r.queue) == 0 {
		r.queue = nil
	}
	return batch
}

// stop refuses all later entries with err, and returns those that wait.
func (r *recorder) stop(err error) []entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := r.queue
	r.queue, r.err = nil, err
	return waiting
}

// keep puts the entries for which nobody waits back to the head of the queue, the
// newest recordKept of them, and returns how many are lost.
func (r *recorder) keep(entries []entry) (lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.done != nil })
	lost = max(0, len(own)-recordKept)
	r.queue = append(own[lost:], r.queue...)
	return lost
}

func answer(entries []entry, err error) {
	for _, e := range entries {
		if e.done != nil {
			e.err = err
			e.done <- e
		}
	}
}

// record is the one writer. When ctx ends it writes what is queued and returns;
// it returns early when a commit failed. On a full disk those who wait are refused,
// so that a device sends again; what the appliance has found itself is kept and
// tried again.
func (e *Engine) record(ctx context.Context) error {
	for {
		batch := e.recorder.take()
		if len(batch) == 0 {
			select {
			case <-e.recorder.wake:
				continue
			case <-ctx.Done():
				return e.recordRest()
			}
		}
		err := e.recordBatch(batch)
		if err == nil {
			continue
		}
		answer(batch, err)
		if fault.KindOf(err) != fault.Unavailable {
			answer(e.recorder.stop(err), err)
			return err
		}
		lost := e.recorder.keep(batch)
		e.log.Error("events not stored, will be tried again", "lost", lost, "err", err)
		select {
		case <-time.After(recordRetry):
		case <-ctx.Done():
			return e.recordRest()
		}
	}
}

// recordRest writes what is queued at the end and refuses all later entries.
func (e *Engine) recordRest() error {
	rest := e.recorder.stop(fmt.Errorf("record event: %w", context.Canceled))
	for batch := range slices.Chunk(rest, recordBatch) {
		err := e.recordBatch(batch)
		if err == nil {
			continue
		}
		answer(batch, err)
		if fault.KindOf(err) != fault.Unavailable {
			return err
		}
		e.log.Error("events lost at the end", "events", len(batch), "err", err)
	}
	return nil
}

// recordBatch stores a batch in one commit, then publishes and answers it. An
// event that cannot be stored for a fault of its own, such as a network that was
// deleted meanwhile, is answered with that and does not hold up the others.
func (e *Engine) recordBatch(batch []entry) error {
	fresh := make([]bool, len(batch))
	err := e.db.Update(context.Background(), func(tx *store.Tx) (err error) {
		for i := range batch {
			if fresh[i], err = batch[i].write(tx); fault.KindOf(err) != 0 {
				batch[i].err, err = err, nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record events: %w", err)
	}
	for i, entry := range batch {
		if fresh[i] && !entry.past {
			e.publishEvent(entry.event)
		}
		if entry.err != nil && entry.done == nil {
			e.log.Warn("event not stored", "network", entry.event.NetworkID, "event", entry.event.Event, "err", entry.err)
		}
		if entry.done != nil {
			entry.done <- entry
		}
	}
	return nil
}

// write stores an entry, and with it the state of the event machine that raised
// it: after a power cut an open detection is still open, and an ended one is not.
// Here alone stands the rule that an event with armed 0 is neither stored nor
// pushed (interface document section 6 rule 3).
func (one *entry) write(tx *store.Tx) (fresh bool, err error) {
	if armed := one.event.Armed; armed != nil && *armed == 0 {
		one.event.ID, one.event.Tag = "", motion.PadTag("")
		return false, nil
	}
	stored, fresh, err := tx.AddEvent(one.event, one.dedupe)
	if err != nil {
		return false, err
	}
	one.event = stored
	if one.state == nil {
		return fresh, nil
	}
	return fresh, tx.PutEventState(stored.NetworkID, one.state)
}

// publishEvent pushes a stored event to the live readers of its network.
func (e *Engine) publishEvent(event motion.Event) {
	raw, err := json.Marshal(event)
	if err != nil {
		e.log.Error("event not pushed", "network", event.NetworkID, "err", err)
		return
	}
	e.events.Publish(event.NetworkID, Message{JSON: raw, Event: &event, prepared: &prepared{}})
}

// Record stores an event and pushes it to the live readers, in this order, and
// returns the stored record. An event with armed 0 comes back with an empty ID:
// neither stored nor pushed.
func (e *Engine) Record(ctx context.Context, event motion.Event) (motion.Event, error) {
	return e.recordEntry(ctx, entry{event: event})
}

// recordEntry queues an entry and waits until it is stored.
func (e *Engine) recordEntry(ctx context.Context, one entry) (motion.Event, error) {
	done := make(chan entry, 1)
	one.done = done
	e.recorder.append(one)
	select {
	case stored := <-done:
		return stored.event, stored.err
	case <-ctx.Done():
		return motion.Event{}, ctx.Err()
	}
}
