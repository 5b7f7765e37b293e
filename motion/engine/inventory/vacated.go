package inventory

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/store"
)

// Vacated follows store.VacateHome: it cancels the open commands of a network, brings what
// the engine keeps of it in memory up to date, and sends the configuration to its devices.
// The status is empty until they report again. NotFound: no such network.
func (in *Inventory) Vacated(ctx context.Context, id motion.NetworkID) error {
	n, err := in.state.Network(id)
	if err != nil {
		return err
	}
	if err := in.commands.Cancel(ctx, id, 0); err != nil {
		return err
	}
	if err := in.forgetStatus(ctx, n); err != nil {
		return err
	}
	if err := in.state.Reload(ctx, id); err != nil {
		return err
	}
	_, err = in.Propagate(ctx, id)
	return err
}

// forgetStatus forgets the status that was reported of a network until now, also where a
// flush has stored it since store.VacateHome.
func (in *Inventory) forgetStatus(ctx context.Context, n *state.Network) error {
	in.state.Flushing.Lock()
	defer in.state.Flushing.Unlock()
	if err := in.state.DB.Update(ctx, func(tx *store.Tx) error { return tx.DeleteStatus(n.ID) }); err != nil {
		return err
	}
	n.ClearStatus(in.state.Now())
	return nil
}
