package guard

import "sync"

// messageCost is what a message under way takes beside its payload, in bytes.
const messageCost = 1 << 10

// Account bounds the bytes that wait for several connections together: queued in
// the library (large messages), queued here, and sent at QoS 1 without an
// acknowledgement so far. What several of them wait for counts for each, for each
// has a copy of its own. When there are too many, the connection that most of
// them wait for is closed (ErrSlowReader).
type Account struct {
	most int

	mu      sync.Mutex // taken before that of an outbox
	waiting map[*outbox]int
	sum     int
}

// NewAccount returns an account of at most so many bytes.
func NewAccount(most int) *Account {
	return &Account{most: most, waiting: make(map[*outbox]int)}
}

// Share puts the connection on an account, until it ends. Call it from a hook on the
// connection's own goroutine.
func (c *Conn) Share(a *Account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account = a
}

// Hand notes that a message with so many bytes of payload is about to be handed to
// the library for this connection. It closes the connection if too many wait for it.
func (c *Conn) Hand(payload int) {
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

// sent notes a message of QoS 1 that is not acknowledged so far.
func (o *outbox) sent(id uint16, payload int) {
	o.mu.Lock()
	if o.account != nil {
		if o.unacked == nil {
			o.unacked = make(map[uint16]int)
		}
		o.owed += payload + messageCost - o.unacked[id]
		o.unacked[id] = payload + messageCost
	}
	o.mu.Unlock()
	o.settle()
}

// acknowledged notes that the library has let go of a message of QoS 1, if it is one.
func (o *outbox) acknowledged(id uint16) {
	o.mu.Lock()
	o.owed -= o.unacked[id]
	delete(o.unacked, id)
	o.mu.Unlock()
	o.settle()
}

// settle brings the account, if any, up to date. The caller does not hold o.mu.
func (o *outbox) settle() {
	o.mu.Lock()
	account := o.account
	o.mu.Unlock()
	if account == nil {
		return
	}
	for _, one := range account.update(o) {
		one.cut()
	}
}

// update notes what waits for o, and returns the connections to close.
func (a *Account) update(o *outbox) []*outbox {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, left := o.waiting()
	if left {
		return nil
	}
	a.sum += now - a.waiting[o]
	a.waiting[o] = now
	var cut []*outbox
	for a.sum > a.most {
		fullest := o
		for one, n := range a.waiting {
			if n > a.waiting[fullest] {
				fullest = one
			}
		}
		a.sum -= a.waiting[fullest]
		a.waiting[fullest] = 0
		cut = append(cut, fullest)
	}
	return cut
}

// waiting returns how many bytes wait for the connection, and whether it has left
// its account.
func (o *outbox) waiting() (n int, left bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.drop {
		return 0, o.account == nil
	}
	return max(o.ahead, 0) + len(o.queue) + o.batch + o.owed, o.account == nil
}

// leave ends the account of a connection.
func (a *Account) leave(o *outbox) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o.mu.Lock()
	o.account = nil
	o.mu.Unlock()
	a.sum -= a.waiting[o]
	delete(a.waiting, o)
}
