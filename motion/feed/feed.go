// Package feed fans live values out to readers. It knows keys and queues and
// nothing of what it carries.
//
// Publish never waits: every subscription has a bounded queue, and a reader
// whose queue is full is cut off (its channel is closed) rather than waited for.
// All methods may be called concurrently.
package feed

import "sync"

// Hub carries values of V to the subscribers of a key. The zero Hub is ready.
type Hub[K comparable, V any] struct {
	mu     sync.Mutex
	topics map[K]map[*Subscription[K, V]]struct{}
	closed bool
}

// Subscription is one reader's queue.
type Subscription[K comparable, V any] struct {
	hub    *Hub[K, V]
	key    K
	values chan V
	// All are guarded by hub.mu.
	ended   bool
	behind  bool
	stopped bool
}

// Subscribe adds a reader of key that may fall behind by queue values (at least 1). The caller
// closes it. On a closed hub the subscription has ended at once.
func (h *Hub[K, V]) Subscribe(key K, queue int) *Subscription[K, V] {
	s := &Subscription[K, V]{hub: h, key: key, values: make(chan V, max(queue, 1))}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.stopped = true
		s.end()
		return s
	}
	if h.topics == nil {
		h.topics = map[K]map[*Subscription[K, V]]struct{}{}
	}
	if h.topics[key] == nil {
		h.topics[key] = map[*Subscription[K, V]]struct{}{}
	}
	h.topics[key][s] = struct{}{}
	return s
}

// Publish queues v for every reader of key. A reader whose queue is full is cut off.
func (h *Hub[K, V]) Publish(key K, v V) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.topics[key] {
		select {
		case s.values <- v:
		default:
			s.behind = true
			h.drop(s)
		}
	}
}

// Readers returns how many readers key has.
func (h *Hub[K, V]) Readers(key K) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.topics[key])
}

// End ends all subscriptions of key.
func (h *Hub[K, V]) End(key K) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.topics[key] {
		h.drop(s)
	}
}

// Close ends every subscription, and all later ones at once.
func (h *Hub[K, V]) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, readers := range h.topics {
		for s := range readers {
			s.stopped = true
			h.drop(s)
		}
	}
}

// drop removes and ends s; hub.mu is held.
func (h *Hub[K, V]) drop(s *Subscription[K, V]) {
	readers := h.topics[s.key]
	delete(readers, s)
	if len(readers) == 0 {
		delete(h.topics, s.key)
	}
	s.end()
}

// end closes the channel once; hub.mu is held.
func (s *Subscription[K, V]) end() {
	if !s.ended {
		s.ended = true
		close(s.values)
	}
}

// C returns the values in order; it is closed when the subscription has ended.
func (s *Subscription[K, V]) C() <-chan V { return s.values }

// Behind reports whether the reader was cut off because it fell behind.
func (s *Subscription[K, V]) Behind() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.behind
}

// Stopped reports whether the subscription ended because the hub was closed, and not its key.
func (s *Subscription[K, V]) Stopped() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.stopped
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription[K, V]) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if !s.ended {
		s.hub.drop(s)
	}
}
