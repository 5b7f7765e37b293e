package store

import (
	"crypto/rand"
	"slices"
	"sort"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// pending is the table of devices that wait for adoption.
var pending = table[string, motion.PendingDevice]{name: "pending", noun: "pending device", key: keyText}

// NewPendingID returns a new random id of an entry of the waiting list, short enough to
// be typed. Nobody can choose a deviceId that will be the id of an entry.
func NewPendingID() string { return strings.ToLower(rand.Text()[:8]) }

// SetPending stores list as the devices that wait for adoption, in place of what was
// stored of them. Entries that are stored already change no page.
func (tx *Tx) SetPending(list []motion.PendingDevice) error {
	kept := map[string]bool{}
	for _, p := range list {
		if p.ID == "" {
			return fault.New(fault.Invalid, "id: must not be empty")
		}
		kept[p.ID] = true
	}
	gone := slices.DeleteFunc(pending.keys(tx, nil), func(key []byte) bool { return kept[string(key)] })
	if err := pending.removeAll(tx, gone); err != nil {
		return err
	}
	return each(list, nil, func(p motion.PendingDevice) error { return pending.put(tx, p.ID, p) })
}

// PendingDevices returns the waiting devices as they were last stored, those seen last
// first.
func (tx *Tx) PendingDevices() ([]motion.PendingDevice, error) {
	list, err := pending.all(tx, nil)
	if err != nil {
		return nil, err
	}
	sort.SliceStable(list, func(i, j int) bool { return list[j].LastSeen < list[i].LastSeen })
	return list, nil
}

// pendingToV4 gives the waiting devices, which schema 2 kept by their deviceId, ids of
// their own. It drops approvals: they were for whatever the deviceId would show next.
func (tx *Tx) pendingToV4() error {
	list, err := tx.PendingDevices()
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Approved {
			tx.db.logger.Warn("approval dropped: approve the device again when it has asked", "device", list[i].DeviceID)
		}
		list[i].ID, list[i].Approved = NewPendingID(), false
	}
	return tx.SetPending(list)
}
