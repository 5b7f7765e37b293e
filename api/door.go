package api

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

// doors are the connections of a server, over all its listeners. All methods may be
// called concurrently.
type doors struct {
	room       *peer.Room
	turnedAway atomic.Uint64 // connections closed because there were too many

	mu   sync.Mutex
	open map[*visitor]struct{}
}

func newDoors(most, perAddress int) *doors {
	return &doors{
		room: peer.NewRoom(peer.Limits{Connections: most, Reserve: loopbackReserve, PerAddress: perAddress}),
		open: map[*visitor]struct{}{},
	}
}

// receiveBuffer is how many bytes of a request the system takes before anybody reads them.
// Its own choice would take megabytes of a body that is refused, from every stranger.
const receiveBuffer = 64 << 10

// door is a bound TCP listener that accepts as many connections as there may be, and
// closes others at once.
type door struct {
	*net.TCPListener
	doors *doors
}

// Accept waits for the next connection that may stay.
func (d door) Accept() (net.Conn, error) {
	for {
		conn, err := d.AcceptTCP()
		if err != nil {
			return nil, err
		}
		_ = conn.SetReadBuffer(receiveBuffer) // fails on a closed one
		if v := d.doors.admit(conn); v != nil {
			return v, nil
		}
		d.doors.turnedAway.Add(1)
		_ = conn.Close()
	}
}

// visitor is a connection that is counted until it is closed. It may have to give way to
// another one until the whole of a request has come, and while it waits for the next.
type visitor struct {
	*net.TCPConn
	doors *doors
	place *peer.Place

	mu       sync.Mutex
	deadline time.Time // of reading; zero: none
	hurried  time.Time // no deadline is later than this; zero: any may be
}

// SetReadDeadline sets until when more has to come, which a stop shortens. net/http has
// none once it has the whole of a request: then it reads on only to see the client leave.
func (v *visitor) SetReadDeadline(by time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.hurried.IsZero() && by.After(v.hurried) {
		by = v.hurried
	}
	v.deadline = by
	return v.TCPConn.SetReadDeadline(by)
}

// hurry brings the deadline forward, and all that follow. Where there is none nothing is
// waited for.
func (v *visitor) hurry(by time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hurried = by
	if v.deadline.After(by) {
		v.deadline = by
		_ = v.TCPConn.SetReadDeadline(by) // fails on a closed one, which needs none
	}
}

// Close closes the connection; it may be called again.
func (v *visitor) Close() error {
	v.doors.leave(v)
	return v.TCPConn.Close()
}

type visitorKey struct{}

// visitorIn returns the visitor who makes a request, nil outside a server.
func visitorIn(ctx context.Context) *visitor {
	v, _ := ctx.Value(visitorKey{}).(*visitor)
	return v
}

// busy says that the whole of a request has come.
func (v *visitor) busy() {
	if v != nil {
		v.place.Busy()
	}
}

// silent says that a request has been answered.
func (v *visitor) silent() {
	if v != nil {
		v.place.Silent()
	}
}

// visitorOf returns the visitor below a connection, which may be one of TLS.
func visitorOf(conn net.Conn) *visitor {
	for {
		switch c := conn.(type) {
		case *visitor:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// admit counts a connection, or returns nil when it may not stay.
func (d *doors) admit(conn *net.TCPConn) *visitor {
	v := &visitor{TCPConn: conn, doors: d}
	v.place = d.room.Place(addrOf(conn.RemoteAddr().String()), func() { _ = v.Close() })
	d.mu.Lock()
	d.open[v] = struct{}{}
	d.mu.Unlock()
	if d.room.Enter(v.place) != nil {
		d.leave(v)
		return nil
	}
	return v
}

func (d *doors) leave(v *visitor) {
	v.place.Leave()
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, v)
}

// hurry gives all that is being read a last moment: whoever has sent half a request
// by then will not get an answer. Requests that came whole are not disturbed.
func (d *doors) hurry(within time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	by := time.Now().Add(within)
	for v := range d.open {
		v.hurry(by)
	}
}
