package store

import (
	"sensegate/motion"
	"sensegate/motion/fault"
)

// applicationSettings is the table of application settings, at most one record
// per network.
var applicationSettings = table[motion.NetworkID, motion.ApplicationSettings]{
	name: "application_settings", noun: "application settings of network", key: key32[motion.NetworkID],
}

// PutApplicationSettings stores the settings of a network, as given.
func (tx *Tx) PutApplicationSettings(s motion.ApplicationSettings) error {
	if err := tx.requireNetwork(s.NetworkID); err != nil {
		return err
	}
	return applicationSettings.put(tx, s.NetworkID, s)
}

// ApplicationSettings returns the settings of a network.
func (tx *Tx) ApplicationSettings(network motion.NetworkID) (motion.ApplicationSettings, error) {
	return applicationSettings.must(tx, network)
}

// DeleteApplicationSettings removes the settings of a network.
func (tx *Tx) DeleteApplicationSettings(network motion.NetworkID) error {
	existed, err := applicationSettings.delete(tx, network)
	if err == nil && !existed {
		err = fault.New(fault.NotFound, "%s %d: not found", applicationSettings.noun, network)
	}
	return err
}
