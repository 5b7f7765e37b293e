package guard

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
)

// Pauses between failed accepts: doubled each time, up to the longest.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// Listener is one guarded listener; it implements the library's
// listeners.Listener. The net.Listener it wraps is already bound and may be a
// TLS listener.
type Listener struct {
	id     string
	inner  net.Listener
	guard  *Guard
	policy mqtt.Hook

	mu     sync.Mutex
	conns  map[*Conn]struct{}
	closed bool
	quit   chan struct{}
	wg     sync.WaitGroup // Serve, and one per connection
}

// Listener returns a guarded listener around a bound one, under an id that is
// unique in its server. The policy embeds what Guard.Hook returned, which has to be called before.
func (g *Guard) Listener(id string, bound net.Listener, policy mqtt.Hook) *Listener {
	return &Listener{id: id, inner: bound, guard: g, policy: policy, conns: make(map[*Conn]struct{}), quit: make(chan struct{})}
}

// Init does nothing: the listener is bound and the guard has a logger.
func (l *Listener) Init(*slog.Logger) error { return nil }

// ID returns the id given to Guard.Listener.
func (l *Listener) ID() string { return l.id }

// Address returns the bound address, as host:port.
func (l *Listener) Address() string { return l.inner.Addr().String() }

// Protocol returns the network, "tcp".
func (l *Listener) Protocol() string { return l.inner.Addr().Network() }

// Serve accepts connections until Close. A failed accept (no file descriptors
// left, for one) is tried again after a pause.
func (l *Listener) Serve(listeners.EstablishFn) {
	if !l.begin(nil) {
		return
	}
	defer l.wg.Done()
	pause := firstPause
	for {
		raw, err := l.inner.Accept()
		if err == nil {
			pause = firstPause
			l.accepted(raw)
			continue
		}
		if l.isClosed() {
			return
		}
		l.guard.counters.acceptErrors.Add(1)
		l.guard.log.Warn("accept failed, trying again", "listener", l.id, "pause", pause, "err", err)
		select {
		case <-time.After(pause):
		case <-l.quit:
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// Close stops accepting, tells the clients that the server stops, closes every connection and
// waits until the library has dropped all of them. The library's own way of closing clients is
// not used: it can deadlock, and it does not know connections without a CONNECT.
func (l *Listener) Close(listeners.CloseFn) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	close(l.quit)
	open := make([]*Conn, 0, len(l.conns))
	for c := range l.conns {
		open = append(open, c)
	}
	l.mu.Unlock()

	_ = l.inner.Close()
	for _, c := range open {
		c.Kick(codeShutdown, ErrShutdown)
	}
	l.wg.Wait()
}

func (l *Listener) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// begin counts one more goroutine, for c unless nil, and reports false when the
// listener is closed.
func (l *Listener) begin(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if c != nil {
		l.conns[c] = struct{}{}
	}
	l.wg.Add(1)
	return true
}

// accepted starts a connection if the limits allow one more.
func (l *Listener) accepted(raw net.Conn) {
	c := newConn(l.guard, raw)
	if err := l.guard.admit(c); err != nil {
		l.guard.log.Debug("connection refused", "listener", l.id, "addr", AddrOf(raw.RemoteAddr()), "err", err)
		_ = raw.Close()
		return
	}
	if !l.begin(c) {
		_ = raw.Close()
		l.guard.release(c)
		return
	}
	go l.run(c)
}

// run serves one connection. Its frame and that of wait are the stack of an idle connection.
func (l *Listener) run(c *Conn) {
	defer l.wg.Done()
	defer l.guard.release(c)
	err := c.await()
	if err == nil {
		err = l.attend(c)
	} else {
		err = c.connectError(err)
	}
	for err == nil && !c.client.Closed() {
		if err = c.wait(); err == nil {
			err = l.contain(c, (*Listener).take)
		}
	}
	l.end(c, err)
}

// attend reads the CONNECT, locks its client id, and answers. The CONNACK unlocks the id: only then does
// the library know the client by it.
func (l *Listener) attend(c *Conn) error {
	con, err := c.readConnect()
	if err != nil {
		return err
	}
	answered := func() {}
	if id := con.clientID; id != "" {
		if !l.guard.connecting.lock(id, l.guard.cfg.ConnectTimeout, c.closing) {
			return ErrConnectTimeout
		}
		answered = sync.OnceFunc(func() { l.guard.connecting.unlock(id) })
		defer answered()
	}
	c.client, c.done = l.guard.server.NewClient(c, l.id, "", false), make(chan struct{})
	go c.client.WriteLoop()
	return l.contain(c, func(l *Listener, c *Conn) error { return l.welcome(c, answered) })
}

// end ends a connection for reason.
func (l *Listener) end(c *Conn, reason error) {
	if c.client != nil {
		reason = l.contain(c, func(l *Listener, c *Conn) error { return l.dismiss(c, reason) })
	}
	if cause := c.cause(); cause != nil && !errors.Is(cause, net.ErrClosed) {
		reason = cause
	}
	_ = c.Close()
	for i := len(c.ends) - 1; i >= 0; i-- {
		_ = l.contain(c, func(*Listener, *Conn) error { c.ends[i](reason); return nil })
	}
	if c.done != nil {
		close(c.done)
	}
	c.drain()
	if reason != nil {
		l.guard.log.Debug("connection ended", "listener", l.id, "addr", AddrOf(c.RemoteAddr()), "err", reason)
	}
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
}

// contain runs fn and turns a panic into ErrPanic, so that it ends one connection only.
func (l *Listener) contain(c *Conn, fn func(*Listener, *Conn) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.guard.counters.panics.Add(1)
			l.guard.log.Error("connection panicked", "listener", l.id, "addr", AddrOf(c.RemoteAddr()),
				"err", fmt.Sprintf("%.200v", p), "stack", string(debug.Stack()))
			c.shut(ErrPanic, nil)
			err = ErrPanic
		}
	}()
	return fn(l, c)
}
