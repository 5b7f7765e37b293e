package engine

import (
	"context"
	"math"
	"time"

	"sensegate/motion"
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

// watchClock marks in every history where the clock was set, as after a start in 1970,
// until ctx ends.
func (e *Engine) watchClock(ctx context.Context) error {
	watch := wallWatch{e.now(), time.Now()}
	return e.every(ctx, time.Second, "watch clock", func(ctx context.Context) error {
		by := watch.step(e.now(), time.Now())
		if by == 0 {
			return nil
		}
		e.log.Warn("the clock was set", "by_s", float64(by))
		return e.tellAll(ctx, motion.ClockSetEvent, motion.Document{"by_s": math.Round(float64(by))})
	})
}
