package store

import "sync"

// watchers are woken after commits.
type watchers struct {
	mu  sync.Mutex
	all map[chan<- struct{}]bool
}

// WatchEvents sends to wake, which has room for one, after each commit that has numbered an event,
// until stop is called. It never waits.
func (db *DB) WatchEvents(wake chan<- struct{}) (stop func()) {
	w := &db.numbered
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[chan<- struct{}]bool{}
	}
	w.all[wake] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, wake)
	}
}

func (w *watchers) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.all {
		select {
		case one <- struct{}{}:
		default:
		}
	}
}
