package guard

import (
	"sync"
	"time"
)

// keyedMutex is a mutex for each client id. Connections get it in the order in which they ask.
type keyedMutex struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

type keyLock struct {
	held  chan struct{} // holds a value while the mutex is locked
	users int           // holder and waiters
}

// lock locks the mutex of id and reports whether it could, before the timeout and before quit
// was closed. The caller unlocks it.
func (t *keyedMutex) lock(id string, timeout time.Duration, quit <-chan struct{}) bool {
	t.mu.Lock()
	if t.locks == nil {
		t.locks = make(map[string]*keyLock)
	}
	own := t.locks[id]
	if own == nil {
		own = &keyLock{held: make(chan struct{}, 1)}
		t.locks[id] = own
	}
	own.users++
	t.mu.Unlock()

	select {
	case own.held <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case own.held <- struct{}{}:
		return true
	case <-timer.C:
	case <-quit:
	}
	t.drop(id, own)
	return false
}

// unlock unlocks the mutex of id.
func (t *keyedMutex) unlock(id string) {
	t.mu.Lock()
	own := t.locks[id]
	t.mu.Unlock()
	<-own.held
	t.drop(id, own)
}

func (t *keyedMutex) drop(id string, own *keyLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(t.locks, id)
	}
}
