package devices

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// DescribeDevice takes in what another service knows of a client device (payloads.md
// 4.11): it is logged, kept with the leaf and shown in the topology when the network
// knows that leaf, and sent to the network's devices that are connected. An address that
// is no leaf's, as that of a node, makes none.
// A TS of 0 becomes now. NotFound: no such network.
func (f *Fleet) DescribeDevice(ctx context.Context, id motion.NetworkID, info motion.DeviceInfo) error {
	if err := f.state.Known(id); err != nil {
		return err
	}
	if info.MAC.IsZero() {
		return fault.New(fault.Invalid, "mac: 00:00:00:00:00:00 is no address")
	}
	var devices []motion.Device
	err := f.state.DB.Update(ctx, func(tx *store.Tx) (err error) {
		if info.TS.IsZero() {
			info.TS = tx.Now()
		}
		if devices, err = tx.NetworkDevices(id); err != nil {
			return err
		}
		leaf, err := tx.LeafByMAC(id, info.MAC)
		if fault.KindOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		leaf.DeviceInfo, leaf.UpdatedAt = info, tx.Now()
		if leaf.Hostname == "" {
			leaf.Hostname = info.Hostname
		}
		_, err = tx.PutLeaf(leaf)
		return err
	})
	if err != nil {
		return err
	}
	f.state.Log.Info("device info stored", "network", id, "type", info.DeviceType, "category", info.Category,
		"brand", info.Brand, "model", info.Model, "os", info.OS)
	for _, device := range devices {
		if f.state.IsConnected(device.DeviceKey) {
			f.state.Send(device.DeviceKey, "device-info", info, false)
		}
	}
	return f.state.Reload(ctx, id)
}
