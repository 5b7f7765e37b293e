package store

import (
	"sort"
	"strconv"

	"github.com/google/uuid"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
)

// alertLimit is how many alerts a network can have.
const alertLimit = 100

// runLimit is how many runs of an alert are remembered; the oldest go first.
const runLimit = 20

// Alert is a universal alert with what the job queue remembers of it.
type Alert struct {
	alert.Job
	Number uint64     `json:"number"` // the id of its record, in the order of creation
	Rev    int        `json:"rev"`    // counts the changes of the record
	Runs   []AlertRun `json:"runs"`   // the last ones, oldest first

	Snoozed motion.Stamp `json:"snoozed,omitempty"` // until when it does not fire; 0 or past: it does
}

// AlertRun is an occurrence that fired, or occurrences that were missed.
type AlertRun struct {
	At          motion.Stamp   `json:"at" format:"date-time" doc:"When it ran or was found to have been missed, UTC" example:"2025-11-24T13:00:00.250Z"`
	Target      motion.Stamp   `json:"target" format:"date-time" doc:"The occurrence; of several missed ones the last, UTC" example:"2025-11-24T13:00:00.000Z"`
	Verdict     alert.Verdict  `json:"verdict,omitempty" enum:"time,motion,no_motion,no_history" doc:"What was found; absent when missed" example:"no_motion"`
	LateSeconds motion.Seconds `json:"late_s,omitempty" doc:"How late it fired, seconds; absent up to a minute" example:"540"`
	Missed      int            `json:"missed,omitempty" doc:"Occurrences that were missed: they could not fire within 15 minutes" example:"3"`
}

// AlertKey names an alert of a network.
type AlertKey struct {
	Network motion.NetworkID
	UUID    string
}

// String returns the uuid, for messages.
func (k AlertKey) String() string { return k.UUID }

// Key returns the key of the alert.
func (a Alert) Key() AlertKey { return AlertKey{a.Rule.ExternalID, a.Rule.UUID} }

// alerts is the table of universal alerts.
var alerts = table[AlertKey, Alert]{
	name: "alerts", noun: "alert",
	key: func(k AlertKey) []byte { return join(key32(k.Network), keyText(k.UUID)) },
}

// CreateAlert stores a new alert of a network and returns it with the ids that it
// was given: a random uuid, and the next number for both record and job. More than
// 100 in one network are a Conflict.
func (tx *Tx) CreateAlert(network motion.NetworkID, job alert.Job) (Alert, error) {
	a := Alert{Job: job, Runs: []AlertRun{}}
	if err := tx.requireNetwork(network); err != nil {
		return a, err
	}
	list, err := tx.Alerts(network)
	if err != nil {
		return a, err
	}
	if len(list) >= alertLimit {
		return a, fault.New(fault.Conflict, "a network has at most %d alerts: delete one first", alertLimit)
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return a, err
	}
	if a.Number, err = tx.bucket(alerts.name).NextSequence(); err != nil {
		return a, err
	}
	text := strconv.FormatUint(a.Number, 10)
	a.State.JobID = text
	a.Rule.ID, a.Rule.UUID, a.Rule.ExternalID, a.Rule.NetworkID = text, id.String(), network, network
	return a, alerts.put(tx, a.Key(), a)
}

// RequeueAlert stores a, whose rule was changed, with a new job: under the next
// number. It returns a as stored.
func (tx *Tx) RequeueAlert(a Alert) (Alert, error) {
	sequence, err := tx.bucket(alerts.name).NextSequence()
	if err != nil {
		return a, err
	}
	a.State.JobID = strconv.FormatUint(sequence, 10)
	return tx.PutAlert(a)
}

// PutAlert stores a over the alert with its uuid and returns it as stored: with its
// revision counted up, and of the runs the last 20.
func (tx *Tx) PutAlert(a Alert) (Alert, error) {
	if err := tx.Here(a.Rule.ExternalID); err != nil {
		return a, err
	}
	before, err := alerts.must(tx, a.Key())
	if err != nil {
		return a, err
	}
	a.Rev = before.Rev + 1
	a.Runs = a.Runs[max(0, len(a.Runs)-runLimit):]
	return a, alerts.put(tx, a.Key(), a)
}

// Alert returns the alert of a network with the uuid.
func (tx *Tx) Alert(k AlertKey) (Alert, error) { return alerts.must(tx, k) }

// Alerts returns the alerts of a network, in the order of their creation; those of
// all networks for 0.
func (tx *Tx) Alerts(network motion.NetworkID) ([]Alert, error) {
	var prefix []byte
	if network != 0 {
		prefix = key32(network)
	}
	list, err := alerts.all(tx, prefix)
	sort.Slice(list, func(i, j int) bool { return list[i].Number < list[j].Number })
	return list, err
}

// DeleteAlert removes an alert; that it is not there is no error.
func (tx *Tx) DeleteAlert(k AlertKey) error {
	return alerts.delete(tx, k)
}
