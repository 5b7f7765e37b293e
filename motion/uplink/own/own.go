// Package own makes the appliance's own broker an uplink: what is sent to brokers outside is published
// there, for a Home Assistant that connects to the appliance. It must not know what is sent, or the
// MQTT library.
package own

import (
	"context"
	"sync"
	"sync/atomic"

	"sensegate/motion/uplink"
)

// Broker is the appliance's own broker. Its methods are called concurrently.
type Broker interface {
	// Tell sends a message to those who have subscribed to its topic, and keeps it for later ones when
	// it is retained.
	Tell(topic string, payload []byte, retain bool) error
	// Hear calls hear with every message that an integration user publishes, until stop is called.
	Hear(hear func(user, topic string, payload []byte)) (stop func())
}

// Connection is the connection to the appliance's own broker: it ends by Close alone. There is no last
// will, for when the appliance has no power, its broker has none.
type Connection struct {
	broker Broker
	status string
	stop   func()
	ended  chan struct{}
	close  sync.Once
	online atomic.Bool
	sent   atomic.Uint64

	mu      sync.Mutex
	filters []subscription
}

type subscription struct {
	filter string
	hear   func(uplink.Message)
}

// Connect returns a connection, which says on the topic status, retained, whether the appliance is there.
func Connect(b Broker, status string) *Connection {
	c := &Connection{broker: b, status: status, ended: make(chan struct{})}
	c.stop = b.Hear(c.hear)
	return c
}

// Online says that the appliance is there.
func (c *Connection) Online(context.Context) error {
	c.online.Store(true)
	return c.broker.Tell(c.status, []byte("online"), true)
}

// hear passes a message on to those who have subscribed to it.
func (c *Connection) hear(user, topic string, payload []byte) {
	c.mu.Lock()
	filters := c.filters // appended to only
	c.mu.Unlock()
	for _, one := range filters {
		if uplink.Matches(one.filter, topic) {
			one.hear(uplink.Message{Topic: topic, Payload: payload, QoS: 1, User: user})
		}
	}
}

// Publish sends a message. It is there for those who have subscribed when it returns.
func (c *Connection) Publish(ctx context.Context, m uplink.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.broker.Tell(m.Topic, m.Payload, m.Retain); err != nil {
		return err
	}
	c.sent.Add(1)
	return nil
}

// Begin is Publish: nothing is on its way.
func (c *Connection) Begin(ctx context.Context, m uplink.Message) (<-chan error, error) {
	acknowledged := make(chan error, 1)
	err := c.Publish(ctx, m)
	acknowledged <- err
	return acknowledged, err
}

// Offer sends a message; one that cannot be sent is lost.
func (c *Connection) Offer(m uplink.Message) { _ = c.Publish(context.Background(), m) }

// Subscribe has hear called with what integration users publish from now on.
func (c *Connection) Subscribe(_ context.Context, filter string, hear func(uplink.Message)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.filters = append(c.filters, subscription{filter, hear})
	return nil
}

// Ended is closed after Close.
func (c *Connection) Ended() <-chan struct{} { return c.ended }

// Err returns nil: nothing ends it but Close.
func (c *Connection) Err() error { return nil }

// Close says that the appliance goes offline, if it was online, and ends the connection.
func (c *Connection) Close() {
	c.close.Do(func() {
		c.stop()
		if c.online.Load() {
			_ = c.broker.Tell(c.status, []byte("offline"), true) // the broker may have stopped before
		}
		close(c.ended)
	})
}

// Traffic returns what was sent.
func (c *Connection) Traffic() uplink.Traffic { return uplink.Traffic{Sent: c.sent.Load()} }
