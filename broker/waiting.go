package broker

import (
	"sync"
	"sync/atomic"
	"time"

	"sensegate/broker/guard"
)

// maxWaiting is how many bytes may wait for all connections of one integration user:
// what is queued for them, and what they have not acknowledged. retained.go says
// why it is so many.
const maxWaiting = 8 << 20

// freeAfter is how long after a connection was cut its memory goes back to the system: by
// then the library has dropped it, and other connections were cut too.
const freeAfter = time.Second

// budgets are the budgets of integration users, of whom there are few: a command makes them.
type budgets struct {
	mu     sync.Mutex
	byUser map[string]*guard.Budget

	freeing atomic.Bool
	free    func() // gives memory back to the system
}

func (b *budgets) of(user string) *guard.Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byUser == nil {
		b.byUser = make(map[string]*guard.Budget)
	}
	if b.byUser[user] == nil {
		b.byUser[user] = guard.NewBudget(maxWaiting)
	}
	return b.byUser[user]
}

// freeSoon returns the memory of cut connections to the system, soon and once for several. The
// collector alone would wait for as much again.
func (b *budgets) freeSoon() {
	if b.freeing.Swap(true) {
		return
	}
	time.AfterFunc(freeAfter, func() {
		b.freeing.Store(false)
		b.free()
	})
}

// chargeQueues counts a message for every connection that it is about to be queued for.
func (s *Server) chargeQueues(topic string, payload int, from string) {
	if payload <= guard.LargeMessage {
		return
	}
	for id, sub := range s.mqtt.Topics.Subscribers(topic).Subscriptions {
		if sub.NoLocal && id == from {
			continue
		}
		if client, ok := s.sessions.get(id); ok && client.rights.maySubscribe(topic) {
			client.conn.Charge(payload)
		}
	}
}
