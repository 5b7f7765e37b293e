package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// recordRetry is the time between two tries on a full disk.
const recordRetry = 5 * time.Second

// record is the one writer. When ctx ends it writes what is queued and returns;
// it returns early when a commit failed. On a full disk those who wait are refused,
// so that a device sends again; what the appliance has found itself is kept and
// tried again.
func (e *Engine) record(ctx context.Context) error {
	for {
		batch := e.recorder.next()
		if len(batch) == 0 {
			select {
			case <-e.recorder.wake:
				continue
			case <-ctx.Done():
				return e.recordRest()
			}
		}
		full, err := e.recordBatch(batch)
		if err != nil {
			e.recorder.stop(err)
			e.refuseRest(err)
			return err
		}
		if !full {
			continue
		}
		lost := e.recorder.keep(batch)
		e.log.Error("the disk is full: events will be tried again", "lost", lost)
		select {
		case <-time.After(recordRetry):
		case <-ctx.Done():
			return e.recordRest()
		}
	}
}

// recordRest refuses all later entries and writes what is queued at the end.
func (e *Engine) recordRest() error {
	e.recorder.stop(fmt.Errorf("record event: %w", context.Canceled))
	for batch := e.recorder.next(); len(batch) > 0; batch = e.recorder.next() {
		full, err := e.recordBatch(batch)
		if err != nil {
			e.refuseRest(err)
			return err
		}
		if full {
			e.log.Error("the disk is full: events lost at the end", "lost", len(batch))
		}
	}
	return nil
}

// refuseRest answers what is queued with err.
func (e *Engine) refuseRest(err error) {
	for batch := e.recorder.next(); len(batch) > 0; batch = e.recorder.next() {
		answer(batch, err)
	}
}

// recordBatch stores a batch in one commit, then publishes and answers it. An
// event that cannot be stored for a fault of its own, such as a network that was
// deleted meanwhile, is answered with that and does not hold up the others. On a
// full disk all are answered with that, and full is true. After any other error,
// with which all are answered too, nothing more can be written.
func (e *Engine) recordBatch(batch []entry) (full bool, err error) {
	fresh, cuts, err := e.storeBatch(batch)
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
	case batch[0].take != nil && batch[0].event.NetworkID != 0:
		batch[0].err = e.reload(context.Background(), batch[0].event.NetworkID)
	}
	e.tellCuts(cuts)
	for i, one := range batch {
		for _, event := range fresh[i] {
			e.publishEvent(event, leaves(one.ofGuardian))
		}
		if one.err != nil && one.done == nil {
			e.log.Warn("event not stored", "network", one.event.NetworkID, "event", one.event.Event, "err", one.err)
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
func (e *Engine) storeBatch(batch []entry) (fresh [][]motion.Event, cuts []store.EventCut, err error) {
	fresh, err = make([][]motion.Event, len(batch)), errPanicked
	_ = e.contained.run("record events", func() error {
		err = e.db.Update(context.Background(), func(tx *store.Tx) error {
			for i := range batch {
				one := &batch[i]
				fresh[i], one.err = e.write(tx, one)
				if kind := fault.KindOf(one.err); one.err != nil && (kind == 0 || one.take != nil) {
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

// write stores an entry, has Options.Stored know what is to be pushed, and returns it.
func (e *Engine) write(tx *store.Tx, one *entry) (fresh []motion.Event, err error) {
	fresh, err = one.write(tx, &e.clock)
	for _, event := range fresh {
		if err == nil && e.options.Stored != nil {
			err = e.options.Stored(tx, event)
		}
	}
	return fresh, err
}

// write stores an entry and returns what is to be pushed.
func (one *entry) write(tx *store.Tx, clock *ownClock) (fresh []motion.Event, err error) {
	if one.take == nil {
		if !one.past {
			one.event.TS, one.event.DetectedTS = clock.restampedLate(one.event.TS), clock.restampedLate(one.event.DetectedTS)
		}
		return one.writeEvent(tx)
	}
	v, err := one.take(tx)
	if err != nil {
		return nil, err
	}
	for _, event := range v.events {
		event.TS = clock.restampedLate(event.TS)
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
func (one *entry) writeEvent(tx *store.Tx) (fresh []motion.Event, err error) {
	if armed := one.event.Armed; armed != nil && *armed == 0 {
		one.event.ID, one.event.Tag = "", motion.PadTag("")
		return nil, nil
	}
	stored, isNew, err := tx.AddEvent(one.event, one.dedupe)
	if err != nil {
		return nil, err
	}
	one.event = stored
	if isNew && !one.past {
		fresh = []motion.Event{stored}
	}
	if one.state == nil {
		return fresh, nil
	}
	return fresh, tx.PutEventState(stored.NetworkID, one.state)
}

// publishEvent pushes a stored event to the live readers of its network, and counts it as one
// that leaves so much of the pace to others.
func (e *Engine) publishEvent(event motion.Event, leaves int) {
	raw, err := json.Marshal(event)
	if err != nil {
		e.log.Error("event not pushed", "network", event.NetworkID, "err", err)
		return
	}
	if n, err := e.network(event.NetworkID); err == nil && !fromGatekeeper(event.Event) {
		n.pace.note(len(raw), leaves, e.options.Now())
	}
	e.events.Publish(event.NetworkID, Message{&message{JSON: raw, Event: &event}})
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
func (e *Engine) Record(ctx context.Context, event motion.Event) (motion.Event, error) {
	return e.recordEntry(ctx, entry{event: event})
}

// recordEntry queues an entry and waits until it is stored. While nothing can be
// stored it is refused at once, so that who sent it knows.
func (e *Engine) recordEntry(ctx context.Context, one entry) (motion.Event, error) {
	if err := e.db.Writable(); err != nil {
		return motion.Event{}, err
	}
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

// takeInventory brings the records of a network up to date and stores the events
// that come of it, in one commit; then the memory follows and the events are pushed.
func (e *Engine) takeInventory(ctx context.Context, n *network, take takeInventory) error {
	_, err := e.recordEntry(ctx, inventoryEntry(n, take))
	return err
}

// inventoryEntry is the entry of takeInventory.
func inventoryEntry(n *network, take takeInventory) entry {
	return entry{event: motion.Event{NetworkID: n.id}, take: func(tx *store.Tx) (*inventory, error) {
		v, err := take(tx)
		if err != nil {
			return nil, err
		}
		return v, v.deviceEvents()
	}}
}
