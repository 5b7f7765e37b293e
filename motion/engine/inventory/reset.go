package inventory

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/setting"
	"sensegate/store"
)

// Keep says what a reset leaves alone.
type Keep struct {
	Guardian bool
	Radar    bool
	Status   bool
	// Meta are top-level keys. Of the views, home is kept with the guardian
	// configuration too.
	Meta []string
}

// Reset takes the configuration of a network back to its defaults and, unless
// keep.Status, forgets the status that was reported and the links: status and
// topology are empty until devices report again (payloads.md 4.3, 4.11). Open
// management commands are cancelled. push is as in ChangeConfig. Conflict: motion is and
// stays paused, and a sounding setting would change. NotFound: no such network.
func (in *Inventory) Reset(ctx context.Context, id motion.NetworkID, keep Keep, push bool) error {
	n, err := in.state.Network(id)
	if err != nil {
		return err
	}
	if err := in.commands.Cancel(ctx, id, 0); err != nil {
		return err
	}
	// A flush would write the status that it has copied already.
	in.state.Flushing.Lock()
	defer in.state.Flushing.Unlock()
	var at motion.Time
	_, err = in.ChangeConfig(ctx, id, push, func(tx *store.Tx, n *motion.Network) error {
		at = in.state.Now()
		if err := resetDocuments(tx, n, keep); err != nil || keep.Status {
			return err
		}
		n.StatusCleared = at
		return clearStatus(tx, id)
	})
	if err != nil {
		return err
	}
	if !keep.Status {
		n.ClearStatus(at)
	}
	in.state.Log.Info("configuration reset", "network", id, "status", !keep.Status)
	return nil
}

// resetDocuments empties the documents of a network but for what is kept.
func resetDocuments(tx *store.Tx, n *motion.Network, keep Keep) error {
	leafs, err := tx.Leafs(n.ID)
	if err != nil {
		return err
	}
	before := state.MetaOf(*n, slices.Values(leafs))
	after := before
	if !keep.Radar {
		after.Network.RadarConfig = nil
	}
	after = after.Reset(keep.Guardian, keep.Meta)
	if after.Network.Paused() {
		if err := setting.HeldByPause(*n, after.Network); err != nil {
			return err
		}
	}
	*n = after.Network
	return putTexts(tx, leafs, before, after)
}

// clearStatus forgets the stored status and links of a network.
func clearStatus(tx *store.Tx, id motion.NetworkID) error {
	if err := tx.DeleteStatus(id); err != nil {
		return err
	}
	links, err := tx.Links(id)
	if err != nil {
		return err
	}
	for _, link := range links {
		if err := tx.DeleteLink(id, link.Name); err != nil {
			return err
		}
	}
	return nil
}
