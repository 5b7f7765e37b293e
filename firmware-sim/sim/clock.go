package sim

import (
	"context"
	"time"

	"sensegate/motion"
)

// clock maps simulated to real time: it begins at start, runs speed times as
// fast as real time until it has caught up with the present, and goes on in real
// time. A clock of speed 1 that began in the past stays behind by as much.
type clock struct {
	start motion.Time // simulated
	began time.Time   // real, when start was
	speed float64
	now   func() time.Time // real
}

// due returns when the simulated moment t comes.
func (c clock) due(t motion.Time) time.Time {
	fast := c.began.Add(time.Duration(t.Since(c.start) / c.speed * float64(time.Second)))
	if present := t.Std(); c.speed > 1 && present.After(fast) {
		return present
	}
	return fast
}

// wait returns when the simulated moment t has come, or with ctx's error.
func (c clock) wait(ctx context.Context, t motion.Time) error {
	pause := c.due(t).Sub(c.now())
	if pause <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// present reports whether the simulated moment t has come no earlier than in
// reality: the clock has caught up.
func (c clock) present(t motion.Time) bool { return !c.due(t).After(t.Std()) }
