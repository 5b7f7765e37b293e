package engine

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Samples returns the stored motion of a network for queries within [from, to),
// in seconds since the epoch.
func (e *Engine) Samples(ctx context.Context, id motion.NetworkID, from, to int64) (*series.Set, error) {
	return e.SamplesFor(ctx, id, from, to, series.Second.Step())
}

// SamplesFor is Samples for queries in buckets of so many seconds, or multiples of them.
func (e *Engine) SamplesFor(ctx context.Context, id motion.NetworkID, from, to, bucket int64) (*series.Set, error) {
	if _, err := e.network(id); err != nil {
		return nil, err
	}
	set, err := e.samples.SetFor(ctx, id, from, to, bucket)
	if set == nil {
		return nil, err
	}
	if err != nil {
		e.log.Error("damaged samples left out", "network", id, "err", err)
	}
	return set, nil
}

// Import stores history and events of the past, as a device that was away would
// report them, without showing them to live readers.
func (e *Engine) Import(ctx context.Context, id motion.NetworkID, history []motion.History, events []motion.Event) error {
	n, err := e.network(id)
	if err != nil {
		return err
	}
	for _, h := range history {
		e.fill(n, h)
	}
	if len(events) == 0 {
		return nil
	}
	entries := make([]entry, len(events))
	done := make(chan entry, len(events))
	n.mu.Lock()
	for i, event := range events {
		n.complete(&event)
		entries[i] = entry{event: event, past: true, done: done}
	}
	n.mu.Unlock()
	e.recorder.append(entries...)
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
