package engine

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/setting"
	"sensegate/store"
)

// GuardianConfig returns the guardian configuration of a network in force, defaults
// included, or the value at a top-level key of it. NotFound: no such network or key.
func (e *Engine) GuardianConfig(id motion.NetworkID, key string) (any, error) {
	return e.configuration(id, "guardian configuration", key, func(n *network) motion.Document {
		return motion.WithDefaults(n.guardian, n.record.GuardianConfig)
	})
}

// RadarConfig returns the radar configuration of a network likewise.
func (e *Engine) RadarConfig(id motion.NetworkID, key string) (any, error) {
	return e.configuration(id, "radar configuration", key, func(n *network) motion.Document {
		return motion.WithDefaults(n.radar, n.record.RadarConfig)
	})
}

func (e *Engine) configuration(id motion.NetworkID, name, key string, read func(*network) motion.Document) (any, error) {
	n, err := e.network(id)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	document := read(n)
	n.mu.Unlock()
	if key == "" {
		return document, nil
	}
	return valueOf(document, name, key)
}

// EditGuardian changes the guardian configuration of a network with one edit. Conflict:
// motion is paused, and a sounding setting would change. push is as in ChangeConfig.
func (e *Engine) EditGuardian(ctx context.Context, id motion.NetworkID, push bool, edit setting.Edit) error {
	return e.edit(ctx, id, push, func(_ *store.Tx, n motion.Network) (motion.Network, error) { return setting.Guardian(n, edit) })
}

// EditRadar changes the radar configuration of a network likewise.
func (e *Engine) EditRadar(ctx context.Context, id motion.NetworkID, push bool, edit setting.Edit) error {
	return e.edit(ctx, id, push, func(tx *store.Tx, n motion.Network) (motion.Network, error) {
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
func (e *Engine) edit(ctx context.Context, id motion.NetworkID, push bool, rule func(*store.Tx, motion.Network) (motion.Network, error)) error {
	_, err := e.ChangeConfig(ctx, id, push, func(tx *store.Tx, n *motion.Network) error {
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

// Unsupported returns the settings of a view that have no effect in a network as it
// is sensed now; none for one that is not known.
func (e *Engine) Unsupported(id motion.NetworkID, v setting.View) []string {
	n, err := e.network(id)
	if err != nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.source.Holder != ownHolds {
		return nil
	}
	return setting.ForDevices(v)
}

// SoundingSettings returns the sounding settings of a network in force (payloads.md
// 4.4): a view of its documents.
func (e *Engine) SoundingSettings(id motion.NetworkID) (setting.SoundingSettings, error) {
	n, err := e.network(id)
	if err != nil {
		return setting.SoundingSettings{}, err
	}
	n.mu.Lock()
	record := n.record
	n.mu.Unlock()
	return setting.SoundingOf(record)
}

// EditSounding changes some sounding settings of a network: body holds them,
// decoded. Conflict: motion is paused. push is as in ChangeConfig.
func (e *Engine) EditSounding(ctx context.Context, id motion.NetworkID, push bool, body any) error {
	return e.edit(ctx, id, push, func(_ *store.Tx, n motion.Network) (motion.Network, error) { return setting.EditSounding(n, body) })
}
