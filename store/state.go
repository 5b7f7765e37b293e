package store

import (
	"cmp"
	"encoding/json"

	"sensegate/motion"
	"sensegate/motion/fault"
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
	return detectorStates.putOf(tx, network, network, state)
}

// EventState returns the event state machine of a network, nil when nothing is
// stored.
func (tx *Tx) EventState(network motion.NetworkID) (json.RawMessage, error) {
	state, _, err := eventStates.get(tx, network)
	return state, err
}

// PutEventState stores the event state machine of a network.
func (tx *Tx) PutEventState(network motion.NetworkID, state json.RawMessage) error {
	return eventStates.putOf(tx, network, network, state)
}

// status is the table of the last whole status report of each network.
var status = table[motion.NetworkID, motion.StatusReport]{
	name: "status", noun: "status report of network", key: key32[motion.NetworkID],
}

// statusHeard is the table of what changes with every report of a network, filled
// up as heard is.
var statusHeard = table[motion.NetworkID, StatusHeard]{
	name: "status_heard", noun: "last report of network", key: key32[motion.NetworkID], grows: true,
}

// StatusHeard is what the last report of a guardian, of any form, said of this
// minute. It is kept apart from the whole report, which is long.
type StatusHeard struct {
	TS            motion.Time `json:"ts"`
	LastMotion    motion.Time `json:"last_motion"`
	MotionTripped *int        `json:"motion_tripped"`
	MotionEnabled int         `json:"motion_enabled"`
}

// PutStatus stores the last whole status report of the network that it names.
func (tx *Tx) PutStatus(r motion.StatusReport) error {
	return status.putOf(tx, r.NetworkID, r.NetworkID, r)
}

// TouchStatus stores what the last report of a network said of this minute.
func (tx *Tx) TouchStatus(network motion.NetworkID, h StatusHeard) error {
	return statusHeard.putOf(tx, network, network, h)
}

// Status returns the last whole status report of a network, brought up to date by
// the last report of any form.
func (tx *Tx) Status(network motion.NetworkID) (motion.StatusReport, error) {
	r, err := status.must(tx, network)
	if err != nil {
		return r, err
	}
	last, ok, err := statusHeard.get(tx, network)
	if ok && last.TS > r.TS {
		r.TS, r.LastMotion = last.TS, last.LastMotion
		r.MotionTripped, r.MotionEnabled = last.MotionTripped, last.MotionEnabled
	}
	return r, err
}

// DeleteStatus forgets the reports of a network; that there are none is no error.
func (tx *Tx) DeleteStatus(network motion.NetworkID) error {
	return cmp.Or(statusHeard.delete(tx, network), status.delete(tx, network))
}

// applicationSettings is the table of application settings, at most one record
// per network.
var applicationSettings = table[motion.NetworkID, motion.ApplicationSettings]{
	name: "application_settings", noun: "application settings of network", key: key32[motion.NetworkID],
}

// PutApplicationSettings stores the settings of a network, as given.
func (tx *Tx) PutApplicationSettings(s motion.ApplicationSettings) error {
	return applicationSettings.putOf(tx, s.NetworkID, s.NetworkID, s)
}

// ApplicationSettings returns the settings of a network.
func (tx *Tx) ApplicationSettings(network motion.NetworkID) (motion.ApplicationSettings, error) {
	return applicationSettings.must(tx, network)
}

// SettingsInForce returns the settings of a network: those that are stored, or the template.
func (tx *Tx) SettingsInForce(network motion.NetworkID) (motion.ApplicationSettings, error) {
	s, err := tx.ApplicationSettings(network)
	if fault.KindOf(err) == fault.NotFound {
		return motion.DefaultApplicationSettings(network), nil
	}
	return s, err
}

// DeleteApplicationSettings removes the settings of a network.
func (tx *Tx) DeleteApplicationSettings(network motion.NetworkID) error {
	return applicationSettings.mustDelete(tx, network)
}
