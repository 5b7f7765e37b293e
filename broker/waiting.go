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

// giveBackAfter is how long after a connection was cut its memory goes back to the
// system: the library has let go of it by then, and others are cut in the meantime.
const giveBackAfter = time.Second

// accounts are the accounts of integration users, who are made by command and few.
type accounts struct {
	mu     sync.Mutex
	byUser map[string]*guard.Account

	giving atomic.Bool
	free   func() // gives memory back to the system
}

func (a *accounts) of(user string) *guard.Account {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byUser == nil {
		a.byUser = make(map[string]*guard.Account)
	}
	if a.byUser[user] == nil {
		a.byUser[user] = guard.NewAccount(maxWaiting)
	}
	return a.byUser[user]
}

// giveBack returns the memory of connections that were cut to the system, soon and
// once for several. The collector alone would wait for as much again.
func (a *accounts) giveBack() {
	if a.giving.Swap(true) {
		return
	}
	time.AfterFunc(giveBackAfter, func() {
		a.giving.Store(false)
		a.free()
	})
}

// hand tells the connections that a message is about to be queued for.
func (s *Server) hand(topic string, payload int, from string) {
	if payload <= guard.LargeMessage {
		return
	}
	for id, sub := range s.mqtt.Topics.Subscribers(topic).Subscriptions {
		if sub.NoLocal && id == from {
			continue
		}
		if one, ok := s.sessions.get(id); ok && one.rights.maySubscribe(topic) {
			one.conn.Hand(payload)
		}
	}
}
