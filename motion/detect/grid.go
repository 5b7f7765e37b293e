package detect

import (
	"math"

	"sensegate/motion"
)

const (
	// firstTick is the number of the boundary before the first tick: one second of frames.
	firstTick = 4
	// maxSilence is the part of a long gap that gets invalid ticks; the rest is skipped.
	maxSilence motion.Seconds = 60
	// freshness is the greatest age of the newest frame of a valid tick.
	freshness motion.Seconds = 0.5
	// maxLate is the number of late frames in a row that means the clock was set back.
	maxLate = 25
	// endOfTime is the bound of valid times: up to it arithmetic on tick numbers is exact.
	endOfTime motion.Time = 1e11
)

// grid is the sequence of times at which a link decides. The frames after one boundary, up to
// and including the next, form a block.
type grid struct {
	anchored bool
	started  bool
	anchor   motion.Time // boundary 0
	next     int64       // number of the next boundary
	newest   motion.Time // of the accepted frames
	late     int         // late frames in a row
}

func (g *grid) start(t motion.Time) {
	anchor := t
	if !g.anchored {
		anchor = motion.Time(math.Ceil(float64(t)/TickInterval) * TickInterval)
	}
	*g = grid{anchored: g.anchored, started: true, anchor: anchor, newest: t}
}

func (g *grid) at(boundary int64) motion.Time {
	return g.anchor + motion.Time(float64(boundary)*TickInterval)
}

// isTime reports whether a frame can have the time t.
func isTime(t motion.Time) bool { return t >= -endOfTime && t <= endOfTime }

// passed reports whether the frames have just passed t, so that it does not mean that the clock was set back.
func (g *grid) passed(t motion.Time) bool { return t < g.newest && g.newest.Since(t) < sortedTime }

// arrival classifies the time stamp of a frame.
type arrival uint8

const (
	inOrder  arrival = iota // accept the frame
	tooLate                 // drop it
	restarts                // first frame, or the clock was set back: start again with it
)

// arrive classifies the time of a new frame. A frame is too late when it is older than an
// earlier one, or than half a second at the last decision; maxLate of them in a row mean that
// the clock was set back.
func (g *grid) arrive(t motion.Time) arrival {
	if !isTime(t) {
		return tooLate
	}
	if !g.started {
		return restarts
	}
	if t < g.newest || t < g.at(g.next-1).Add(-freshness) {
		g.late++
		if g.late < maxLate {
			return tooLate
		}
		return restarts
	}
	g.late = 0
	return inOrder
}

// boundary returns the next boundary before t, or at t if inclusive, and moves past it. In a
// gap of more than twice maxSilence it skips the part after maxSilence and reports leapt.
func (g *grid) boundary(t motion.Time, inclusive bool) (at motion.Time, due, leapt bool) {
	at = g.at(g.next)
	if at > t || at == t && !inclusive {
		return 0, false, false
	}
	if at.Since(g.newest) > maxSilence && t.Since(at) > maxSilence {
		ahead := math.Ceil(t.Since(g.anchor)/TickInterval) - 1
		g.next = max(g.next, int64(ahead))
		leapt = true
		at = g.at(g.next)
	}
	g.next++
	return at, true, leapt
}

// ticking reports whether the last boundary is late enough for a tick.
func (g *grid) ticking() bool { return g.next > firstTick }
