package live

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/motion/fault"
)

// Set holds the connections of a server and ends them with it. All methods may be called
// concurrently.
type Set struct {
	log      *slog.Logger
	refuse   func(http.ResponseWriter, error)
	pace     pace
	limit    int // connections of one key
	share    int // connections of one key and viewer
	upgrader websocket.Upgrader
	stop     chan struct{} // closed when the server stops

	mu      sync.Mutex
	stopped bool
	all     map[*connection]struct{}
	open    map[string]int // by key
	shares  map[share]int  // the same, of viewers who have a name
	total   int
	turn    int            // whose pings are due next
	pinging bool           // a timer runs until then
	running sync.WaitGroup // one for each connection
}

// Subprotocol is the one that the server speaks. A page of the web app names it, because it
// offers a ticket as another one, and a browser closes a connection that answers none.
const Subprotocol = "sensegate.v1"

// share is what one viewer has of the connections of a key.
type share struct{ key, name string }

// NewSet returns an empty set, which allows so many connections of one key, and so many of
// one key and viewer. refuse answers a request that becomes none with the error: a
// [fault.Error] (Throttled, Unavailable), a [HandshakeError], or our own trouble.
func NewSet(perKey, perViewer int, refuse func(http.ResponseWriter, error), log *slog.Logger) *Set {
	return &Set{
		log: log, refuse: refuse, pace: productPace(), limit: perKey, share: perViewer, stop: make(chan struct{}),
		all: map[*connection]struct{}{}, open: map[string]int{}, shares: map[share]int{},
		upgrader: websocket.Upgrader{
			ReadBufferSize:  readBuffer,
			WriteBufferSize: writeBuffer,
			WriteBufferPool: &sync.Pool{},
			Subprotocols:    []string{Subprotocol},
			CheckOrigin:     func(*http.Request) bool { return true }, // the server has checked it
			Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
				if status < http.StatusInternalServerError {
					reason = &HandshakeError{status, reason}
				}
				refuse(w, reason)
			},
		},
	}
}

// Viewer is who opens a connection.
type Viewer struct {
	Name    string                      // whose share the connection counts for; "" = nobody's
	Route   string                      // of the request, for the log
	Recheck func(context.Context) error // checks the credentials again: nil while they hold
}

// HandshakeError is a request that is no valid websocket handshake.
type HandshakeError struct {
	Status int // 4xx, of the answer
	error
}

// Start upgrades a request and hands the connection to its two goroutines, so that the
// request's own goroutine and buffers are freed. It answers the request, whatever happens.
func (l *Set) Start(w http.ResponseWriter, r *http.Request, s *Stream, viewer Viewer) {
	leave, err := l.join(s.key, viewer.Name)
	if err != nil {
		s.close()
		l.refuse(w, err)
		return
	}
	ws, err := l.upgrader.Upgrade(w, r, nil)
	if err != nil { // the upgrader has answered
		s.close()
		leave()
		return
	}
	c, route := newConnection(ws, l, s.wake, viewer.Recheck), viewer.Route // and nothing else of the request is kept
	l.add(c)
	go c.read()
	go func() {
		defer leave()
		defer l.remove(c)
		err := c.write(s)
		s.close()
		if err != nil {
			l.log.Error("live connection failed", "route", route, "err", err)
		}
		for !c.gone.Load() {
			<-c.wake
		}
	}()
}

// join counts a connection of a viewer, "" for one without a name, until leave is
// called, once.
func (l *Set) join(key, name string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return nil, fault.New(fault.Unavailable, "the appliance stops")
	}
	own := share{key, name}
	switch {
	case name != "" && l.shares[own] >= l.share:
		return nil, &fault.Error{Kind: fault.Throttled, Code: "too_many_own_connections",
			Message: fmt.Sprintf("you have %d live connections here, which is the share of one user; close one first", l.shares[own])}
	case l.open[key] >= l.limit:
		return nil, &fault.Error{Kind: fault.Throttled, Code: "too_many_connections",
			Message: "too many live connections here; close one first"}
	}
	if name != "" {
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

func (l *Set) leave(own share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	decrement(l.open, own.key)
	if own.name != "" {
		decrement(l.shares, own)
	}
}

// decrement keeps no counts of 0.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

// Count returns how many connections are open.
func (l *Set) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// turns is how many groups of connections are pinged one after the other, by one timer: one for each
// connection takes memory, and all at once would be checked again at once.
const turns = 8

// add makes a connection known to Recheck and Shutdown, and has it pinged, until remove.
func (l *Set) add(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.turn = len(l.all) % turns
	l.all[c] = struct{}{}
	if !l.pinging {
		l.pinging = true
		time.AfterFunc(l.pace.ping/turns, l.ping)
	}
	if l.stopped {
		c.signal()
	}
}

func (l *Set) remove(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, c)
}

// ping has the connections of one turn pinged, and comes again for the next while there are any.
func (l *Set) ping() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.all {
		if c.turn == l.turn {
			c.pingDue.Store(true)
			c.signal()
		}
	}
	l.turn = (l.turn + 1) % turns
	if l.pinging = len(l.all) > 0; l.pinging {
		time.AfterFunc(l.pace.ping/turns, l.ping)
	}
}

// Recheck checks the credentials of every viewer again, at once. It does not wait.
func (l *Set) Recheck() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.all {
		c.recheckDue.Store(true)
		c.signal()
	}
}

// Shutdown tells every viewer that the server stops (1001) and waits for all
// connections, until ctx ends. It may be called more than once.
func (l *Set) Shutdown(ctx context.Context) error {
	l.mu.Lock()
	if !l.stopped {
		l.stopped = true
		close(l.stop)
		for c := range l.all {
			c.signal()
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
