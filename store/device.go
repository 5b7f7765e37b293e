package store

import (
	"cmp"
	"slices"
	"sort"

	"sensegate/motion"
)

// deviceKey returns the key of a device in its tables.
func deviceKey(k motion.DeviceKey) []byte { return keyText(k.String()) }

// devices is the table of adopted devices.
var devices = table[motion.DeviceKey, motion.Device]{
	name: "devices", vital: true, noun: "device", key: deviceKey,
	indexes: []index[motion.Device]{{
		name: "devices_by_network", noun: "network",
		keys: func(d motion.Device) [][]byte { return [][]byte{key32(d.NetworkID)} },
	}},
}

// sign is the last sign of life of a device.
type sign struct {
	At      motion.Time `json:"at"`
	Address string      `json:"address"`
}

// heard is the table of last signs of life. Its pages are filled up because all of
// them are written each minute.
var heard = table[motion.DeviceKey, sign]{name: "heard", noun: "sign of life of device", key: deviceKey, grows: true}

// Heard says that a device was heard from.
type Heard struct {
	Key     motion.DeviceKey
	At      motion.Time
	Address string // of its session; empty: as before
}

// PutDevice stores an adopted device, as given; its tokens stay.
func (tx *Tx) PutDevice(d motion.Device) error {
	return devices.putOf(tx, d.NetworkID, d.DeviceKey, d)
}

// Device returns the device with the key.
func (tx *Tx) Device(key motion.DeviceKey) (motion.Device, error) {
	d, err := devices.must(tx, key)
	if err != nil {
		return d, err
	}
	return tx.deviceHeard(d)
}

// Devices returns all devices, by kind and id.
func (tx *Tx) Devices() ([]motion.Device, error) {
	list, err := devices.all(tx, nil)
	return mapped(list, err, tx.deviceHeard)
}

// NetworkDevices returns the devices of a network, by kind and id.
func (tx *Tx) NetworkDevices(network motion.NetworkID) ([]motion.Device, error) {
	list, err := devices.allBy(tx, "devices_by_network", key32(network))
	return mapped(list, err, tx.deviceHeard)
}

// deviceHeard lays the last sign of life over d.
func (tx *Tx) deviceHeard(d motion.Device) (motion.Device, error) {
	last, _, err := heard.get(tx, d.DeviceKey)
	if last.At > d.LastHeard {
		d.LastHeard = last.At
		d.Address = cmp.Or(last.Address, d.Address)
	}
	return d, err
}

// DeleteDevice removes a device and revokes its tokens.
func (tx *Tx) DeleteDevice(key motion.DeviceKey) error {
	if err := devices.mustDelete(tx, key); err != nil {
		return err
	}
	if err := heard.delete(tx, key); err != nil {
		return err
	}
	return deviceTokens.delete(tx, key)
}

// TouchDevices notes when devices were last heard. Devices that are not adopted
// are left out, and a time before the stored one changes nothing. It is meant
// for one transaction a minute with all devices that were heard since.
func (tx *Tx) TouchDevices(batch []Heard) error {
	inOrder := slices.Clone(batch)
	sort.Slice(inOrder, func(i, j int) bool { return inOrder[i].At < inOrder[j].At })
	for _, h := range inOrder {
		if tx.bucket(devices.name).Get(deviceKey(h.Key)) == nil {
			continue
		}
		last, _, err := heard.get(tx, h.Key)
		if err != nil {
			return err
		}
		if h.At <= last.At {
			continue
		}
		if err := heard.put(tx, h.Key, sign{At: h.At, Address: cmp.Or(h.Address, last.Address)}); err != nil {
			return err
		}
	}
	return nil
}
