// Package nodes plays nodes of other makers against an appliance, over real sockets and with the bytes of
// package nodewire. What they measure comes from a simulated house (House) or a recording (Recording).
//
// A node runs as long as its context: to unplug it, end that; to give it another address or number, run another
// one. It counts its frames from 0 each time, as such nodes do.
//
// It must not know how the appliance works. A Source belongs to one goroutine; the other types may be used
// concurrently.
package nodes

import (
	"context"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// Frame is a measurement, and when it is made.
type Frame struct {
	At motion.Time
	nodewire.Frame
}

// Source is what one node measures.
type Source interface {
	// Frames appends the frames of [from, to) to dst, ordered by time. They are valid until the next call, whose
	// from is this to. more is false when none follow.
	Frames(dst []Frame, from, to motion.Time) (frames []Frame, more bool)
}

// ahead is how far ahead of their time frames are made, in seconds.
const ahead motion.Seconds = 0.1

// play calls send for each frame of a source at its time, with its number, until ctx ends or the source does.
func play(ctx context.Context, source Source, send func(*Frame)) {
	began := time.Now()
	start := motion.TimeOf(began)
	wait := func(t motion.Time) error {
		return sleep(ctx, time.Until(began.Add(time.Duration(t.Since(start)*float64(time.Second)))))
	}
	var frames []Frame
	number := uint32(0)
	for step, more := 0, true; more; step++ {
		from := start.Add(float64(step) * ahead)
		if wait(from) != nil {
			return
		}
		frames, more = source.Frames(frames[:0], from, start.Add(float64(step+1)*ahead))
		for i := range frames {
			if wait(frames[i].At) != nil {
				return
			}
			frames[i].Seq.Number = number
			number++
			send(&frames[i])
		}
	}
}

// sleep waits for d, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
