package sim

import (
	"math"
	"sync/atomic"
	"time"
)

// Counters counts what a simulation has done so far.
type Counters struct {
	Messages    int64 `json:"messages"` // published, of every kind
	Bytes       int64 `json:"bytes"`    // of their payloads
	Frames      int64 `json:"frames"`   // CSI frames in them
	Statuses    int64 `json:"statuses"`
	History     int64 `json:"history"`     // motion-history messages
	Events      int64 `json:"events"`      // raised by a guardian
	Commands    int64 `json:"commands"`    // received
	Connections int64 `json:"connections"` // made, by all devices
	Dropped     int64 `json:"dropped"`     // messages that the outbox could not hold or the broker refused
}

// tally counts; it may be used concurrently.
type tally struct {
	messages, bytes, frames, statuses, history, events, commands, connections, dropped atomic.Int64
}

func (t *tally) counters() Counters {
	return Counters{
		Messages: t.messages.Load(), Bytes: t.bytes.Load(), Frames: t.frames.Load(), Statuses: t.statuses.Load(),
		History: t.history.Load(), Events: t.events.Load(), Commands: t.commands.Load(),
		Connections: t.connections.Load(), Dropped: t.dropped.Load(),
	}
}

// The histogram of latencies has 16 buckets per doubling from 1 µs on, so that a
// quantile is accurate to 4.5 %.
const (
	latencyParts   = 16
	latencyBuckets = 27 * latencyParts // up to two minutes
)

// latencies is a histogram of durations. It may be used concurrently.
type latencies struct {
	counts [latencyBuckets]atomic.Int64
	total  atomic.Int64
	most   atomic.Int64 // ns
}

func (l *latencies) add(d time.Duration) {
	bucket := int(latencyParts * math.Log2(math.Max(1, float64(d)/float64(time.Microsecond))))
	l.counts[min(bucket, latencyBuckets-1)].Add(1)
	l.total.Add(1)
	for {
		most := l.most.Load()
		if int64(d) <= most || l.most.CompareAndSwap(most, int64(d)) {
			return
		}
	}
}

// quantile returns the duration that a share of all does not exceed, 0 without any.
func (l *latencies) quantile(share float64) time.Duration {
	total := l.total.Load()
	if total == 0 {
		return 0
	}
	wanted, seen := int64(math.Ceil(share*float64(total))), int64(0)
	for bucket := range l.counts {
		if seen += l.counts[bucket].Load(); seen >= wanted {
			upper := time.Duration(math.Exp2(float64(bucket+1)/latencyParts) * float64(time.Microsecond))
			return min(upper, time.Duration(l.most.Load()))
		}
	}
	return time.Duration(l.most.Load())
}
