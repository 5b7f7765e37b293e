package engine

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// clockJump is by how much the wall clock has to leave the steady course of time at
// once to count as set; a clock that is merely corrected moves by less.
const clockJump motion.Seconds = 60

// wallWatch compares the wall clock with the time that really passes.
type wallWatch struct {
	wall motion.Time
	at   time.Time // with the monotonic clock
}

// step returns by how much the wall clock was set since the last step, 0 when it went
// on; at is a moment at which it says wall.
func (w *wallWatch) step(wall motion.Time, at time.Time) motion.Seconds {
	by := wall.Since(w.wall) - motion.Seconds(at.Sub(w.at).Seconds())
	w.wall, w.at = wall, at
	if math.Abs(float64(by)) < float64(clockJump) {
		return 0
	}
	return by
}

// ownClock is what is known of the appliance's own clock.
type ownClock struct {
	unset   atomic.Bool                   // it is before the build date
	restamp atomic.Pointer[store.Restamp] // of the last time that it was set after that; nil: none

	ahead motion.Seconds // of the wall clock while it is not set; does not change

	mu    sync.Mutex
	watch wallWatch
}

// ClockUnset reports whether the appliance's own clock is before the build date: it has not
// been set since the start.
func (e *Engine) ClockUnset() bool { return e.clock.unset.Load() }

// restamped returns t, anew if it was stamped before the clock was set.
func (c *ownClock) restamped(t motion.Time) motion.Time {
	if r := c.restamp.Load(); r != nil {
		return r.Time(t)
	}
	return t
}

// restampedLate is restamped for what may have been stamped anew already: it changes
// nothing where that could not be told.
func (c *ownClock) restampedLate(t motion.Time) motion.Time {
	if r := c.restamp.Load(); r != nil && r.By > r.To.Since(r.From) {
		return r.Time(t)
	}
	return t
}

// extended returns a run of a clock that is not set with its present time.
func extended(run store.UnsetRun, now motion.Time) store.UnsetRun {
	if run == (store.UnsetRun{}) {
		run.From = now
	}
	return store.UnsetRun{From: min(run.From, now), To: max(run.To, now)}
}

// openClock looks at the clock before anything is stamped. Nothing is known of a former
// run whose clock was never set but that it was before this one, so it ends where this
// one begins: it is stamped anew if the clock is right now, else the clock goes on from
// there.
func (e *Engine) openClock(ctx context.Context) error {
	if e.clocks.built.IsZero() {
		e.clock.watch = wallWatch{e.now(), time.Now()}
		return nil
	}
	now := e.now()
	err := e.db.Update(ctx, func(tx *store.Tx) error {
		former, err := tx.UnsetRun()
		end := e.lastStamp(former)
		switch {
		case err != nil:
			return err
		case e.clocks.unset(now):
			if now < former.To { // it began anew
				e.clock.ahead = end.Since(now)
			}
			return e.noteUnset(tx)
		case former == (store.UnsetRun{}):
			return nil
		}
		return e.restamp(tx, store.UnsetRun{}, store.Restamp{From: former.From, To: end, By: now.Since(end)})
	})
	e.clock.watch = wallWatch{e.now(), time.Now()}
	e.clock.unset.Store(e.clocks.unset(e.clock.watch.wall))
	if fault.KindOf(err) == fault.Unavailable {
		e.log.Error("what a clock that was not set has stamped stays as it is until the next start", "err", err)
		return nil
	}
	return err
}

// lastStamp returns the time until which a run that was cut off may have stamped: it is
// noted with every flush.
func (e *Engine) lastStamp(run store.UnsetRun) motion.Time {
	return run.To.Add(2 * e.options.FlushInterval.Seconds())
}

// restamp stamps anew what r says, in the transaction; what is on its way to it follows.
// run is what remains of a clock that is not set.
func (e *Engine) restamp(tx *store.Tx, run store.UnsetRun, r store.Restamp) error {
	e.clock.restamp.Store(&r)
	if err := e.samples.Restamp(tx, r); err != nil {
		return err
	}
	return tx.PutUnsetRun(run)
}

// watchClock looks whether the clock was set. It marks that in every history, as after
// a start in 1970.
func (e *Engine) watchClock(ctx context.Context) error {
	by, err := e.stepClock(ctx)
	if err != nil || by == 0 {
		return err
	}
	e.log.Warn("the clock was set", "by_s", float64(by))
	return e.tellAll(ctx, motion.ClockSetEvent, motion.Document{"by_s": math.Round(float64(by))})
}

// stepClock returns by how much the clock was set. When it was before the build date,
// all that it has stamped is stamped anew first; a full disk is no error, it is tried
// again with the next step.
func (e *Engine) stepClock(ctx context.Context) (by motion.Seconds, err error) {
	c := &e.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	watch, now := c.watch, e.now()
	by = watch.step(now, time.Now())
	ctx = context.WithoutCancel(ctx)
	switch unset := e.clocks.unset(now); {
	case c.unset.Load() && (by > 0 || !unset):
		err = e.setClock(ctx, now.Add(-by), by)
	case unset && !c.unset.Load():
		c.restamp.Store(nil) // what it stamps now is of another time
		err = e.db.Update(ctx, e.noteUnset)
	case by != 0:
		e.shiftHeard(by)
	}
	if fault.KindOf(err) != 0 {
		e.log.Error("what the clock stamped before it was set is not stamped anew, will be tried again", "err", err)
		return 0, nil
	}
	if err == nil {
		c.watch = watch
		c.unset.Store(e.clocks.unset(now))
	}
	return by, err
}

// shiftHeard keeps links that were just heard from being silent when the clock is set.
func (e *Engine) shiftHeard(by motion.Seconds) {
	for _, n := range e.all() {
		n.mu.Lock()
		for _, link := range n.links {
			if !link.heard.IsZero() {
				link.heard = link.heard.Add(by)
			}
		}
		n.mu.Unlock()
	}
}

// setClock stamps anew what was stamped by the clock, which was set by so many seconds
// when it said was; e.clock.mu is held. Former runs whose clock was never set are taken
// along, and stay before this one.
func (e *Engine) setClock(ctx context.Context, was motion.Time, by motion.Seconds) error {
	now := was.Add(by)
	err := e.db.Update(ctx, func(tx *store.Tx) error {
		run, err := tx.UnsetRun()
		if err != nil {
			return err
		}
		run = extended(run, was)
		left := store.UnsetRun{}
		if e.clocks.unset(now) {
			left = extended(store.UnsetRun{From: run.From.Add(by), To: now}, now)
		}
		if by == 0 { // it came to the build date by itself
			return tx.PutUnsetRun(left)
		}
		return e.restamp(tx, left, store.Restamp{From: run.From, To: was.Add(1), By: by})
	})
	if err != nil {
		return fmt.Errorf("stamp anew: %w", err)
	}
	for _, n := range e.all() {
		n.restamp(e.clock.restamped)
	}
	e.restampSessions()
	return nil
}

// restampSessions keeps devices online.
func (e *Engine) restampSessions() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		s.since, s.lastHeard = e.clock.restamped(s.since), e.clock.restamped(s.lastHeard)
	}
}

// restamp stamps anew what is in memory of a network, so that a detection that is open
// stays open, and a link that was just heard is not silent.
func (n *network) restamp(anew func(motion.Time) motion.Time) {
	set := func(times ...*motion.Time) {
		for _, t := range times {
			*t = anew(*t)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	set(&n.heartbeat.TS, &n.heartbeat.LastMotion, &n.reported, &n.source.Heard, &n.sensing.reach.newest, &n.sensing.reach.received)
	if n.status != nil {
		status := *n.status
		set(&status.TS, &status.LastMotion)
		n.status = &status
	}
	for _, link := range n.links {
		set(&link.heard)
	}
	n.sensing.events.Restamp(anew)
	n.sensing.fuser.ClockSet()
}

// noteUnset stores how far a clock that is not set has come, in a transaction that stores
// what it has stamped.
func (e *Engine) noteUnset(tx *store.Tx) error {
	now := e.now()
	if !e.clocks.unset(now) {
		return nil
	}
	run, err := tx.UnsetRun()
	if err != nil {
		return err
	}
	return tx.PutUnsetRun(extended(run, now))
}
