package store

import (
	"encoding/json"

	"sensegate/motion"
)

// Opaque state that the engine must find again after a restart, one JSON value
// per network.
var (
	detectorStates = table[motion.NetworkID, json.RawMessage]{
		name: "detector_states", noun: "detector state of network", key: key32[motion.NetworkID],
	}
	eventStates = table[motion.NetworkID, json.RawMessage]{
		name: "event_states", noun: "event state of network", key: key32[motion.NetworkID],
	}
)

// DetectorState returns what the detectors of a network have learned, nil when
// nothing is stored.
func (tx *Tx) DetectorState(network motion.NetworkID) (json.RawMessage, error) {
	state, _, err := detectorStates.get(tx, network)
	return state, err
}

// PutDetectorState stores what the detectors of a network have learned.
func (tx *Tx) PutDetectorState(network motion.NetworkID, state json.RawMessage) error {
	if err := tx.requireNetwork(network); err != nil {
		return err
	}
	return detectorStates.put(tx, network, state)
}

// EventState returns the event state machine of a network, nil when nothing is
// stored.
func (tx *Tx) EventState(network motion.NetworkID) (json.RawMessage, error) {
	state, _, err := eventStates.get(tx, network)
	return state, err
}

// PutEventState stores the event state machine of a network.
func (tx *Tx) PutEventState(network motion.NetworkID, state json.RawMessage) error {
	if err := tx.requireNetwork(network); err != nil {
		return err
	}
	return eventStates.put(tx, network, state)
}
