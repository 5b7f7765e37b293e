package alerting

import (
	"context"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/store"
)

// LongestSnooze is how far ahead the end of a snooze can lie.
const LongestSnooze = 7 * 24 * time.Hour

// SnoozeAlert keeps an alert from firing until a time; one that is not ahead ends it.
// Occurrences until then pass without a trace in what other clients see: the rule stays
// enabled, and its target moves on. Invalid: more than a week ahead.
func (r *Runner) SnoozeAlert(ctx context.Context, id motion.NetworkID, uuid string, until motion.Time) (store.Alert, error) {
	if until > motion.TimeOf(r.state.Wall().Add(LongestSnooze)) {
		return store.Alert{}, fault.At("body.until", float64(until), "must be at most seven days ahead")
	}
	var snoozed store.Alert
	err := r.state.Update(ctx, id, func(tx *store.Tx) error {
		a, err := tx.Alert(store.AlertKey{Network: id, UUID: uuid})
		if err != nil {
			return err
		}
		a.Snoozed = 0
		if until > motion.TimeOf(r.state.Wall()) {
			a.Snoozed = until.Stamp()
		}
		snoozed, err = tx.PutAlert(a)
		return err
	})
	if err == nil {
		r.alertChanged(snoozed, "snoozed")
	}
	return snoozed, err
}

// Records returns the alerts of a network as they are stored, in the order of their creation.
func (r *Runner) Records(ctx context.Context, id motion.NetworkID) ([]store.Alert, error) {
	return r.storedAlerts(ctx, id)
}

const (
	previewRuns = 5
	previewPast = 7 * 24 * time.Hour
)

// Preview says what a rule would do.
type Preview struct {
	Timezone string      // of the rule
	Runs     []alert.Run // the next ones
	Since    motion.Time // from when on the past was looked at
	alert.Rehearsal
	Computed bool // whether the rehearsal could be computed
}

// Preview returns the next runs of a rule that need not be stored, and what it would have told
// in the last seven days, since a time at the earliest. Invalid: with all mistakes of the rule, those
// that the caller has found before among them.
func (r *Runner) Preview(ctx context.Context, id motion.NetworkID, since motion.Time, edit alert.Edit, found ...fault.Detail) (p Preview, err error) {
	now := r.state.Wall()
	job, err := alert.New(edit, now)
	if err = fault.Also(err, found); err != nil {
		return p, err
	}
	p.Timezone, p.Since = job.Rule.Timezone, max(since, motion.TimeOf(now.Add(-previewPast)))
	if p.Runs, err = job.Rule.Runs(now, previewRuns); err != nil {
		return p, err
	}
	scene, err := r.scenes(ctx, id, p.Since)
	if err != nil {
		return p, err
	}
	look := func(from, to motion.Stamp) ([]alert.Second, error) {
		return r.seconds(ctx, id, from.Std().Unix(), to.Std().Unix(), job.Rule.Condition().Authenticated)
	}
	r.rehearsing.Lock()
	defer r.rehearsing.Unlock()
	if err := ctx.Err(); err != nil {
		return p, err
	}
	p.Rehearsal, p.Computed, err = job.Rule.Rehearse(since.Stamp(), p.Since.Stamp(), motion.StampOf(now), look, scene)
	return p, err
}

// scenes returns what the scene of a network's home was at times from since on.
func (r *Runner) scenes(ctx context.Context, id motion.NetworkID, since motion.Time) (at func(motion.Stamp) string, err error) {
	var changes []motion.Event
	var scene string
	err = r.state.View(ctx, id, func(tx *store.Tx) error {
		if scene, err = sceneOf(tx, id); err != nil {
			return err
		}
		changes, err = tx.Events(store.EventQuery{
			Network: id, NotBefore: since, Last: 1000, Kinds: []string{motion.SceneChangedToAwayEvent, motion.SceneChangedToHomeEvent},
		})
		return err
	})
	return func(t motion.Stamp) string { // changes are the newest first
		now := scene
		for _, change := range changes {
			if change.TS.Stamp() <= t {
				break
			}
			now = "away"
			if change.Event == motion.SceneChangedToAwayEvent {
				now = "home"
			}
		}
		return now
	}, err
}
