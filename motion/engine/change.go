package engine

import (
	"context"

	"sensegate/motion"
	"sensegate/store"
)

// RecordChange stores what change writes and the events that come of it in one
// commit, then pushes the events: of two changes the one that came later has the
// later events too. change returns its events without ids; it must not keep tx, and
// must leave the records alone that the engine keeps in memory (networks, nodes,
// leafs), which are for ChangeConfig; store.VacateHome changes them too, and is followed by
// Vacated. A fault that it returns is returned, and
// nothing is stored then; any other error stops the engine, as a failed commit does.
// It may be called concurrently.
func (e *Engine) RecordChange(ctx context.Context, change func(tx *store.Tx) ([]motion.Event, error)) error {
	_, err := e.recordEntry(ctx, entry{take: func(tx *store.Tx) (*inventory, error) {
		events, err := change(tx)
		return &inventory{events: events}, err
	}})
	return err
}

// Vacated brings what the engine keeps in memory of a network up to date after
// store.VacateHome, and sends the configuration to its devices. NotFound: no such network.
func (e *Engine) Vacated(ctx context.Context, id motion.NetworkID) error {
	if err := e.reload(ctx, id); err != nil {
		return err
	}
	_, err := e.Propagate(ctx, id)
	return err
}
