package mqtt

import (
	"sync"

	"sensegate/motion/uplink"
)

// queue holds live messages: when it is full a new one replaces the oldest, because live motion loses
// its value with age.
type queue struct {
	wake chan struct{} // receives after a push

	mu       sync.Mutex
	messages []uplink.Message // oldest first
	dropped  uint64
	closed   bool
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// push appends a message without waiting.
func (q *queue) push(m uplink.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.dropped++
		return
	}
	if len(q.messages) == waiting {
		q.messages = append(q.messages[:0], q.messages[1:]...)
		q.dropped++
	}
	q.messages = append(q.messages, m)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// pop removes the oldest message.
func (q *queue) pop() (m uplink.Message, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.messages) == 0 {
		return m, false
	}
	m = q.messages[0]
	q.messages = append(q.messages[:0], q.messages[1:]...)
	return m, true
}

// lose counts messages that are not sent.
func (q *queue) lose(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += uint64(n)
}

// clear drops all messages, and those to come.
func (q *queue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += uint64(len(q.messages))
	q.messages, q.closed = nil, true
}

// state returns how many messages were dropped and how many wait.
func (q *queue) state() (dropped uint64, queued int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped, len(q.messages)
}
