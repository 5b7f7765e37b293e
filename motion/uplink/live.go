package uplink

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// live delivers live frames to a broker at QoS 0. Those that come while there is no connection wait,
// as many as the queue holds.
type live struct {
	uplink    Uplink
	queue     *queue
	delivered atomic.Uint64
}

func newLive(u Uplink) *live { return &live{uplink: u, queue: newQueue()} }

// provider returns its name as a provider.
func (l *live) provider() string {
	if l.uplink.relay {
		return MQTT
	}
	return l.uplink.Name
}

// Ready returns nil: the uplink connects again for ever.
func (l *live) Ready() error { return nil }

// Deliver queues a frame.
func (l *live) Deliver(network motion.NetworkID, json []byte) {
	if !l.uplink.Carries(network) {
		l.queue.drop(1)
		return
	}
	l.queue.push(frame{network: network, json: json})
}

// topic returns where the frames of a network go.
func (l *live) topic(network motion.NetworkID) string {
	if l.uplink.relay {
		return l.uplink.prefix() + "/" + Channel(network)
	}
	return fmt.Sprintf("%s/%d/live", l.uplink.Base, network)
}

// Run sends the queued frames until ctx ends or the connection fails.
func (l *live) Run(ctx context.Context, peer Peer) error {
	for {
		batch := l.queue.take(0) // one frame
		if len(batch) == 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-l.queue.wake:
			}
			continue
		}
		err := peer.Publish(ctx, Message{Topic: l.topic(batch[0].network), Payload: batch[0].json})
		switch {
		case err == nil:
			l.delivered.Add(1)
		case fault.KindOf(err) == fault.Invalid: // too long; the connection goes on
			l.queue.drop(1)
		case ctx.Err() != nil || errors.Is(err, context.Canceled):
			l.queue.drop(1)
			return nil
		default:
			l.queue.drop(1)
			return err
		}
	}
}

// Report returns the frames that wait and those that were dropped.
func (l *live) Report() Report { return Report{Dropped: l.queue.lost(), Queue: l.queue.length()} }
