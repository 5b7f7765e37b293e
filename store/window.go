package store

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"sensegate/motion"
)

// window is the time in which a network adopts devices that ask.
type window struct {
	Until motion.Time `json:"until"`
}

// windows is the table of the adoption windows of single networks.
var windows = table[motion.NetworkID, window]{name: "adoption_windows", noun: "adoption window of network", key: key32[motion.NetworkID]}

// AdoptionUntil returns when the adoption window of a network ends or ended, with
// network 0 that of networks without an owner; set is false when none was ever opened
// or closed.
func (tx *Tx) AdoptionUntil(network motion.NetworkID) (until motion.Time, set bool, err error) {
	if network == 0 {
		err = tx.getMeta(adoptionUntilKey, &until)
		return until, !until.IsZero(), err
	}
	w, set, err := windows.get(tx, network)
	return w.Until, set, err
}

// SetAdoptionUntil opens the adoption window of a network until a time, or closes it
// with one that is past; network 0 is as in AdoptionUntil.
func (tx *Tx) SetAdoptionUntil(network motion.NetworkID, until motion.Time) error {
	if network == 0 {
		return tx.putMeta(adoptionUntilKey, until)
	}
	if err := tx.requireNetwork(network); err != nil {
		return err
	}
	return windows.put(tx, network, window{Until: until})
}

// reformKey is the key in the meta bucket of the devices of deleted networks.
const reformKey = "reform_until"

// ReformUntil returns until when a device of a deleted network may form or join another by
// itself; zero: it is none.
func (tx *Tx) ReformUntil(deviceID string) (motion.Time, error) {
	var until map[string]motion.Time
	err := tx.getMeta(reformKey, &until)
	return until[reformName(deviceID)], err
}

// reformName stands for a device, as nothing stored names those of a deleted network.
func reformName(deviceID string) string {
	sum := sha256.Sum256([]byte(deviceID))
	return hex.EncodeToString(sum[:16])
}

// LetReform lets devices form or join a network by themselves until a time, and forgets
// those whose time is over.
func (tx *Tx) LetReform(deviceIDs []string, until motion.Time) error {
	all := map[string]motion.Time{}
	if err := tx.getMeta(reformKey, &all); err != nil {
		return err
	}
	maps.DeleteFunc(all, func(_ string, end motion.Time) bool { return end <= tx.now })
	for _, id := range deviceIDs {
		all[reformName(id)] = until
	}
	return tx.putMeta(reformKey, all)
}
