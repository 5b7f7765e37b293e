package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"

	"sensegate/motion/fault"
)

// liveSet counts the live connections of a server and ends them with it. All
// methods may be called concurrently.
type liveSet struct {
	log      *slog.Logger
	pace     pace
	limit    int // connections of one key
	share    int // connections of one key and caller
	upgrader websocket.Upgrader
	stop     chan struct{} // closed when the server stops

	mu      sync.Mutex
	stopped bool
	all     map[*connection]struct{}
	open    map[string]int // by key
	shares  map[viewer]int // the same, of callers who have a name
	total   int
	running sync.WaitGroup // one for each connection
}

// viewer is a caller at one key.
type viewer struct{ key, caller string }

func newLiveSet(limit, share int, log *slog.Logger) *liveSet {
	return &liveSet{
		log: log, pace: livePace(), limit: limit, share: share, stop: make(chan struct{}),
		all: map[*connection]struct{}{}, open: map[string]int{}, shares: map[viewer]int{},
		upgrader: websocket.Upgrader{
			ReadBufferSize:  readBuffer,
			WriteBufferSize: writeBuffer,
			WriteBufferPool: &sync.Pool{},
			CheckOrigin:     func(*http.Request) bool { return true }, // checked before
			Error:           upgradeFailed,
		},
	}
}

// join counts a connection of a caller, "" for one without a name, until leave is
// called, once.
func (l *liveSet) join(key, caller string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return nil, fault.New(fault.Unavailable, "the appliance stops")
	}
	own := viewer{key, caller}
	switch {
	case caller != "" && l.shares[own] >= l.share:
		return nil, &fault.Error{Kind: fault.Throttled, Code: "too_many_own_connections",
			Message: fmt.Sprintf("you have %d live connections here, which is the share of one user; close one first", l.shares[own])}
	case l.open[key] >= l.limit:
		return nil, &fault.Error{Kind: fault.Throttled, Code: "too_many_connections",
			Message: "too many live connections here; close one first"}
	}
	if caller != "" {
		l.shares[own]++
	}
	l.open[key]++
	l.total++
	l.running.Add(1)
	return func() {
		l.leave(own)
		l.running.Done()
	}, nil
}

func (l *liveSet) leave(v viewer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	decrement(l.open, v.key)
	if v.caller != "" {
		decrement(l.shares, v)
	}
}

// count returns how many connections are open.
func (l *liveSet) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// add makes a connection known to recheck and shutdown, until remove.
func (l *liveSet) add(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all[c] = struct{}{}
	if l.stopped {
		c.rouse()
	}
}

func (l *liveSet) remove(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, c)
}

// recheck has the credentials of every viewer looked at again, now.
func (l *liveSet) recheck() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.all {
		c.recheckDue.Store(true)
		c.rouse()
	}
}

// shutdown tells every viewer that the server stops (1001) and waits for all
// connections, until ctx ends. It may be called more than once.
func (l *liveSet) shutdown(ctx context.Context) error {
	l.mu.Lock()
	if !l.stopped {
		l.stopped = true
		close(l.stop)
		for c := range l.all {
			c.rouse()
		}
	}
	l.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		l.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// decrement keeps no counts of 0.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}
