package inventory

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/store"
)

// Pause pauses the motion of a network for a time, 0 until somebody ends the pause. It may be
// called while motion is paused. EndPauses ends it.
func (in *Inventory) Pause(ctx context.Context, id motion.NetworkID, length motion.Seconds) error {
	until := motion.Time(0)
	if length > 0 {
		until = in.state.Now().Add(length)
	}
	return in.edit(ctx, id, true, func(_ *store.Tx, n motion.Network) (motion.Network, error) { return setting.Pause(n, until) })
}

// Resume ends a pause of motion.
func (in *Inventory) Resume(ctx context.Context, id motion.NetworkID) error {
	off := int32(0)
	return in.EditSounding(ctx, id, true, setting.SoundingChange{MotionPaused: &off}, nil)
}

// EndPauses ends the pauses that are over at now, as Resume does. A fault, such as a full disk, is
// logged and tried again with the next call.
func (in *Inventory) EndPauses(ctx context.Context, now motion.Time) error {
	return in.eachPaused(func(id motion.NetworkID, record motion.Network) error {
		if !record.PauseEnds(now) {
			return nil
		}
		_, err := in.ChangeConfig(ctx, id, true, func(_ *store.Tx, n *motion.Network) (err error) {
			if n.PauseEnds(now) { // nobody has changed it meanwhile
				off := int32(0)
				*n, err = setting.EditSounding(*n, setting.SoundingChange{MotionPaused: &off}, nil)
			}
			return err
		})
		return err
	})
}

// ShiftPauses keeps the pauses under way as long as they were, when the clock, which said was, is
// set by so many seconds. One that ends later than any could was begun by a clock that was
// right, before a start with one that is not: its end stays.
func (in *Inventory) ShiftPauses(ctx context.Context, was motion.Time, by motion.Seconds) error {
	return in.eachPaused(func(id motion.NetworkID, record motion.Network) error {
		if left := record.PausedUntil.Since(was); left <= 0 || left > motion.LongestPause {
			return nil
		}
		_, err := in.ChangeConfig(ctx, id, false, func(_ *store.Tx, n *motion.Network) error {
			if n.PausedUntil == record.PausedUntil {
				n.PausedUntil = n.PausedUntil.Add(by)
			}
			return nil
		})
		return err
	})
}

// eachPaused calls fn with each network whose motion is paused until a time. Faults are logged.
func (in *Inventory) eachPaused(fn func(motion.NetworkID, motion.Network) error) error {
	for _, n := range in.state.All() {
		record := recordOf(n)
		if !record.Paused() || record.PausedUntil.IsZero() {
			continue
		}
		switch err := fn(n.ID, record); {
		case fault.KindOf(err) != 0:
			in.state.Log.Error("pause not ended or shifted", "network", n.ID, "err", err)
		case err != nil:
			return err
		}
	}
	return nil
}

// recordOf returns the record of a network.
func recordOf(n *state.Network) motion.Network {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return n.Record
}
