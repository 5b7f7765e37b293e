package broker

import (
	"fmt"
	"strings"
	"sync"
)

// Said is a message that an integration user has published.
type Said struct {
	User, Topic string
	Payload     []byte // may be kept
}

// ears are the parts of the appliance that hear every integration user.
type ears struct {
	mu   sync.RWMutex
	next int
	hear map[int]func(Said)
}

// Hear calls hear with every message that an integration user publishes, or leaves as its will, in order
// for each client, concurrently for several, until stop is called. hear must not wait. Messages that
// were retained earlier are not repeated.
func (s *Server) Hear(hear func(Said)) (stop func()) {
	e := &s.ears
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hear == nil {
		e.hear = map[int]func(Said){}
	}
	e.next++
	number := e.next
	e.hear[number] = hear
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.hear, number)
	}
}

// tell calls those who hear.
func (e *ears) tell(said Said) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, hear := range e.hear {
		hear(said)
	}
}

// Tell sends a message to the integration users that have subscribed to its topic, if there are any, at
// QoS 1, and keeps it for later ones when it is retained; an empty one ends that. What devices use cannot
// be published to.
func (s *Server) Tell(topic string, payload []byte, retain bool) error {
	if strings.HasPrefix(topic, "iot-2/") || strings.HasPrefix(topic, "$") || strings.ContainsAny(topic, "+#") || len(payload) > maxIntegrationPacket/2 {
		return fmt.Errorf("publish to %.80q: not a topic of integration users, or over %d bytes", topic, maxIntegrationPacket/2)
	}
	s.chargeQueues(topic, len(payload), "")
	if err := s.inject(topic, payload, retain); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}
