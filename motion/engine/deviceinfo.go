package engine

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// DescribeDevice takes in what another service knows of a client device (payloads.md
// 4.11): it is logged, kept with the leaf, which is made known when it was not seen
// yet, shown in the topology, and sent to the network's devices that are connected.
// A TS of 0 becomes now. NotFound: no such network.
func (e *Engine) DescribeDevice(ctx context.Context, id motion.NetworkID, info motion.DeviceInfo) error {
	if _, err := e.network(id); err != nil {
		return err
	}
	if info.MAC.IsZero() {
		return fault.New(fault.Invalid, "mac: 00:00:00:00:00:00 is no address")
	}
	var devices []motion.Device
	err := e.db.Update(ctx, func(tx *store.Tx) error {
		leaf, err := tx.LeafByMAC(id, info.MAC)
		if fault.KindOf(err) == fault.NotFound {
			leaf, err = motion.Leaf{NetworkID: id, MAC: info.MAC, PeerType: motion.PeerClient, CreatedAt: tx.Now()}, nil
		}
		if err != nil {
			return err
		}
		if info.TS.IsZero() {
			info.TS = tx.Now()
		}
		leaf.DeviceInfo, leaf.UpdatedAt = info, tx.Now()
		if leaf.Hostname == "" {
			leaf.Hostname = info.Hostname
		}
		if _, err := tx.PutLeaf(leaf); err != nil {
			return err
		}
		devices, err = tx.NetworkDevices(id)
		return err
	})
	if err != nil {
		return err
	}
	e.log.Info("device described", "network", id, "type", info.DeviceType, "category", info.Category,
		"brand", info.Brand, "model", info.Model, "os", info.OS)
	for _, device := range devices {
		if e.connected(device.DeviceKey) {
			e.send(device.DeviceKey, "device-info", info, false)
		}
	}
	return e.reload(ctx, id)
}
