package homeassistant

import (
	"log/slog"
	"slices"
	"sync"

	"sensegate/motion"
	"sensegate/motion/uplink"
)

// What waits at most for a connection.
const (
	maxEvents   = 256 // the oldest go
	maxCommands = 16  // further ones are refused
)

// inbox gathers what has changed and what is asked, for the goroutine of a connection. Nobody waits
// for it.
type inbox struct {
	log  *slog.Logger
	wake chan struct{} // receives after there is work
	born chan struct{} // receives after Home Assistant has started

	mu       sync.Mutex
	work     work
	retained bool // one was logged
}

// work is what an inbox has.
type work struct {
	all, anew bool // look at everything; tell also what was told
	networks  []motion.NetworkID
	events    []motion.Event
	commands  []asked
}

// asked is a message to a topic of commands.
type asked struct {
	topic, payload string
	user           string
}

func newInbox(log *slog.Logger) *inbox {
	return &inbox{log: log, wake: make(chan struct{}, 1), born: make(chan struct{}, 1)}
}

// note changes the work, and wakes who does it.
func (in *inbox) note(change func(*work)) {
	in.mu.Lock()
	change(&in.work)
	in.mu.Unlock()
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// take removes the work.
func (in *inbox) take() work {
	in.mu.Lock()
	defer in.mu.Unlock()
	taken := in.work
	in.work = work{}
	return taken
}

func (in *inbox) lookAtAll(anew bool) {
	in.note(func(w *work) { w.all, w.anew = true, w.anew || anew })
}

// changed takes in what a House tells.
func (in *inbox) changed(c Change) {
	in.note(func(w *work) {
		switch {
		case c.Event != nil:
			w.events = append(w.events[max(0, len(w.events)+1-maxEvents):], *c.Event)
		case c.Network == 0:
			w.all = true
		case !slices.Contains(w.networks, c.Network):
			w.networks = append(w.networks, c.Network)
		}
	})
}

func (in *inbox) homeAssistantStarted() {
	select {
	case in.born <- struct{}{}:
	default:
	}
}

// longestCommand is the longest payload that any command has, in bytes, and room for a mistake.
const longestCommand = 64

// asked takes in a message to a topic of commands. One that the broker has kept is of the past: it
// would arm a home again at each start.
func (in *inbox) asked(m uplink.Message) {
	if m.Retain {
		in.mu.Lock()
		logged := in.retained
		in.retained = true
		in.mu.Unlock()
		if !logged {
			in.log.Warn("retained command ignored: publish commands without retain, and clear this one with an empty retained message", "topic", shortened(m.Topic))
		}
		return
	}
	full := false
	in.note(func(w *work) {
		if full = len(w.commands) >= maxCommands; !full {
			w.commands = append(w.commands, asked{topic: m.Topic, payload: string(m.Payload[:min(len(m.Payload), longestCommand)]), user: m.User})
		}
	})
	if full {
		in.log.Warn("command dropped: too many at once", "topic", shortened(m.Topic))
	}
}

// shortened returns a topic for the log.
func shortened(topic string) string { return topic[:min(len(topic), 128)] }
