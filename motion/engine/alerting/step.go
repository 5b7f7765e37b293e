package alerting

import (
	"context"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/engine/events"
	"sensegate/motion/fault"
	"sensegate/store"
)

// alertStep is a step of an alert that has to be stored.
type alertStep struct {
	before, after store.Alert
	result        alert.Result
	at            time.Time
}

// storeStep stores a step. What a firing brings about, its events and pushes, goes
// into the same commit, so that it happens once wherever the process ends. Conflict:
// the alert was changed meanwhile; nothing is stored then.
func (r *Runner) storeStep(ctx context.Context, s alertStep) (err error) {
	if s.result.Fired == nil {
		err = r.state.DB.Update(ctx, s.put)
	} else {
		_, err = r.events.Put(ctx, events.Entry{Event: motion.Event{NetworkID: s.network()}, Change: s.fire})
	}
	if err == nil {
		s.tell(r)
	}
	return err
}

func (s alertStep) network() motion.NetworkID { return s.after.Rule.ExternalID }

// put stores the alert with what is to be remembered of the step.
func (s alertStep) put(tx *store.Tx) error {
	stored, err := tx.Alert(s.after.Key())
	if err != nil {
		return err
	}
	if stored.Rev != s.before.Rev {
		return fault.New(fault.Conflict, "alert %s was changed", stored.Rule.UUID)
	}
	after, at := s.after, motion.StampOf(s.at)
	if skip := s.result.Skipped; skip != nil {
		after.Runs = append(after.Runs, store.AlertRun{At: at, Target: skip.Last, Missed: skip.Count})
	}
	if fired := s.result.Fired; fired != nil {
		after.Runs = append(after.Runs, store.AlertRun{
			At: at, Target: fired.Target, Verdict: fired.Verdict, LateSeconds: fired.Late.Seconds(),
		})
	}
	_, err = tx.PutAlert(after)
	return err
}

// fire stores the alert and its pushes, and returns its events to be stored.
func (s alertStep) fire(tx *store.Tx) (events []motion.Event, err error) {
	if err := s.put(tx); err != nil {
		return nil, err
	}
	record, err := tx.Network(s.network())
	if err != nil {
		return nil, err
	}
	for _, action := range s.result.Fired.Actions {
		switch action.Action {
		case alert.FCMPush:
			if _, err := tx.AddPush(s.push(action)); err != nil {
				return nil, err
			}
		case alert.Event:
			events = append(events, s.event(action, record.GuardianID))
		}
	}
	return events, nil
}

// push makes the push of an action.
func (s alertStep) push(action alert.Action) store.Push {
	return store.Push{
		NetworkID: s.network(), UserIDs: action.UserIDs, Payload: action.Payload,
		Alert: s.after.Rule.UUID, Target: s.result.Fired.Target, Late: s.result.Fired.Late.Seconds(),
	}
}

// event makes the custom-alert event of an action. Its detail tells what the alert
// found, over which stretch of time and how late it fired (seconds since the epoch,
// seconds).
func (s alertStep) event(action alert.Action, guardianID string) motion.Event {
	fired := s.result.Fired
	detail := motion.Document{
		"verdict": string(fired.Verdict), "target": epoch(fired.Target),
		"from": epoch(fired.From), "to": epoch(fired.To),
	}
	if fired.Late > 0 {
		detail["late_s"] = fired.Late.Seconds()
	}
	event := motion.Event{
		Event:     motion.CustomAlertEvent,
		NetworkID: s.network(), GuardianID: guardianID, TS: motion.TimeOf(s.at), Detail: detail,
	}
	event.Consumer, event.Data = action.CustomEvent(s.after.Rule)
	return event
}

// epoch returns a time in seconds since the epoch.
func epoch(t motion.Stamp) float64 { return float64(t) / 1000 }

// tell logs an alert that was missed. One that fired is not logged: it tells of motion, and
// administrators read the log who belong to no household.
func (s alertStep) tell(r *Runner) {
	if skip := s.result.Skipped; skip != nil {
		r.state.Log.Warn("alert missed", "network", s.network(), "alert", s.after.Rule.UUID, "count", skip.Count, "last", skip.Last.Std())
	}
}
