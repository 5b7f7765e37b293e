package store

import (
	"cmp"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// pendingLimit is how many devices can wait for adoption (device-protocol.md
// section 1).
const pendingLimit = 256

// pending is the table of devices that wait for adoption.
var pending = table[string, motion.PendingDevice]{name: "pending", noun: "pending device", key: keyText}

// PutPending stores a device that waits for adoption, as given. When there are
// already 256 others, the one that was seen longest ago goes; those approved by
// hand go last, so that a flood of strangers does not undo an approval.
func (tx *Tx) PutPending(p motion.PendingDevice) error {
	if p.DeviceID == "" {
		return fault.New(fault.Invalid, "deviceId: must not be empty")
	}
	list, err := tx.PendingDevices()
	if err != nil {
		return err
	}
	known := slices.ContainsFunc(list, func(other motion.PendingDevice) bool { return other.DeviceID == p.DeviceID })
	if !known && len(list) >= pendingLimit {
		oldest := slices.MaxFunc(list, byEviction)
		if _, err := pending.delete(tx, oldest.DeviceID); err != nil {
			return err
		}
	}
	return pending.put(tx, p.DeviceID, p)
}

// byEviction orders devices by how soon they may go: the last goes first.
func byEviction(a, b motion.PendingDevice) int {
	if a.Approved != b.Approved {
		if a.Approved {
			return -1
		}
		return 1
	}
	return cmp.Compare(b.LastSeen, a.LastSeen)
}

// Pending returns the waiting device with the device id.
func (tx *Tx) Pending(deviceID string) (motion.PendingDevice, error) {
	return pending.must(tx, deviceID)
}

// PendingDevices returns the waiting devices, those seen last first.
func (tx *Tx) PendingDevices() ([]motion.PendingDevice, error) {
	list, err := pending.all(tx, nil)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b motion.PendingDevice) int { return cmp.Compare(b.LastSeen, a.LastSeen) })
	return list, nil
}

// ApprovePending marks a waiting device as adopted by hand and returns it.
func (tx *Tx) ApprovePending(deviceID string) (motion.PendingDevice, error) {
	p, err := pending.must(tx, deviceID)
	if err != nil {
		return p, err
	}
	p.Approved = true
	return p, pending.put(tx, deviceID, p)
}

// DeletePending takes a device off the list; that it is not there is no error.
func (tx *Tx) DeletePending(deviceID string) error {
	_, err := pending.delete(tx, deviceID)
	return err
}

// AdoptionUntil returns when the adoption window that was opened last ends, 0
// when none was ever opened.
func (tx *Tx) AdoptionUntil() (until motion.Time, err error) {
	err = tx.getMeta(adoptionUntilKey, &until)
	return until, err
}

// SetAdoptionUntil opens an adoption window that ends at a time, or closes it
// with one that is past.
func (tx *Tx) SetAdoptionUntil(until motion.Time) error {
	return tx.putMeta(adoptionUntilKey, until)
}
