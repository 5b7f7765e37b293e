package store

import "sensegate/motion"

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
	if err := tx.requireNetwork(r.NetworkID); err != nil {
		return err
	}
	return status.put(tx, r.NetworkID, r)
}

// TouchStatus stores what the last report of a network said of this minute.
func (tx *Tx) TouchStatus(network motion.NetworkID, h StatusHeard) error {
	if err := tx.requireNetwork(network); err != nil {
		return err
	}
	return statusHeard.put(tx, network, h)
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
	if _, err := statusHeard.delete(tx, network); err != nil {
		return err
	}
	_, err := status.delete(tx, network)
	return err
}
