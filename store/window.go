package store

import "sensegate/motion"

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
