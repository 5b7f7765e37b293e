// Package events is the one writer of events. Entries wait in one queue and are stored in
// commits of many, so the order of the history is the order of the live streams.
package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Writer is the one writer of events: the order of the history is the order of the live
// streams. Make it with New.
type Writer struct {
	state  *state.State
	queue  queue
	stored func(*store.Tx, motion.Event) error

	cuts map[motion.NetworkID]historyCut // not told yet; of the goroutine of Run alone
}

// New makes the writer. stored is told of every new event in the transaction that stores it;
// nil: nobody is.
func New(s *state.State, stored func(*store.Tx, motion.Event) error) *Writer {
	return &Writer{state: s, queue: queue{wake: make(chan struct{}, 1)}, stored: stored, cuts: map[motion.NetworkID]historyCut{}}
}

// recordRetry is the time between two tries on a full disk.
const recordRetry = 5 * time.Second

// Run is the one writer. When ctx ends it writes what is queued and returns;
// it returns early when a commit failed. On a full disk those who wait are refused,
// so that a device sends again; what the appliance has found itself is kept and
// tried again.
func (w *Writer) Run(ctx context.Context) error {
	for {
		batch := w.queue.next()
		if len(batch) == 0 {
			select {
			case <-w.queue.wake:
				continue
			case <-ctx.Done():
				return w.recordRest()
			}
		}
		full, err := w.recordBatch(batch)
		if err != nil {
			w.queue.stop(err)
			w.refuseRest(err)
			return err
		}
		if !full {
			continue
		}
		lost := w.queue.keep(batch)
		w.state.Log.Error("disk full: events not stored, will retry", "lost", lost)
		select {
		case <-time.After(recordRetry):
		case <-ctx.Done():
			return w.recordRest()
		}
	}
}

// recordRest refuses all later entries and writes what is queued at the end.
func (w *Writer) recordRest() error {
	w.queue.stop(fmt.Errorf("record event: %w", context.Canceled))
	for batch := w.queue.next(); len(batch) > 0; batch = w.queue.next() {
		full, err := w.recordBatch(batch)
		if err != nil {
			w.refuseRest(err)
			return err
		}
		if full {
			w.state.Log.Error("disk full: events lost at shutdown", "lost", len(batch))
		}
	}
	return nil
}

// refuseRest answers what is queued with err.
func (w *Writer) refuseRest(err error) {
	for batch := w.queue.next(); len(batch) > 0; batch = w.queue.next() {
		answer(batch, err)
	}
}

// recordBatch stores a batch in one commit, then publishes and answers it. An event that cannot
// be stored for a fault of its own, such as a network that was deleted meanwhile, is answered
// with that and does not hold up the others. A fault of a change, which is a batch of its own,
// and a panic are answered, and the writer goes on. On a full disk all are answered with that,
// and full is true. After any other error, with which all are answered too, nothing more can be
// written.
func (w *Writer) recordBatch(batch []Entry) (full bool, err error) {
	fresh, cuts, err := w.storeBatch(batch)
	kind := fault.KindOf(err)
	switch {
	case errors.Is(err, errPanicked):
		answer(batch, fault.New(fault.Unavailable, "the event could not be stored"))
		return false, nil
	case err != nil:
		answer(batch, err)
		if kind == 0 {
			return false, fmt.Errorf("record events: %w", err)
		}
		return kind == fault.Unavailable, nil
	case batch[0].Change != nil && batch[0].Event.NetworkID != 0:
		batch[0].err = w.state.Reload(context.Background(), batch[0].Event.NetworkID)
	}
	w.tellCuts(cuts)
	for i, one := range batch {
		for _, event := range fresh[i] {
			w.publishEvent(event, state.Leaves(one.OfGuardian))
		}
		if one.err != nil && one.done == nil {
			w.state.Log.Warn("event not stored", "network", one.Event.NetworkID, "event", one.Event.Event, "err", one.err)
		}
		if one.done != nil {
			one.done <- one
		}
	}
	return false, nil
}

// errPanicked says that a batch was given up because storing it panicked.
var errPanicked = errors.New("storing panicked")

// storeBatch stores a batch in one commit and returns what is to be pushed of each
// entry, and what went of the history for it.
func (w *Writer) storeBatch(batch []Entry) (fresh [][]motion.Event, cuts []store.EventCut, err error) {
	fresh, err = make([][]motion.Event, len(batch)), errPanicked
	_ = w.state.Contained.Run("record events", func() error {
		err = w.state.DB.Update(context.Background(), func(tx *store.Tx) error {
			for i := range batch {
				one := &batch[i]
				fresh[i], one.err = w.write(tx, one)
				if kind := fault.KindOf(one.err); one.err != nil && (kind == 0 || one.Change != nil) {
					return one.err
				}
			}
			cuts = tx.EventCuts()
			return nil
		})
		return err
	})
	return fresh, cuts, err
}

// write stores an entry, tells w.stored of each event that is to be pushed, and returns these.
func (w *Writer) write(tx *store.Tx, one *Entry) (fresh []motion.Event, err error) {
	fresh, err = one.write(tx, &w.state.OwnClock)
	for _, event := range fresh {
		if err == nil && w.stored != nil {
			err = w.stored(tx, event)
		}
	}
	return fresh, err
}

// write stores an entry and returns what is to be pushed.
func (one *Entry) write(tx *store.Tx, clock *state.OwnClock) (fresh []motion.Event, err error) {
	if one.Change == nil {
		if !one.past {
			one.Event.TS, one.Event.DetectedTS = clock.RestampedLate(one.Event.TS), clock.RestampedLate(one.Event.DetectedTS)
		}
		return one.writeEvent(tx)
	}
	events, err := one.Change(tx)
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		event.TS = clock.RestampedLate(event.TS)
		stored, _, err := tx.AddEvent(event, "")
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, stored)
	}
	return fresh, nil
}

// writeEvent stores an event, and with it the state of the event machine that raised
// it: after a power cut an open detection is still open, and an ended one is not.
// Here alone stands the rule that an event with armed 0 is neither stored nor
// pushed (interfaces.md 6 no. 3).
func (one *Entry) writeEvent(tx *store.Tx) (fresh []motion.Event, err error) {
	if armed := one.Event.Armed; armed != nil && *armed == 0 {
		one.Event.ID, one.Event.Tag = "", motion.PadTag("")
		return nil, nil
	}
	stored, isNew, err := tx.AddEvent(one.Event, one.Dedupe)
	if err != nil {
		return nil, err
	}
	one.Event = stored
	if isNew && !one.past {
		fresh = []motion.Event{stored}
	}
	if one.State == nil {
		return fresh, nil
	}
	return fresh, tx.PutEventState(stored.NetworkID, one.State)
}

// publishEvent pushes a stored event to the live readers of its network, and counts it as one
// that leaves so much of the pace to others.
func (w *Writer) publishEvent(event motion.Event, leaves int) {
	raw, err := json.Marshal(event)
	if err != nil {
		w.state.Log.Error("event not pushed", "network", event.NetworkID, "err", err)
		return
	}
	if n, err := w.state.Network(event.NetworkID); err == nil && !fromGatekeeper(event.Event) {
		n.Pace.Note(len(raw), leaves, w.state.Wall())
	}
	w.state.LiveEvents.Publish(event.NetworkID, state.NewMessage(raw, nil, &event))
}

// fromGatekeeper reports whether events of a kind are raised by posts to the gatekeeper, which
// strangers send too: these cost a network's own devices nothing of their pace.
func fromGatekeeper(kind string) bool {
	switch kind {
	case motion.DeviceAdoptedEvent, motion.DeviceReturnedEvent, motion.DeviceReplacedEvent, motion.DeviceRefusedEvent, motion.DeviceMovedEvent:
		return true
	}
	return false
}

// Record stores an event and pushes it to the live readers, in this order, and
// returns the stored record. An event with armed 0 comes back with an empty ID:
// neither stored nor pushed.
func (w *Writer) Record(ctx context.Context, event motion.Event) (motion.Event, error) {
	return w.Put(ctx, Entry{Event: event})
}

// Put queues an entry and waits until it is stored. While nothing can be
// stored it is refused at once, so that who sent it knows.
func (w *Writer) Put(ctx context.Context, one Entry) (motion.Event, error) {
	if err := w.state.DB.Writable(); err != nil {
		return motion.Event{}, err
	}
	done := make(chan Entry, 1)
	one.done = done
	w.Queue(one)
	select {
	case stored := <-done:
		return stored.Event, stored.err
	case <-ctx.Done():
		return motion.Event{}, ctx.Err()
	}
}

// RecordPast stores events of the past, which nobody is told of.
func (w *Writer) RecordPast(ctx context.Context, events []motion.Event) error {
	entries := make([]Entry, len(events))
	done := make(chan Entry, len(events))
	for i, event := range events {
		entries[i] = Entry{Event: event, past: true, done: done}
	}
	w.Queue(entries...)
	for range entries {
		select {
		case stored := <-done:
			if stored.err != nil {
				return stored.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Queue queues entries for which nobody waits, in order. It never waits itself, so a network
// can queue under its own mutex.
func (w *Writer) Queue(entries ...Entry) { w.queue.append(entries...) }

// RecordChange stores what change writes and the events that come of it in one commit, then
// pushes the events: of two changes the one that came later has the later events too. change
// returns its events without ids; it must not keep tx, and must leave the records alone that
// the engine keeps in memory (networks, nodes, leafs), which are for inventory.ChangeConfig;
// store.VacateHome changes them too, and is followed by inventory.Vacated. A fault that it
// returns is returned, and nothing is stored then; any other error stops the engine, as a
// failed commit does. It may be called concurrently.
func (w *Writer) RecordChange(ctx context.Context, change func(tx *store.Tx) ([]motion.Event, error)) error {
	_, err := w.Put(ctx, Entry{Change: change})
	return err
}
