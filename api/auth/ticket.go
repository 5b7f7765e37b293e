package auth

import (
	"sync"
	"time"

	"sensegate/motion/fault"
)

const (
	ticketLife = 30 * time.Second
	maxTickets = 1024 // that are open at a time
	ownTickets = 16   // of one user; the oldest gives way
)

// tickets are secrets for one connection each, of a browser that cannot set a header on a
// websocket. They are in memory alone.
type tickets struct {
	mu   sync.Mutex
	open map[string]ticket // by digest
}

// ticket is who may connect with it, and until when.
type ticket struct {
	who  User
	ends time.Time
}

func newTickets() *tickets { return &tickets{open: map[string]ticket{}} }

// Ticket returns a secret that lets its caller, a browser, open one websocket within 30 s.
// Forbidden: a caller with a token, which needs none. Throttled: too many are open.
func (s *Sessions) Ticket(who User) (string, error) {
	if !who.Browser {
		return "", fault.New(fault.Forbidden, "ticket: is for browsers; show the token to the websocket itself")
	}
	t, now := s.tickets, time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	own, oldest := 0, ""
	for digest, other := range t.open {
		switch {
		case now.After(other.ends):
			delete(t.open, digest)
		case other.who.ID == who.ID:
			if own++; oldest == "" || other.ends.Before(t.open[oldest].ends) {
				oldest = digest
			}
		}
	}
	if own >= ownTickets {
		delete(t.open, oldest)
	}
	if len(t.open) >= maxTickets {
		return "", throttled(ticketLife, "too many websocket tickets at once")
	}
	text := secret()
	t.open[digestOf(text)] = ticket{who, now.Add(ticketLife)}
	return text, nil
}

// Redeem returns the caller whose ticket it is, once, or an Unauthorized fault.
func (s *Sessions) Redeem(text string) (User, error) {
	t, digest := s.tickets, digestOf(text)
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.open[digest]
	delete(t.open, digest)
	if !ok || time.Now().After(found.ends) {
		return User{}, fault.New(fault.Unauthorized, "ticket: it was used, is older than 30 s, or never was one; get another")
	}
	return found.who, nil
}
