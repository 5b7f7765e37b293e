package store

import (
	"cmp"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// networks is the table of networks.
var networks = table[motion.NetworkID, motion.Network]{
	name: "networks", vital: true, noun: "network", key: key32[motion.NetworkID],
	indexes: []index[motion.Network]{{
		name: "networks_by_guardian", noun: "guardian id", unique: true,
		keys: func(n motion.Network) [][]byte { return [][]byte{keyText(n.GuardianID)} },
	}},
}

// CreateNetwork stores a new network under the next id and returns it.
// CreatedAt and UpdatedAt are set to now unless given. A guardian id that
// another network has is a Conflict.
func (tx *Tx) CreateNetwork(n motion.Network) (motion.Network, error) {
	sequence, err := tx.bucket(networks.name).NextSequence()
	if err != nil {
		return motion.Network{}, err
	}
	n.ID = motion.NetworkID(sequence)
	n.CreatedAt, n.UpdatedAt = tx.orNow(n.CreatedAt), tx.orNow(n.UpdatedAt)
	return n, networks.put(tx, n.ID, n)
}

// PutNetwork stores n over the network with its id, as given.
func (tx *Tx) PutNetwork(n motion.Network) error {
	if err := tx.requireNetwork(n.ID); err != nil {
		return err
	}
	if err := networks.put(tx, n.ID, n); err != nil {
		return err
	}
	return tx.noteArmed(n.ID)
}

// Network returns the network with the id.
func (tx *Tx) Network(id motion.NetworkID) (motion.Network, error) {
	n, err := networks.must(tx, id)
	if err != nil {
		return n, err
	}
	return tx.networkHeard(n)
}

// NetworkByGuardian returns the network that was created with the guardian id.
func (tx *Tx) NetworkByGuardian(guardianID string) (motion.Network, error) {
	n, ok, err := networks.by(tx, "networks_by_guardian", keyText(guardianID))
	if err != nil {
		return n, err
	}
	if !ok {
		return n, fault.New(fault.NotFound, "guardian %.64q: not found", guardianID)
	}
	return tx.networkHeard(n)
}

// Networks returns all networks, by id.
func (tx *Tx) Networks() ([]motion.Network, error) {
	list, err := networks.all(tx, nil)
	return mapped(list, err, tx.networkHeard)
}

// networkHeard lays the last sign of life of the guardian over n.
func (tx *Tx) networkHeard(n motion.Network) (motion.Network, error) {
	last, _, err := heard.get(tx, n.GuardianKey())
	n.LastHeard = max(n.LastHeard, last.At)
	return n, err
}

// DeleteNetwork removes a network with everything that belongs to it; whether it had an
// owner is remembered (OwnedBefore). Its bytes are wiped from the file soon after
// (DB.WipeDeleted).
func (tx *Tx) DeleteNetwork(id motion.NetworkID) error {
	if err := tx.removeNetwork(id); err != nil {
		return err
	}
	return tx.dueToWipe(true, id)
}

// DropNetwork is DeleteNetwork of one that was never used: backups that hold it stay.
func (tx *Tx) DropNetwork(id motion.NetworkID) error {
	if err := tx.removeNetwork(id); err != nil {
		return err
	}
	return tx.dueToWipe(false, id)
}

// removeNetwork removes a network with everything that belongs to it but its sealed samples, which share
// pages with those of others: Wipe deletes them, some at a time.
func (tx *Tx) removeNetwork(id motion.NetworkID) error {
	if err := tx.requireStored(id); err != nil {
		return err
	}
	prefix := key32(id)
	return cmp.Or(
		tx.noteOwned(id), tx.deleteNodes(id), tx.deleteLeafs(id), tx.deleteDevices(id), tx.revokeAPIKeys(id), tx.samples().DeleteJournal(id),
		tx.deleteCommands(id), tx.deletePendingOf(id), tx.deleteDeliveriesOf(id), tx.deleteHomeOf(id),
		links.removePrefix(tx, prefix), status.delete(tx, id), statusHeard.delete(tx, id), events.removePrefix(tx, prefix),
		detectorStates.delete(tx, id), eventStates.delete(tx, id), applicationSettings.delete(tx, id),
		alerts.removePrefix(tx, prefix), pushes.removePrefix(tx, prefix), windows.delete(tx, id), rooms.delete(tx, id), tx.DeleteHandover(id), networks.delete(tx, id),
	)
}

// deleteNodes removes the nodes of a network.
func (tx *Tx) deleteNodes(network motion.NetworkID) error {
	list, err := tx.Nodes(network)
	return each(list, err, func(n motion.Node) error { return tx.DeleteNode(n.ID) })
}

// deleteLeafs removes the leafs of a network.
func (tx *Tx) deleteLeafs(network motion.NetworkID) error {
	list, err := tx.Leafs(network)
	return each(list, err, func(l motion.Leaf) error { return tx.DeleteLeaf(l.ID) })
}

// deleteDevices removes the devices of a network.
func (tx *Tx) deleteDevices(network motion.NetworkID) error {
	list, err := tx.NetworkDevices(network)
	return each(list, err, func(d motion.Device) error { return tx.DeleteDevice(d.DeviceKey) })
}
