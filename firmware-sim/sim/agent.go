package sim

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// outboxSize is how many QoS 1 messages an agent keeps while it cannot deliver
// them; it drops and counts more.
const outboxSize = 512

// resendPause is the pause before an agent sends a message again.
const resendPause = 200 * time.Millisecond

// agent is an MQTT client of the home: the guardian, or the radar of a node. It has
// a session while its box is connected. Its methods may be called concurrently.
type agent struct {
	device  motion.DeviceKey
	tally   *tally
	log     *slog.Logger
	session atomic.Pointer[session]
	outbox  chan message
	head    *message // taken from the outbox and not delivered yet; only drain uses it
}

// message is a message that the appliance acknowledges.
type message struct {
	topic   string
	payload []byte
	sent    func() // called after its acknowledgement; may be nil
}

func newAgent(device motion.DeviceKey, counts *tally, log *slog.Logger) *agent {
	return &agent{
		device: device, tally: counts, log: log.With("device", device.String()), outbox: make(chan message, outboxSize),
	}
}

// online reports whether the agent has a usable connection.
func (a *agent) online() bool {
	s := a.session.Load()
	return s != nil && s.usable()
}

// stream sends a QoS 0 message and reports whether it was written. It blocks while
// the appliance does not read.
func (a *agent) stream(ctx context.Context, event, format string, payload []byte) bool {
	s := a.session.Load()
	if s == nil || !s.usable() || s.write(ctx, wire.EventTopic(a.device, event, format), payload) != nil {
		return false
	}
	a.tally.messages.Add(1)
	a.tally.bytes.Add(int64(len(payload)))
	return true
}

// settle waits until the appliance has taken what was sent over the connection.
func (a *agent) settle(ctx context.Context) {
	if s := a.session.Load(); s != nil && s.usable() {
		s.settle(ctx)
	}
}

// report sends a report with the QoS of the protocol: live motion and CSI at once,
// everything else through the outbox. It reports whether it sent or queued it.
func (a *agent) report(ctx context.Context, r motion.Report) bool {
	event, format, payload, err := wire.Encode(r)
	if err != nil {
		a.log.Error("encode report", "err", err)
		return false
	}
	switch event {
	case wire.EventMatrix, wire.EventLinkMotion, wire.EventCSI:
		return a.stream(ctx, event, format, payload)
	}
	return a.queue(message{topic: wire.EventTopic(a.device, event, format), payload: payload})
}

// answer queues the result of a command; sent is called once it is acknowledged.
func (a *agent) answer(r motion.Report, sent func()) {
	event, format, payload, err := wire.Encode(r)
	if err != nil {
		a.log.Error("encode answer", "err", err)
		return
	}
	a.queue(message{topic: wire.EventTopic(a.device, event, format), payload: payload, sent: sent})
}

// queue puts a message into the outbox, or drops it and returns false if that is
// full.
func (a *agent) queue(m message) bool {
	select {
	case a.outbox <- m:
		return true
	default:
		a.tally.dropped.Add(1)
		return false
	}
}

// drain delivers the outbox over s, in order, until ctx ends. It sends a message
// again until it is acknowledged.
func (a *agent) drain(ctx context.Context, s *session) {
	for {
		if a.head == nil {
			select {
			case m := <-a.outbox:
				a.head = &m
			case <-ctx.Done():
				return
			}
		}
		if s.deliver(ctx, a.head.topic, a.head.payload) != nil {
			if pause(ctx, resendPause) != nil {
				return
			}
			continue
		}
		a.tally.messages.Add(1)
		a.tally.bytes.Add(int64(len(a.head.payload)))
		if a.head.sent != nil {
			a.head.sent()
		}
		a.head = nil
	}
}
