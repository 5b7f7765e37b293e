package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
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
	network           *network
	id                motion.NetworkID
	detectors, events json.RawMessage      // nil: not now
	status            *motion.StatusReport // nil: not now
	heard             *store.StatusHeard   // nil: not now, or no report came
	appliedRev        int
}

// Flush writes what is held in memory, in one commit: samples, signs of life,
// status reports, what links have learned and which devices wait. A full disk is no failure: all of
// it is tried again with the next flush.
func (e *Engine) Flush(ctx context.Context) error { return e.flush(ctx, true) }

// flushRegularly is the flush of every interval: all but samples waits for its time.
func (e *Engine) flushRegularly(ctx context.Context) error { return e.flush(ctx, false) }

func (e *Engine) flush(ctx context.Context, all bool) error {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	now := e.now()
	learn := all || e.learned.due(now, learnInterval)
	reports := all || e.reported.due(now, reportInterval)
	pending := learn && e.pending.due()
	var networks []kept
	for _, n := range e.all() {
		k, err := n.keep(learn, reports)
		if err != nil {
			return fmt.Errorf("flush network %d: %w", n.id, err)
		}
		networks = append(networks, k)
	}
	err := e.db.Update(ctx, func(tx *store.Tx) error {
		for _, k := range networks {
			if err := k.write(tx); err != nil {
				return err
			}
		}
		if learn {
			if err := tx.TouchDevices(e.touched(motion.Time(e.learned))); err != nil {
				return err
			}
		}
		if pending {
			if err := tx.SetPending(e.pending.list()); err != nil {
				return err
			}
		}
		if err := tx.WriteKeyUses(); err != nil {
			return err
		}
		if err := e.noteUnset(tx); err != nil {
			return err
		}
		return e.samples.Flush(tx)
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
		e.pending.unstored()
	}
	for _, k := range networks {
		k.unkeep()
	}
	if fault.KindOf(err) == fault.Unavailable || errors.Is(err, context.Canceled) {
		e.log.Error("not flushed, will be tried again", "err", err)
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
func (n *network) keep(learn, reports bool) (kept, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := kept{network: n, id: n.id, appliedRev: n.record.AppliedRev}
	if learn && n.statusHeard && n.status != nil {
		k.heard = &store.StatusHeard{
			TS: n.status.TS, LastMotion: n.status.LastMotion,
			MotionTripped: n.status.MotionTripped, MotionEnabled: n.status.MotionEnabled,
		}
		n.statusHeard = false
	}
	if n.statusDirty && n.status != nil && (reports || !n.statusStored) {
		status := *n.status
		k.status = &status
		n.statusDirty, n.statusStored = false, true
	}
	if n.sensing.reach.received.IsZero() && n.source.Heard <= n.sensing.learned.Source.Heard {
		return k, nil // nothing has come since the start
	}
	var err error
	if learn {
		k.detectors, err = n.saveLearned()
	}
	if state := n.sensing.events.State(); err == nil && (learn || state.Open != nil) {
		k.events, err = json.Marshal(state)
	}
	return k, err
}

// unkeep marks what could not be written as still to be written.
func (k kept) unkeep() {
	k.network.mu.Lock()
	defer k.network.mu.Unlock()
	k.network.statusDirty = k.network.statusDirty || k.status != nil
	k.network.statusStored = k.network.statusStored && k.status == nil
	k.network.statusHeard = k.network.statusHeard || k.heard != nil
}

// write stores what keep has copied.
func (k kept) write(tx *store.Tx) error {
	record, err := tx.Network(k.id)
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
		if err := tx.TouchStatus(k.id, *k.heard); err != nil {
			return err
		}
	}
	if k.detectors != nil {
		if err := tx.PutDetectorState(k.id, k.detectors); err != nil {
			return err
		}
	}
	if k.events == nil {
		return nil
	}
	return tx.PutEventState(k.id, k.events)
}

// advance moves networks on whose links are silent: their samples become "no
// data", and links that were silent for long are noted as gone.
func (e *Engine) advance(ctx context.Context) error {
	now := e.now() // before it is watched: what is silent is told by a clock that was watched
	if err := e.watchClock(ctx); err != nil {
		return err
	}
	for _, n := range e.all() {
		var silent []string
		_ = e.contained.run(fmt.Sprintf("advance network %d", n.id), func() error {
			silent = e.advanceNetwork(n, now)
			return nil
		})
		if len(silent) == 0 {
			continue
		}
		if err := e.disconnectLinks(ctx, n, silent, now); err != nil {
			return err
		}
	}
	return nil
}

// advanceNetwork moves one network on and returns the names of the links that
// are sensed here and have fallen silent.
func (e *Engine) advanceNetwork(n *network, now motion.Time) (silent []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if length := motion.Seconds(n.guardian.LiveMotion.Interval) / 1000; n.record.Paused() && math.Abs(now.Since(n.live.paused)) >= length {
		n.live.paused = now
		e.publishLive(n, fuse.Silence(now, length))
	}
	n.chooseLinks(now)
	n.sensing.fuser.Advance(now)
	e.absorb(n)
	if transition, ended := n.sensing.events.Advance(n.sensing.reach.at(now)); ended {
		e.transition(n, transition)
	}
	for name, link := range n.links {
		if link.sensedHere() && link.Online && now.Since(max(link.heard, link.LastHeard, e.clock.restamped(e.started))) > silentAfter {
			silent = append(silent, name)
		}
	}
	return silent
}

// disconnectLinks notes links as gone.
func (e *Engine) disconnectLinks(ctx context.Context, n *network, names []string, now motion.Time) error {
	n.mu.Lock()
	record := n.record
	n.mu.Unlock()
	err := e.takeInventory(ctx, n, func(tx *store.Tx) (*inventory, error) {
		v := newInventory(tx, record, now)
		v.silent = true
		for _, name := range names {
			link, err := tx.Link(n.id, name)
			if err != nil || !link.Online {
				continue
			}
			if err := v.disconnect(link); err != nil {
				return nil, err
			}
		}
		return v, nil
	})
	if fault.KindOf(err) != 0 {
		e.log.Error("links not noted as gone", "network", n.id, "err", err)
		return nil
	}
	return err
}
