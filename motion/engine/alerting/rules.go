package alerting

import (
	"context"
	"errors"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/store"
)

// AlertStatus is an alert as the job queue sees it.
type AlertStatus struct {
	alert.Status
	History []store.AlertRun `json:"history" nullable:"false" doc:"The last occurrences that fired or were missed, oldest first, at most 20"`
}

// Alerts returns the alert rules of a network (interfaces.md 4.1 no. 7), in
// the order of their creation, never nil.
func (r *Runner) Alerts(ctx context.Context, id motion.NetworkID) ([]alert.Rule, error) {
	list, err := r.storedAlerts(ctx, id)
	rules := make([]alert.Rule, len(list))
	for i, a := range list {
		rules[i] = a.Rule
	}
	return rules, err
}

// AlertStatuses returns the alerts of a network as the job queue sees them, in the
// order of their creation, never nil.
func (r *Runner) AlertStatuses(ctx context.Context, id motion.NetworkID) ([]AlertStatus, error) {
	list, err := r.storedAlerts(ctx, id)
	statuses := make([]AlertStatus, len(list))
	for i, a := range list {
		statuses[i] = AlertStatus{Status: a.Status(), History: a.Runs}
	}
	return statuses, err
}

// storedAlerts returns the alerts of a network.
func (r *Runner) storedAlerts(ctx context.Context, id motion.NetworkID) (list []store.Alert, err error) {
	err = r.state.View(ctx, id, func(tx *store.Tx) error {
		list, err = tx.Alerts(id)
		return err
	})
	return list, err
}

// Alert returns an alert rule of a network. One of another network is NotFound.
func (r *Runner) Alert(ctx context.Context, id motion.NetworkID, uuid string) (rule alert.Rule, err error) {
	err = r.state.View(ctx, id, func(tx *store.Tx) error {
		a, err := tx.Alert(store.AlertKey{Network: id, UUID: uuid})
		rule = a.Rule
		return err
	})
	return rule, err
}

// CreateAlert adds an alert rule to a network and returns it. Invalid: with all
// mistakes, those that the caller has found before among them, also when no
// occurrence lies ahead; Conflict: the network has 100.
func (r *Runner) CreateAlert(ctx context.Context, id motion.NetworkID, edit alert.Edit, found ...fault.Detail) (alert.Rule, error) {
	if err := r.state.Known(id); err != nil {
		return alert.Rule{}, err
	}
	job, err := alert.New(edit, r.state.Wall())
	if err = fault.Also(err, found); err != nil {
		return alert.Rule{}, err
	}
	var created store.Alert
	err = r.state.DB.Update(ctx, func(tx *store.Tx) error {
		created, err = tx.CreateAlert(id, job)
		return err
	})
	if err != nil {
		return alert.Rule{}, err
	}
	r.alertChanged(created, "created")
	return created.Rule, nil
}

// ChangeAlert changes an alert rule of a network and returns it; its job begins
// anew. A rule after its last occurrence takes an rrule with one that lies ahead.
// Invalid: with all mistakes, those that the caller has found before among them.
func (r *Runner) ChangeAlert(ctx context.Context, id motion.NetworkID, uuid string, edit alert.Edit, found ...fault.Detail) (alert.Rule, error) {
	var changed store.Alert
	err := r.state.Update(ctx, id, func(tx *store.Tx) error {
		a, err := tx.Alert(store.AlertKey{Network: id, UUID: uuid})
		if err != nil {
			return err
		}
		a.Job, err = a.Patch(edit, r.state.Wall())
		if err = fault.Also(err, found); err != nil {
			return err
		}
		changed, err = tx.RequeueAlert(a)
		return err
	})
	if err != nil {
		return alert.Rule{}, err
	}
	r.alertChanged(changed, "changed")
	return changed.Rule, nil
}

// DeleteAlert removes an alert rule of a network and returns what it was.
func (r *Runner) DeleteAlert(ctx context.Context, id motion.NetworkID, uuid string) (alert.Rule, error) {
	var deleted store.Alert
	err := r.state.Update(ctx, id, func(tx *store.Tx) (err error) {
		if deleted, err = tx.Alert(store.AlertKey{Network: id, UUID: uuid}); err != nil {
			return err
		}
		return tx.DeleteAlert(deleted.Key())
	})
	if err != nil {
		return alert.Rule{}, err
	}
	r.state.Log.Info("alert deleted", "network", id, "alert", uuid)
	return deleted.Rule, nil
}

// SwitchAlerts enables and disables alerts of a network, all or none, and returns
// their rules in the same order. NotFound: one is not of the network. Invalid: with
// every alert that has no occurrence left to be enabled for.
func (r *Runner) SwitchAlerts(ctx context.Context, id motion.NetworkID, switches []alert.Switch) ([]alert.Rule, error) {
	var changed []store.Alert
	err := r.state.Update(ctx, id, func(tx *store.Tx) (err error) {
		if changed, err = readSwitched(tx, id, switches); err != nil {
			return err
		}
		var mistakes []fault.Detail
		for i, s := range switches {
			changed[i].Job, err = changed[i].Patch(alert.Edit{Enabled: &s.Enabled}, r.state.Wall())
			var wrong *fault.Error
			if errors.As(err, &wrong) {
				for _, d := range wrong.Details {
					mistakes = append(mistakes, fault.Detail{Location: s.Location, Message: d.Message, Value: s.UUID})
				}
				continue
			}
			if err == nil {
				changed[i], err = tx.RequeueAlert(changed[i])
			}
			if err != nil {
				return err
			}
		}
		if mistakes != nil {
			return fault.Mistakes(mistakes...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rules := make([]alert.Rule, len(changed))
	for i, a := range changed {
		r.alertChanged(a, "switched")
		rules[i] = a.Rule
	}
	return rules, nil
}

// readSwitched returns the alerts that switches name.
func readSwitched(tx *store.Tx, id motion.NetworkID, switches []alert.Switch) ([]store.Alert, error) {
	list := make([]store.Alert, len(switches))
	for i, s := range switches {
		var err error
		if list[i], err = tx.Alert(store.AlertKey{Network: id, UUID: s.UUID}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// alertChanged has a changed alert looked at by the queue.
func (r *Runner) alertChanged(a store.Alert, how string) {
	r.state.Log.Info("alert stored", "change", how, "network", a.Rule.ExternalID, "alert", a.Rule.UUID, "enabled", a.Rule.Enabled)
	r.queue.put(a.Key(), 0)
}
