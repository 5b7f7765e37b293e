package server

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/motion/peer"
)

// loopbackReserve is how many connections loopback may have beyond the limit, so that
// strangers cannot keep out a proxy on the appliance by filling it.
const loopbackReserve = 256

// receiveBuffer is how many bytes of a request the system takes before anybody reads them.
// Its own choice would take megabytes of a body that is refused, from every stranger.
const receiveBuffer = 64 << 10

// connections are those of a server, over all its listeners. All methods may be called
// concurrently.
type connections struct {
	room       *peer.Room
	turnedAway atomic.Uint64 // connections closed because there were too many

	mu   sync.Mutex
	open map[*connection]struct{}
}

func newConnections(most, perAddress int) *connections {
	return &connections{
		room: peer.NewRoom(peer.Limits{Connections: most, Reserve: loopbackReserve, PerAddress: perAddress}),
		open: map[*connection]struct{}{},
	}
}

// admit counts a connection, or returns nil when it may not stay.
func (s *connections) admit(tcp *net.TCPConn) *connection {
	c := &connection{TCPConn: tcp, all: s}
	c.place = s.room.Place(tcp.RemoteAddr().(*net.TCPAddr).AddrPort().Addr(), func() { _ = c.Close() })
	s.mu.Lock()
	s.open[c] = struct{}{}
	s.mu.Unlock()
	if s.room.Enter(c.place) != nil {
		s.leave(c)
		return nil
	}
	return c
}

func (s *connections) leave(c *connection) {
	c.place.Leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// drain gives all requests that are being read so long to come whole: who has sent half a
// request by then gets no answer. Requests that came whole are not disturbed.
func (s *connections) drain(within time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := time.Now().Add(within)
	for c := range s.open {
		c.drain(by)
	}
}

// listener is a bound TCP listener that accepts as many connections as there may be, and
// closes others at once.
type listener struct {
	*net.TCPListener
	connections *connections
}

// Accept waits for the next connection that may stay.
func (l listener) Accept() (net.Conn, error) {
	for {
		tcp, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		_ = tcp.SetReadBuffer(receiveBuffer) // fails on a closed one
		if c := l.connections.admit(tcp); c != nil {
			return c, nil
		}
		l.connections.turnedAway.Add(1)
		_ = tcp.Close()
	}
}

// connection is counted until it is closed. It may have to give way to another one until
// the whole of a request has come, and while it waits for the next.
type connection struct {
	*net.TCPConn
	all   *connections
	place *peer.Place

	mu       sync.Mutex
	deadline time.Time // of reading; zero: none
	drainBy  time.Time // no deadline is later than this; zero: any may be
}

// SetReadDeadline sets until when more has to come, which a drain shortens. net/http has
// none once it has the whole of a request: then it reads on only to see the client leave.
func (c *connection) SetReadDeadline(by time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.drainBy.IsZero() && by.After(c.drainBy) {
		by = c.drainBy
	}
	c.deadline = by
	return c.TCPConn.SetReadDeadline(by)
}

// drain brings the deadline forward, and all that follow. Without a deadline the connection
// waits for no request, and stays as it is.
func (c *connection) drain(by time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drainBy = by
	if c.deadline.After(by) {
		c.deadline = by
		_ = c.TCPConn.SetReadDeadline(by) // fails on a closed one, which needs none
	}
}

// Close closes the connection; it may be called again.
func (c *connection) Close() error {
	c.all.leave(c)
	return c.TCPConn.Close()
}

// busy says that the whole of a request has come.
func (c *connection) busy() {
	if c != nil {
		c.place.Busy()
	}
}

// silent says that a request has been answered.
func (c *connection) silent() {
	if c != nil {
		c.place.Silent()
	}
}

type connectionKey struct{}

// connectionIn returns the connection that a request came on, nil outside a server.
func connectionIn(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// connectionOf returns the connection below another, which may be one of TLS.
func connectionOf(conn net.Conn) *connection {
	for {
		switch c := conn.(type) {
		case *connection:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}
