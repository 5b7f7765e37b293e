package inventory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/store"
)

// ChangeConfig changes the documents of a network (meta, guardian and radar
// configuration) in one transaction and puts them in force at once: in the
// detectors and the event machine of the appliance, and, with push, in the
// network's devices. Without push devices get them with the next push, or when
// they connect.
//
// change gets the record to change and may write other records of the network in
// the same transaction; what it returns is returned and nothing is changed then.
// It must not keep tx, and must not change a document in place that it did not
// make. ConfigRev is raised when a document has changed. The record that was
// stored is returned. NotFound: no such network. It may be called concurrently.
func (in *Inventory) ChangeConfig(ctx context.Context, id motion.NetworkID, push bool, change func(tx *store.Tx, n *motion.Network) error) (motion.Network, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return motion.Network{}, err
	}
	var record motion.Network
	arming := false
	err = in.state.DB.Update(ctx, func(tx *store.Tx) error {
		if record, err = tx.Network(id); err != nil {
			return err
		}
		prior := record
		before, err := documentsOf(record)
		if err != nil {
			return err
		}
		if err := change(tx, &record); err != nil {
			return err
		}
		if !record.Paused() {
			record.PausedUntil = 0
		}
		after, err := documentsOf(record)
		if err != nil {
			return err
		}
		record.ID, record.UpdatedAt = id, tx.Now()
		if !bytes.Equal(before, after) {
			record.ConfigRev++
			arming, err = onlyArms(prior, record)
			if arming {
				record.Armings++
			}
		}
		if err != nil {
			return err
		}
		return tx.PutNetwork(record)
	})
	if err != nil {
		return motion.Network{}, err
	}
	if err := in.state.Reload(ctx, id); err != nil {
		return motion.Network{}, err
	}
	in.state.Log.Info("configuration changed", "network", id, "rev", record.ConfigRev, "push", push)
	if push {
		if _, err := in.pushConfig(ctx, n, arming); err != nil {
			return motion.Network{}, err
		}
	}
	return record, nil
}

// onlyArms reports whether two records of a network differ in nothing that nodes get which do not lead it.
func onlyArms(a, b motion.Network) (bool, error) {
	a.GuardianConfig, b.GuardianConfig = state.ForNodes(motion.WithDefaults(a.Guardian(), a.GuardianConfig)), state.ForNodes(motion.WithDefaults(b.Guardian(), b.GuardianConfig))
	before, err := documentsOf(a)
	if err != nil {
		return false, err
	}
	after, err := documentsOf(b)
	return bytes.Equal(before, after), err
}

// documentsOf returns the documents of a network as JSON, equal for equal ones.
func documentsOf(n motion.Network) ([]byte, error) {
	documents := []motion.Document{n.Meta, n.GuardianConfig, n.RadarConfig}
	for i, d := range documents {
		if d == nil {
			documents[i] = motion.Document{}
		}
	}
	raw, err := json.Marshal(documents)
	if err != nil {
		return nil, fmt.Errorf("encode documents of network %d: %w", n.ID, err)
	}
	return raw, nil
}

// Propagation is what came of sending a network's configuration to its devices.
type Propagation struct {
	Rev        int  // the revision that was sent
	AppliedRev int  // the newest one that the guardian has said to have applied
	Propagated bool // handed to the broker for every device of the network, and there is one
}

// Propagate sends the configuration of a network to all its devices: at once to
// those that are connected, to the others when they return. NotFound: no such
// network.
func (in *Inventory) Propagate(ctx context.Context, id motion.NetworkID) (Propagation, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return Propagation{}, err
	}
	return in.pushConfig(ctx, n, false)
}

// pushConfig sends a network's configuration to each of its devices, retained; with arming to those
// that lead it alone, so that the moment tells the others nothing.
func (in *Inventory) pushConfig(ctx context.Context, n *state.Network, arming bool) (Propagation, error) {
	var devices []motion.Device
	err := in.state.DB.View(ctx, func(tx *store.Tx) (err error) {
		devices, err = tx.NetworkDevices(n.ID)
		return err
	})
	if err != nil {
		return Propagation{}, err
	}
	n.Mu.Lock()
	result := Propagation{Rev: n.Record.ConfigRev, AppliedRev: n.Record.AppliedRev, Propagated: len(devices) > 0}
	n.Mu.Unlock()
	for _, device := range devices {
		if arming && !n.Leads(device.DeviceKey) {
			continue
		}
		result.Propagated = in.state.SendConfig(n, device.DeviceKey) && result.Propagated
	}
	return result, nil
}
