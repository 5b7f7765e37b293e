package state

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

// OwnClock is what is known of the appliance's own clock.
type OwnClock struct {
	Built motion.Time                   // it has not been set while it is before that; 0: it always is
	Unset atomic.Bool                   // what IsUnset said when StepClock last looked
	last  atomic.Pointer[store.Restamp] // of the last time that it was set after that; nil: none

	ahead motion.Seconds // of the wall clock while it is not set; does not change

	mu    sync.Mutex
	watch wallWatch
}

// IsUnset reports whether the clock has not been set when it says now.
func (c *OwnClock) IsUnset(now motion.Time) bool { return now < c.Built }

// Restamped returns t, anew if it was stamped before the clock was set.
func (c *OwnClock) Restamped(t motion.Time) motion.Time {
	if r := c.last.Load(); r != nil {
		return r.Time(t)
	}
	return t
}

// RestampedLate is Restamped for a time that may have been stamped anew already: it returns t
// unchanged when the jump is shorter than the run, for old and new times overlap then.
func (c *OwnClock) RestampedLate(t motion.Time) motion.Time {
	if r := c.last.Load(); r != nil && r.By > r.To.Since(r.From) {
		return r.Time(t)
	}
	return t
}

// Begun returns when the appliance started, by the clock as it is set now.
func (st *State) Begun() motion.Time { return st.OwnClock.Restamped(st.Started) }

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

// shiftHeard keeps links that were just heard from being silent when the clock is set.
func (st *State) shiftHeard(by motion.Seconds) {
	for _, n := range st.All() {
		n.Mu.Lock()
		for _, link := range n.Links {
			if !link.Heard.IsZero() {
				link.Heard = link.Heard.Add(by)
			}
		}
		n.Mu.Unlock()
	}
}

// restampSessions keeps devices online.
func (st *State) restampSessions() {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, s := range st.sessions {
		s.since, s.lastHeard = st.OwnClock.Restamped(s.since), st.OwnClock.Restamped(s.lastHeard)
	}
}

// shiftTimes stamps anew what is in memory of a network, so that a detection that is open
// stays open, and a link that was just heard is not silent.
func (n *Network) shiftTimes(anew func(motion.Time) motion.Time) {
	set := func(times ...*motion.Time) {
		for _, t := range times {
			*t = anew(*t)
		}
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	set(&n.Heartbeat.TS, &n.Heartbeat.LastMotion, &n.Reported, &n.Source.Heard, &n.Reach.newest, &n.Reach.Received)
	if n.Status != nil {
		status := *n.Status
		set(&status.TS, &status.LastMotion)
		n.Status = &status
	}
	for _, link := range n.Links {
		set(&link.Heard)
	}
	n.Sense.ClockSet(anew)
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
func (st *State) openClock(ctx context.Context) error {
	if st.OwnClock.Built.IsZero() {
		st.OwnClock.watch = wallWatch{st.Now(), time.Now()}
		return nil
	}
	now := st.Now()
	err := st.DB.Update(ctx, func(tx *store.Tx) error {
		former, err := tx.UnsetRun()
		end := st.lastStamp(former)
		switch {
		case err != nil:
			return err
		case st.OwnClock.IsUnset(now):
			if now < former.To { // it began anew
				st.OwnClock.ahead = end.Since(now)
			}
			return st.StoreUnset(tx)
		case former == (store.UnsetRun{}):
			return nil
		}
		return st.storeRestamp(tx, store.UnsetRun{}, store.Restamp{From: former.From, To: end, By: now.Since(end)})
	})
	st.OwnClock.watch = wallWatch{st.Now(), time.Now()}
	st.OwnClock.Unset.Store(st.OwnClock.IsUnset(st.OwnClock.watch.wall))
	if fault.KindOf(err) == fault.Unavailable {
		st.Log.Error("times of an unset clock not corrected before the next start", "err", err)
		return nil
	}
	return err
}

// lastStamp returns the time until which a run that was cut off may have stamped: it is
// noted with every flush.
func (st *State) lastStamp(run store.UnsetRun) motion.Time {
	return run.To.Add(2 * st.FlushInterval.Seconds())
}

// storeRestamp stamps anew what r says, in the transaction; what is on its way to it follows.
// run is what remains of a clock that is not set.
func (st *State) storeRestamp(tx *store.Tx, run store.UnsetRun, r store.Restamp) error {
	st.OwnClock.last.Store(&r)
	if err := st.Series.Restamp(tx, r); err != nil {
		return err
	}
	return tx.PutUnsetRun(run)
}

// StepClock returns by how much the clock was set. When it was before the build date,
// all that it has stamped is stamped anew first; a fault, such as a full disk, is logged
// and tried again with the next step.
func (st *State) StepClock(ctx context.Context) (by motion.Seconds, err error) {
	c := &st.OwnClock
	c.mu.Lock()
	defer c.mu.Unlock()
	watch, now := c.watch, st.Now()
	by = watch.step(now, time.Now())
	ctx = context.WithoutCancel(ctx)
	switch unset := st.OwnClock.IsUnset(now); {
	case c.Unset.Load() && (by > 0 || !unset):
		err = st.setClock(ctx, now.Add(-by), by)
	case unset && !c.Unset.Load():
		c.last.Store(nil) // what it stamps now is of another time
		err = st.DB.Update(ctx, st.StoreUnset)
	case by != 0:
		st.shiftHeard(by)
	}
	if fault.KindOf(err) != 0 {
		st.Log.Error("times from before the clock was set not corrected, will retry", "err", err)
		return 0, nil
	}
	if err == nil {
		c.watch = watch
		c.Unset.Store(st.OwnClock.IsUnset(now))
	}
	return by, err
}

// setClock stamps anew what was stamped by the clock, which was set by so many seconds
// when it said was; st.OwnClock.mu is held. Former runs whose clock was never set are taken
// along, and stay before this one.
func (st *State) setClock(ctx context.Context, was motion.Time, by motion.Seconds) error {
	now := was.Add(by)
	err := st.DB.Update(ctx, func(tx *store.Tx) error {
		run, err := tx.UnsetRun()
		if err != nil {
			return err
		}
		run = extended(run, was)
		left := store.UnsetRun{}
		if st.OwnClock.IsUnset(now) {
			left = extended(store.UnsetRun{From: run.From.Add(by), To: now}, now)
		}
		if by == 0 { // it came to the build date by itself
			return tx.PutUnsetRun(left)
		}
		return st.storeRestamp(tx, left, store.Restamp{From: run.From, To: was.Add(1), By: by})
	})
	if err != nil {
		return fmt.Errorf("stamp anew: %w", err)
	}
	for _, n := range st.All() {
		n.shiftTimes(st.OwnClock.Restamped)
	}
	st.restampSessions()
	return nil
}

// StoreUnset stores how far a clock that is not set has come, in a transaction that stores
// what it has stamped.
func (st *State) StoreUnset(tx *store.Tx) error {
	now := st.Now()
	if !st.OwnClock.IsUnset(now) {
		return nil
	}
	run, err := tx.UnsetRun()
	if err != nil {
		return err
	}
	return tx.PutUnsetRun(extended(run, now))
}
