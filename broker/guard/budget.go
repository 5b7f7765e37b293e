package guard

import "sync"

// messageCost is what a message under way takes beside its payload, in bytes.
const messageCost = 1 << 10

// Budget bounds the bytes that wait for several connections together: queued in the library
// (large messages), queued here, and sent at QoS 1 and not yet acknowledged. A message for
// several of them counts for each, because each has its own copy. Over the limit, the
// connection with the most waiting bytes is closed (ErrSlowReader).
type Budget struct {
	most int

	mu      sync.Mutex // locked before that of a sender
	waiting map[*sender]int
	sum     int
}

// NewBudget returns a budget of at most so many bytes.
func NewBudget(most int) *Budget {
	return &Budget{most: most, waiting: make(map[*sender]int)}
}

// Share counts the bytes that wait for the connection in b until it ends. Call it from a hook
// on the connection's own goroutine.
func (c *Conn) Share(b *Budget) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.budget = b
}

// Charge counts a message of so many bytes of payload that is about to be handed to the library
// for this connection, and closes the connection if too many bytes wait for it.
func (c *Conn) Charge(payload int) {
	if large(payload) == 0 {
		return
	}
	c.mu.Lock()
	c.ahead += payload
	if c.ahead > payload && c.ahead+len(c.queue) > c.most {
		c.cutLocked()
	}
	c.mu.Unlock()
	c.settle()
}

// sent counts a message of QoS 1 until it is acknowledged.
func (s *sender) sent(id uint16, payload int) {
	s.mu.Lock()
	if s.budget != nil {
		if s.unacked == nil {
			s.unacked = make(map[uint16]int)
		}
		s.owed += payload + messageCost - s.unacked[id]
		s.unacked[id] = payload + messageCost
	}
	s.mu.Unlock()
	s.settle()
}

// acknowledged ends the count of a message of QoS 1, if it is one.
func (s *sender) acknowledged(id uint16) {
	s.mu.Lock()
	s.owed -= s.unacked[id]
	delete(s.unacked, id)
	s.mu.Unlock()
	s.settle()
}

// settle updates the budget, if any. The caller does not hold s.mu.
func (s *sender) settle() {
	s.mu.Lock()
	budget := s.budget
	s.mu.Unlock()
	if budget == nil {
		return
	}
	for _, slow := range budget.update(s) {
		slow.cut()
	}
}

// update counts what waits for s now, and returns the connections to close.
func (b *Budget) update(s *sender) []*sender {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, left := s.waiting()
	if left {
		return nil
	}
	b.sum += now - b.waiting[s]
	b.waiting[s] = now
	var cut []*sender
	for b.sum > b.most {
		fullest := s
		for other, n := range b.waiting {
			if n > b.waiting[fullest] {
				fullest = other
			}
		}
		b.sum -= b.waiting[fullest]
		b.waiting[fullest] = 0
		cut = append(cut, fullest)
	}
	return cut
}

// waiting returns how many bytes wait for the connection, and whether it has left its budget.
func (s *sender) waiting() (n int, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drop {
		return 0, s.budget == nil
	}
	return max(s.ahead, 0) + len(s.queue) + s.batch + s.owed, s.budget == nil
}

// leave takes a connection off the budget.
func (b *Budget) leave(s *sender) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.mu.Lock()
	s.budget = nil
	s.mu.Unlock()
	b.sum -= b.waiting[s]
	delete(b.waiting, s)
}
