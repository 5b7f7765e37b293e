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

// Vacated follows store.VacateHome: it cancels the open commands of a network, brings what
// the engine keeps of it in memory up to date, and sends the configuration to its devices.
// The status is empty until they report again. NotFound: no such network.
func (e *Engine) Vacated(ctx context.Context, id motion.NetworkID) error {
	n, err := e.network(id)
	if err != nil {
		return err
	}
	if err := e.cancelCommands(ctx, id, 0); err != nil {
		return err
	}
	if err := e.forgetStatus(ctx, n); err != nil {
		return err
	}
	if err := e.reload(ctx, id); err != nil {
		return err
	}
	_, err = e.Propagate(ctx, id)
	return err
}

// forgetStatus forgets the status that was reported of a network until now, also where a
// flush has stored it since store.VacateHome.
func (e *Engine) forgetStatus(ctx context.Context, n *network) error {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	if err := e.db.Update(ctx, func(tx *store.Tx) error { return tx.DeleteStatus(n.id) }); err != nil {
		return err
	}
	n.clearStatus(e.now())
	return nil
}
