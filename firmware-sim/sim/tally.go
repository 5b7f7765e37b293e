package sim

import "sync/atomic"

// Counters are what a simulation has done so far.
type Counters struct {
	Messages    int64 `json:"messages"` // published, of every kind
	Bytes       int64 `json:"bytes"`    // of their payloads
	Frames      int64 `json:"frames"`   // CSI frames in them
	Statuses    int64 `json:"statuses"`
	History     int64 `json:"history"`     // motion-history messages
	Events      int64 `json:"events"`      // raised by a guardian
	Commands    int64 `json:"commands"`    // received
	Connections int64 `json:"connections"` // made, over all devices
	Dropped     int64 `json:"dropped"`     // messages that could not be kept or were refused
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
