package guard

import (
	"sync"
	"time"
)

// turns lets one connection at a time pass per client id, in order of arrival.
type turns struct {
	mu    sync.Mutex
	queue map[string]*turn
}

type turn struct {
	slot  chan struct{} // holds a value while somebody has the turn
	users int           // holder and waiters
}

// take waits for id's turn and reports whether it came before the timeout and
// before quit was closed. What was taken must be given back.
func (t *turns) take(id string, timeout time.Duration, quit <-chan struct{}) bool {
	t.mu.Lock()
	if t.queue == nil {
		t.queue = make(map[string]*turn)
	}
	own := t.queue[id]
	if own == nil {
		own = &turn{slot: make(chan struct{}, 1)}
		t.queue[id] = own
	}
	own.users++
	t.mu.Unlock()

	select {
	case own.slot <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case own.slot <- struct{}{}:
		return true
	case <-timer.C:
	case <-quit:
	}
	t.leave(id, own)
	return false
}

// give lets the next connection of id pass.
func (t *turns) give(id string) {
	t.mu.Lock()
	own := t.queue[id]
	t.mu.Unlock()
	<-own.slot
	t.leave(id, own)
}

func (t *turns) leave(id string, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(t.queue, id)
	}
}
