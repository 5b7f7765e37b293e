package broker

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"sensegate/motion/fault"
)

// maxIntegrationPacket is the largest packet of an integration user, in bytes: a
// bridge describes all its devices in one message.
const maxIntegrationPacket = 1 << 20

// Subscribe calls hear with every message that an integration user publishes, or leaves as its
// will, on a topic below prefix + "/": before it is acknowledged and passed on to others, in
// order for each client, concurrently for several. After an error a message of QoS 1 is not
// acknowledged and the connection is closed, as after [Sink].Ingest. The payload may be kept.
// A call that takes long delays this client only. Messages that were retained earlier are not
// repeated.
func (s *Server) Subscribe(prefix string, hear func(ctx context.Context, topic string, payload []byte) error) {
	s.listeners.mu.Lock()
	defer s.listeners.mu.Unlock()
	s.listeners.list = append(s.listeners.list, listener{prefix + "/", hear})
}

// Publish sends a message to the integration users that have subscribed to its topic,
// at QoS 1 and not retained; without one it is an Unavailable fault. What devices use
// cannot be published to.
func (s *Server) Publish(topic string, payload []byte) error {
	if strings.HasPrefix(topic, "iot-2/") || len(payload) > maxIntegrationPacket/2 {
		return fmt.Errorf("publish to %.80q: not a topic of integration users, or over %d bytes", topic, maxIntegrationPacket/2)
	}
	if len(s.mqtt.Topics.Subscribers(topic).Subscriptions) == 0 {
		return fault.New(fault.Unavailable, "nobody is connected who listens to %.80q", topic)
	}
	s.chargeQueues(topic, len(payload), "")
	if err := s.inject(topic, payload, false); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// listener is a part of the appliance that hears integration users.
type listener struct {
	prefix string
	hear   func(ctx context.Context, topic string, payload []byte) error
}

type listeners struct {
	mu   sync.RWMutex
	list []listener
}

// hear calls every listener to the topic, until one returns an error.
func (l *listeners) hear(ctx context.Context, topic string, payload []byte) error {
	l.mu.RLock()
	list := l.list // appended to only
	l.mu.RUnlock()
	for _, listener := range list {
		if !below(topic, listener.prefix) {
			continue
		}
		if err := listener.hear(ctx, topic, payload); err != nil {
			return err
		}
	}
	return nil
}
