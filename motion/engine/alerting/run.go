// Package alerting judges alert rules when they are due, and does what they say.
package alerting

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/engine/events"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/series"
	"sensegate/store"
)

// Runner has alert rules judged when they are due, and done what they say. Make it with New.
type Runner struct {
	state  *state.State
	events *events.Writer
	queue  *alertQueue

	rehearsing sync.Mutex // one at a time: it reads up to two weeks of seconds
}

// New makes the runner.
func New(s *state.State, w *events.Writer) *Runner {
	return &Runner{state: s, events: w, queue: newAlertQueue()}
}

// How the alert queue looks at the clock.
const (
	alertLook  = 10 * time.Second // at most between two looks, so that a clock that was set is noticed
	alertRetry = time.Minute      // after a step that could not be stored, or while the clock is behind
	alertPause = time.Second      // at least between two steps of an alert
	alertPoll  = 5 * time.Second  // between two looks at whether there is motion, for rules that tell at once
)

// Run steps each alert when its job has something to do, until ctx ends. It
// returns early with an error when a step could not be stored: its outcome on disk
// is unknown then.
func (r *Runner) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var last motion.Stamp // of the wall clock: a time.Time would not show that it was set back
	for started := false; ; started = true {
		select {
		case <-ctx.Done():
			return nil
		case <-r.queue.wake:
		case <-timer.C:
		}
		now := r.state.Wall()
		if !started || motion.StampOf(now) < last {
			if err := r.queueAlerts(ctx); err != nil {
				return unlessEnded(ctx, err)
			}
		}
		last = motion.StampOf(now)
		if err := r.stepAlerts(ctx, now); err != nil {
			return unlessEnded(ctx, err)
		}
		timer.Reset(r.queue.pause(r.state.Wall()))
	}
}

// unlessEnded returns err, which means nothing once ctx has ended.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// pause returns how long to wait for the next alert.
func (q *alertQueue) pause(now time.Time) time.Duration {
	at, ok := q.next()
	if !ok {
		return alertLook
	}
	return min(max(at.Std().Sub(now), 0), alertLook)
}

// queueAlerts has every alert stepped at once: at the start, and when the clock was
// set back, where those that wait, and even those that were done, may have to run
// at other times.
func (r *Runner) queueAlerts(ctx context.Context) error {
	return r.state.DB.View(ctx, func(tx *store.Tx) error {
		list, err := tx.Alerts(0)
		for _, a := range list {
			r.queue.put(a.Key(), 0)
		}
		return err
	})
}

// Requeue has every alert stepped at once, after networks have come or come back.
func (r *Runner) Requeue(ctx context.Context) error { return r.queueAlerts(ctx) }

// stepAlerts steps the alerts that are due.
func (r *Runner) stepAlerts(ctx context.Context, now time.Time) error {
	for {
		key, ok := r.queue.due(motion.StampOf(now))
		if !ok {
			return nil
		}
		next, queued := motion.StampOf(now.Add(alertRetry)), true // should the step panic
		err := r.state.Contained.Run("step alert "+key.String(), func() (err error) {
			next, queued, err = r.stepAlert(ctx, key, now)
			return err
		})
		if err != nil {
			return fmt.Errorf("step alert %s: %w", key, err)
		}
		if queued {
			r.queue.put(key, next)
		}
	}
}

// stepAlert brings an alert up to now, and returns when to do so next. queued is
// false when it has nothing more to do until it is changed. The error is one after
// which the engine cannot go on.
func (r *Runner) stepAlert(ctx context.Context, key store.AlertKey, now time.Time) (next motion.Stamp, queued bool, err error) {
	var before store.Alert
	var scene string
	err = r.state.DB.View(ctx, func(tx *store.Tx) (err error) {
		if err = tx.Here(key.Network); err != nil {
			return err
		}
		if before, err = tx.Alert(key); err == nil {
			scene, err = sceneOf(tx, key.Network)
		}
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	retry := motion.StampOf(now.Add(alertRetry))
	silent := before.Snoozed > motion.StampOf(now) || !before.Rule.Condition().Holds(scene)
	job, result, err := before.Step(now, r.look(ctx, key.Network, before.Rule.Condition().Authenticated))
	if err == nil && result.Fired == nil && !silent && before.Rule.Condition().AtOnce {
		job, result.Fired, err = r.notice(job, now, key.Network)
	}
	if silent {
		result.Fired = nil // the occurrence has passed
	}
	if err != nil {
		r.state.Log.Error("alert evaluation failed", "network", key.Network, "alert", key.UUID, "err", err)
		return retry, true, nil
	}
	after := before
	after.Job = job
	if !reflect.DeepEqual(before.Job, job) {
		err = r.storeStep(ctx, alertStep{before: before, after: after, result: result, at: now})
	}
	switch kind := fault.KindOf(err); {
	case err == nil:
		next, queued = wakeOf(job, now)
		return next, queued, nil
	case kind == fault.NotFound:
		return 0, false, nil // deleted meanwhile
	case kind == fault.Conflict:
		return motion.StampOf(now), true, nil // changed meanwhile
	case kind != 0:
		r.state.Log.Error("alert run failed, will retry", "network", key.Network, "alert", key.UUID, "err", err)
		return retry, true, nil
	}
	return 0, false, err
}

// wakeOf returns when a job that was stepped has something to do next, and whether
// it has.
func wakeOf(job alert.Job, now time.Time) (motion.Stamp, bool) {
	if !job.Rule.Enabled {
		return 0, false
	}
	at := max(job.State.Wake, motion.StampOf(now.Add(alertPause)))
	if job.Rule.Condition().AtOnce {
		at = min(at, motion.StampOf(now.Add(alertPoll)))
	}
	if motion.StampOf(now) < job.State.Seen {
		at = min(at, motion.StampOf(now.Add(alertRetry))) // to notice that the clock stays back
	}
	return at, true
}

// sceneOf returns the scene of a network's home, "" for a network without one.
func sceneOf(tx *store.Tx, id motion.NetworkID) (string, error) {
	h, ok, err := tx.HomeOfNetwork(id)
	if err != nil || !ok {
		return "", err
	}
	return h.Scene.String(), nil
}

// notice shows a rule that tells at once the latest motion of its network.
func (r *Runner) notice(job alert.Job, now time.Time, id motion.NetworkID) (alert.Job, *alert.Firing, error) {
	n, err := r.state.Network(id)
	if err != nil {
		return job, nil, nil // deleted meanwhile
	}
	n.Mu.Lock()
	moved, paused := n.LastMotion(), n.Record.Paused()
	if job.Rule.Condition().Authenticated {
		moved = n.LastAuthenticated()
	}
	n.Mu.Unlock()
	if paused || moved.IsZero() {
		return job, nil, nil
	}
	next, result, err := job.Notice(now, moved.Stamp())
	return next, result.Fired, err
}

// look returns how an alert sees the motion of its network. A guardian that decides on
// motion may report in its history what was not seen live. authenticated is that of the alert's condition.
func (r *Runner) look(ctx context.Context, id motion.NetworkID, authenticated bool) alert.Look {
	return func(from, to time.Time) ([]alert.Second, bool) {
		n, err := r.state.Network(id)
		var period []alert.Second
		if err == nil {
			period, err = r.seconds(ctx, id, from.Unix(), to.Unix(), authenticated)
		}
		if err != nil {
			r.state.Log.Error("motion of an alert not read", "network", id, "err", err)
			return nil, false
		}
		n.Mu.Lock()
		guardian := n.Record.GuardianKey()
		more := n.Source.Holder != state.OwnHolds && !n.Record.Paused()
		n.Mu.Unlock()
		return period, more && r.state.IsConnected(guardian)
	}
}

// seconds returns what is held of each second of [from, to), as finely as it is held: one
// in a sample above 0 is Moving, one in another Quiet. A second without a sample is Quiet
// too where its minute, counted from the start, has any: frames may come in longer
// intervals. With authenticated only the samples of authenticated links count.
func (r *Runner) seconds(ctx context.Context, id motion.NetworkID, from, to int64, authenticated bool) ([]alert.Second, error) {
	count, err := r.counting(id, authenticated)
	if err != nil {
		return nil, err
	}
	query := series.Query{Measure: series.Density, From: from, To: to, Bucket: series.Second.Step()}
	set, err := r.state.SamplesFor(ctx, id, from, to, query.Bucket, count...)
	if err != nil {
		return nil, err
	}
	period := make([]alert.Second, max(0, to-from))
	for _, query.Series = range count {
		points, err := set.Points(query)
		if err != nil {
			return nil, err
		}
		for i := range points.Len() {
			density, ts, known := points.At(i)
			if !known {
				continue
			}
			state := alert.Quiet
			if density > 0 {
				state = alert.Moving
			}
			for at := max(ts, from); at < min(ts+points.Bucket, to); at++ {
				period[at-from] = max(period[at-from], state)
			}
		}
	}
	for minute := range slices.Chunk(period, 60) {
		if !slices.ContainsFunc(minute, func(s alert.Second) bool { return s != alert.Unknown }) {
			continue
		}
		for i := range minute {
			minute[i] = max(minute[i], alert.Quiet)
		}
	}
	return period, nil
}

// counting returns the series of a network that an alert looks at: that of the network or, with authenticated,
// those of the authenticated links. A guardian names no link in what it reports afterwards: where it reports,
// and all links are authenticated, the series of the network is as good.
func (r *Runner) counting(id motion.NetworkID, authenticated bool) ([]series.ID, error) {
	whole := []series.ID{series.Network}
	if !authenticated {
		return whole, nil
	}
	n, err := r.state.Network(id)
	if err != nil {
		return nil, err
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	names, others := n.AuthenticatedLinks()
	if n.Source.Holder == state.GuardianHolds && !others {
		return whole, nil
	}
	var links []series.ID
	for _, name := range names {
		links = append(links, series.Link(name))
	}
	return links, nil
}
