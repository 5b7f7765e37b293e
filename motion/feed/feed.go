// Package feed fans live values out to readers. It knows keys and queues and
// nothing of what it carries.
//
// The values of a key are one list, of which each reader knows its place: a reader costs the
// same however many values it may fall behind, and what all have read is forgotten. Publish
// never waits: a reader that has fallen behind further is cut off. All methods may be called
// concurrently; those of one Subscription that read, by one goroutine at a time.
package feed

import (
	"iter"
	"sync"
	"sync/atomic"
)

// Hub carries values of V to the subscribers of a key. The zero Hub is ready.
type Hub[K comparable, V any] struct {
	mu     sync.Mutex
	topics map[K]*topic[K, V]
	closed bool
}

// topic is what is published under a key while it has readers.
type topic[K comparable, V any] struct {
	last    *entry[V]
	readers map[*Subscription[K, V]]struct{}
}

// entry is a value of the list.
type entry[V any] struct {
	value  V
	number uint64 // counts the values of the list
	next   atomic.Pointer[entry[V]]
}

// Subscription is one reader's place in the list.
type Subscription[K comparable, V any] struct {
	hub   *Hub[K, V]
	key   K
	queue uint64
	ready chan struct{}
	at    atomic.Pointer[entry[V]] // the last one that was read
	ended atomic.Bool              // at is in a list of its own, which does not grow

	behind, stopped bool // guarded by hub.mu
}

// Subscribe adds a reader of key that may fall behind by queue values (at least 1). The caller
// closes it. On a closed hub the subscription has ended at once.
func (h *Hub[K, V]) Subscribe(key K, queue int) *Subscription[K, V] {
	s := &Subscription[K, V]{hub: h, key: key, queue: uint64(max(queue, 1)), ready: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.stopped = true
		s.at.Store(&entry[V]{})
		s.end()
		return s
	}
	t := h.topics[key]
	if t == nil {
		if h.topics == nil {
			h.topics = map[K]*topic[K, V]{}
		}
		t = &topic[K, V]{last: &entry[V]{}, readers: map[*Subscription[K, V]]struct{}{}}
		h.topics[key] = t
	}
	s.at.Store(t.last)
	t.readers[s] = struct{}{}
	return s
}

// Publish gives v to every reader of key. A reader whose queue is full is cut off before it.
func (h *Hub[K, V]) Publish(key K, v V) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[key]
	if t == nil {
		return
	}
	for s := range t.readers {
		if t.last.number-s.at.Load().number >= s.queue {
			s.behind = true
			h.drop(s)
		}
	}
	e := &entry[V]{value: v, number: t.last.number + 1}
	t.last.next.Store(e)
	t.last = e
	for s := range t.readers {
		s.wake()
	}
}

// Readers returns how many readers key has.
func (h *Hub[K, V]) Readers(key K) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[key]; t != nil {
		return len(t.readers)
	}
	return 0
}

// End ends all subscriptions of key, once they have read what there is.
func (h *Hub[K, V]) End(key K) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[key]; t != nil {
		for s := range t.readers {
			h.drop(s)
		}
	}
}

// Close ends every subscription, and all later ones at once.
func (h *Hub[K, V]) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, t := range h.topics {
		for s := range t.readers {
			s.stopped = true
			h.drop(s)
		}
	}
}

// drop removes s and ends it behind the last value of its key; hub.mu is held.
func (h *Hub[K, V]) drop(s *Subscription[K, V]) {
	t := h.topics[s.key]
	delete(t.readers, s)
	if len(t.readers) == 0 {
		delete(h.topics, s.key)
	}
	for at := s.at.Load(); !s.at.CompareAndSwap(at, at.copied()); at = s.at.Load() {
	}
	s.end()
}

// copied returns an entry in the place of e, followed by copies of what follows it now: a list
// that does not grow, and keeps nothing of what comes later.
func (e *entry[V]) copied() *entry[V] {
	first := &entry[V]{number: e.number}
	for last := first; ; last = last.next.Load() {
		if e = e.next.Load(); e == nil {
			return first
		}
		last.next.Store(&entry[V]{value: e.value, number: e.number})
	}
}

func (s *Subscription[K, V]) end() {
	s.ended.Store(true)
	s.wake()
}

// wake makes a reader that waits look.
func (s *Subscription[K, V]) wake() {
	select {
	case s.ready <- struct{}{}:
	default: // it is about to
	}
}

// Ready returns a channel that holds one when Next may have more to say than when it was last
// asked. Others may put one in, without waiting, to wake the reader for reasons of their own.
func (s *Subscription[K, V]) Ready() chan struct{} { return s.ready }

// Next returns the next value, without waiting; ok is false when there is none now. When open
// is false too there never will be.
func (s *Subscription[K, V]) Next() (v V, ok, open bool) {
	for {
		open = !s.ended.Load() // before the list is looked at, which then has all that there will be
		at := s.at.Load()
		e := at.next.Load()
		if e == nil {
			return v, false, open
		}
		if s.at.CompareAndSwap(at, e) { // else it has just ended
			return e.value, true, true
		}
	}
}

// Wait returns the next value, and waits for it; ok is false when the subscription has ended.
func (s *Subscription[K, V]) Wait() (v V, ok bool) {
	for {
		v, ok, open := s.Next()
		if ok || !open {
			return v, ok
		}
		<-s.ready
	}
}

// All yields the values until the subscription has ended.
func (s *Subscription[K, V]) All() iter.Seq[V] {
	return func(yield func(V) bool) {
		for {
			if v, ok := s.Wait(); !ok || !yield(v) {
				return
			}
		}
	}
}

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
	if !s.ended.Load() {
		s.hub.drop(s)
	}
}
