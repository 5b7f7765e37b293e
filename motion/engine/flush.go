package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/store"
)

// The time between two writes of signs of life and what links have learned, and of
// whole status reports. All change all the time and matter little when they are a bit
// old after a power cut; they would be most of what a minute writes.
const (
	learnInterval  motion.Seconds = 600
	reportInterval motion.Seconds = 6 * 3600
)

// kept is what one network has in memory that a flush writes.
type kept struct {
	network           *state.Network
	detectors, events json.RawMessage      // nil: not now
	status            *motion.StatusReport // nil: not now
	heard             *store.StatusHeard   // nil: not now, or no report came
	appliedRev        int
}

// Flush writes what is held in memory, in one commit: samples, signs of life, status reports,
// what links have learned and which devices wait. A full disk is no failure: all of it is
// tried again with the next flush.
func (e *Engine) Flush(ctx context.Context) error { return e.flush(ctx, true) }

// flush is Flush; without all, everything but samples waits for its time.
func (e *Engine) flush(ctx context.Context, all bool) error {
	e.State.Flushing.Lock()
	defer e.State.Flushing.Unlock()
	now := e.State.Now()
	learn := all || e.learned.due(now, learnInterval)
	reports := all || e.reported.due(now, reportInterval)
	pending := learn && e.Devices.Waiting.Due()
	var networks []kept
	for _, n := range e.State.All() {
		k, err := e.keep(n, learn, reports)
		if err != nil {
			return fmt.Errorf("flush network %d: %w", n.ID, err)
		}
		networks = append(networks, k)
	}
	err := e.State.DB.Update(ctx, func(tx *store.Tx) error {
		for _, k := range networks {
			if err := k.write(tx); err != nil {
				return err
			}
		}
		if learn {
			if err := tx.TouchDevices(e.State.Touched(motion.Time(e.learned))); err != nil {
				return err
			}
		}
		if pending {
			if err := e.Devices.Waiting.Store(tx); err != nil {
				return err
			}
		}
		if err := tx.WriteKeyUses(); err != nil {
			return err
		}
		if err := e.State.StoreUnset(tx); err != nil {
			return err
		}
		return e.State.Series.Flush(tx)
	})
	if err == nil {
		if learn {
			e.learned = written(now)
		}
		if reports {
			e.reported = written(now)
		}
		return nil
	}
	if pending {
		e.Devices.Waiting.Unstored()
	}
	for _, k := range networks {
		k.unkeep()
	}
	if fault.KindOf(err) == fault.Unavailable || errors.Is(err, context.Canceled) {
		e.State.Log.Error("flush failed, will retry", "err", err)
		return nil
	}
	return fmt.Errorf("flush: %w", err)
}

// written is when something was last written.
type written motion.Time

// due reports whether it is time to write it again. A clock that was set back does
// not keep it waiting.
func (w written) due(now motion.Time, interval motion.Seconds) bool {
	since := now.Since(motion.Time(w))
	return since >= interval || since < 0
}

// keep copies out what a network has to write: what it has learned and heard only with
// learn, and its whole report only with reports, or when none is stored yet.
func (e *Engine) keep(n *state.Network, learn, reports bool) (kept, error) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	k := kept{network: n, appliedRev: n.Record.AppliedRev}
	if learn && n.StatusHeard && n.Status != nil {
		k.heard = &store.StatusHeard{
			TS: n.Status.TS, LastMotion: n.Status.LastMotion,
			MotionTripped: n.Status.MotionTripped, MotionEnabled: n.Status.MotionEnabled,
		}
		n.StatusHeard = false
	}
	if n.StatusDirty && n.Status != nil && (reports || !n.StatusStored) {
		status := *n.Status
		k.status = &status
		n.StatusDirty, n.StatusStored = false, true
	}
	var err error
	k.detectors, k.events, err = e.Sensing.Keep(n, learn)
	return k, err
}

// unkeep marks what could not be written as still to be written.
func (k kept) unkeep() {
	k.network.Mu.Lock()
	defer k.network.Mu.Unlock()
	k.network.StatusDirty = k.network.StatusDirty || k.status != nil
	k.network.StatusStored = k.network.StatusStored && k.status == nil
	k.network.StatusHeard = k.network.StatusHeard || k.heard != nil
}

// write stores what keep has copied.
func (k kept) write(tx *store.Tx) error {
	if _, away, err := tx.Handover(k.network.ID); err != nil || away {
		return err
	}
	record, err := tx.Network(k.network.ID)
	if fault.KindOf(err) == fault.NotFound {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	if record.AppliedRev != k.appliedRev {
		record.AppliedRev = k.appliedRev
		if err := tx.PutNetwork(record); err != nil {
			return err
		}
	}
	if k.status != nil {
		if err := tx.PutStatus(*k.status); err != nil {
			return err
		}
	}
	if k.heard != nil {
		if err := tx.TouchStatus(k.network.ID, *k.heard); err != nil {
			return err
		}
	}
	if k.detectors != nil {
		if err := tx.PutDetectorState(k.network.ID, k.detectors); err != nil {
			return err
		}
	}
	if k.events == nil {
		return nil
	}
	return tx.PutEventState(k.network.ID, k.events)
}
