package inventory

import (
	"context"
	"encoding/json"
	"fmt"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/motion/setting"
	"sensegate/store"
)

// GuardianConfig returns the guardian configuration of a network in force, defaults
// included, as JSON text, or the value at a top-level key of it. NotFound: no such network or key.
// The text is to be read only.
func (in *Inventory) GuardianConfig(id motion.NetworkID, key string) (any, error) {
	return in.configuration(id, "guardian configuration", key, func(n *state.Network) json.RawMessage { return n.InForce.Guardian })
}

// RadarConfig returns the radar configuration of a network likewise.
func (in *Inventory) RadarConfig(id motion.NetworkID, key string) (any, error) {
	return in.configuration(id, "radar configuration", key, func(n *state.Network) json.RawMessage { return n.InForce.Radar })
}

func (in *Inventory) configuration(id motion.NetworkID, name, key string, read func(*state.Network) json.RawMessage) (any, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return nil, err
	}
	n.Mu.Lock()
	text := read(n)
	n.Mu.Unlock()
	if key == "" {
		return text, nil
	}
	var document motion.Document
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("decode %s of network %d: %w", name, id, err)
	}
	return valueOf(document, name, key)
}

// EditGuardian changes the guardian configuration of a network with one edit. Conflict:
// motion is paused, and a sounding setting would change. push is as in ChangeConfig.
func (in *Inventory) EditGuardian(ctx context.Context, id motion.NetworkID, push bool, edit setting.Edit) error {
	return in.edit(ctx, id, push, func(_ *store.Tx, n motion.Network) (motion.Network, error) { return setting.Guardian(n, edit) })
}

// EditRadar changes the radar configuration of a network likewise.
func (in *Inventory) EditRadar(ctx context.Context, id motion.NetworkID, push bool, edit setting.Edit) error {
	return in.edit(ctx, id, push, func(tx *store.Tx, n motion.Network) (motion.Network, error) {
		nodes, err := tx.Nodes(id)
		if err != nil {
			return n, err
		}
		var deviceIDs []string
		for _, node := range nodes {
			deviceIDs = append(deviceIDs, node.DeviceID)
		}
		after, err := setting.Radar(n, edit)
		if err != nil {
			return n, err
		}
		return after, setting.MeshDisabled(n, edit, deviceIDs)
	})
}

// edit changes the documents of a network by a rule that changes no other record.
func (in *Inventory) edit(ctx context.Context, id motion.NetworkID, push bool, rule func(*store.Tx, motion.Network) (motion.Network, error)) error {
	_, err := in.ChangeConfig(ctx, id, push, func(tx *store.Tx, n *motion.Network) error {
		after, err := rule(tx, *n)
		if err != nil {
			return err
		}
		if err := setting.HeldByPause(*n, after); err != nil {
			return err
		}
		*n = after
		return nil
	})
	return err
}

// heardLately is how long ago a link was heard at most that counts as sensing, in seconds.
const heardLately motion.Seconds = 60

// Unsupported returns the settings of a view that have no effect in a network as it
// is sensed now; none for one that is not known.
func (in *Inventory) Unsupported(id motion.NetworkID, v setting.View) []string {
	n, err := in.state.Network(id)
	if err != nil {
		return nil
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.Source.Holder != state.OwnHolds {
		return nil
	}
	heard, now := 0, in.state.Now()
	for _, l := range n.Links {
		if now.Since(l.Heard) < heardLately {
			heard++
		}
	}
	return setting.ForDevices(v, heard < fuse.PetLinks)
}

// SoundingSettings returns the sounding settings of a network in force (payloads.md
// 4.4): a view of its documents.
func (in *Inventory) SoundingSettings(id motion.NetworkID) (setting.SoundingSettings, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return setting.SoundingSettings{}, err
	}
	n.Mu.Lock()
	record := n.Record
	n.Mu.Unlock()
	return setting.SoundingOf(record)
}

// EditSounding changes some sounding settings of a network. found is what is wrong with
// the request so far. Invalid: all that is wrong. Conflict: motion is paused. push is as in
// ChangeConfig.
func (in *Inventory) EditSounding(ctx context.Context, id motion.NetworkID, push bool, change setting.SoundingChange, found fault.Details) error {
	return in.edit(ctx, id, push, func(_ *store.Tx, n motion.Network) (motion.Network, error) {
		return setting.EditSounding(n, change, found)
	})
}
