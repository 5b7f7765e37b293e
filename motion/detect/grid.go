package detect

import (
	"math"

	"sensegate/motion"
)

const (
	// firstTick is how many boundaries after the first the ticks begin: one
	// second of frames.
	firstTick = 4
	// maxSilence is how much of a long gap is answered by invalid ticks; the
	// rest is leapt over.
	maxSilence motion.Seconds = 60
	// freshness is the greatest age of the newest frame of a valid tick.
	freshness motion.Seconds = 0.5
	// maxLate is how many late frames in a row mean that the clock was set
	// back.
	maxLate = 25
	// endOfTime bounds what is taken for a time at all, so that arithmetic on
	// tick numbers stays exact.
	endOfTime motion.Time = 1e11
)

// grid is the row of times at which a link decides. Frames at or before a
// boundary, and after the one before it, form one block.
type grid struct {
	anchored bool
	started  bool
	anchor   motion.Time // boundary 0
	next     int64       // number of the next boundary
	newest   motion.Time // of the frames accepted
	late     int         // frames in a row that were too late
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

// arrival is what a time stamp means for the grid.
type arrival uint8

const (
	inOrder  arrival = iota // take the frame
	tooLate                 // drop it
	restarts                // first frame, or the clock was set back: start anew with it
)

// arrive judges the time of a new frame. A frame older than one already seen,
// or older than half a second at the last decision, is dropped; when nothing
// else comes any more, the clock has been set back.
func (g *grid) arrive(t motion.Time) arrival {
	if !(t >= -endOfTime && t <= endOfTime) {
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

// boundary returns the next boundary before t, or at t if inclusive, and moves
// past it. In a gap of more than twice maxSilence it leaps ahead once maxSilence
// has passed, and tells so.
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

// ticking reports whether the boundary passed last is late enough to decide.
func (g *grid) ticking() bool { return g.next > firstTick }
