package engine

import (
	"context"
	"math"

	"sensegate/motion"
)

// watchClock looks whether the clock was set. It marks that in every history, as after
// a start in 1970.
func (e *Engine) watchClock(ctx context.Context) error {
	by, err := e.State.StepClock(ctx)
	if err != nil || by == 0 {
		return err
	}
	e.State.Log.Warn("the clock was set", "by_s", float64(by))
	return e.tellAll(ctx, motion.ClockSetEvent, motion.Document{"by_s": math.Round(float64(by))})
}

// advance looks whether the clock was set, and moves networks on whose links are silent.
func (e *Engine) advance(ctx context.Context) error {
	now := e.State.Now() // before it is watched: what is silent is told by a clock that was watched
	if err := e.watchClock(ctx); err != nil {
		return err
	}
	return e.Sensing.Advance(ctx, now)
}
