package api

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// doors are the connections of a server, over all its listeners: how many there may
// be, from one address too. Loopback is exempt from the latter, as a proxy on the
// appliance connects for everybody. All methods may be called concurrently.
type doors struct {
	most       int
	perAddress int
	turnedAway atomic.Uint64 // connections closed because there were too many

	mu   sync.Mutex
	open map[*visitor]struct{}
	from map[netip.Addr]int // but those of loopback
}

func newDoors(most, perAddress int) *doors {
	return &doors{most: most, perAddress: perAddress, open: map[*visitor]struct{}{}, from: map[netip.Addr]int{}}
}

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
		if v := d.doors.admit(conn); v != nil {
			return v, nil
		}
		d.doors.turnedAway.Add(1)
		_ = conn.Close()
	}
}

// visitor is a connection that is counted until it is closed.
type visitor struct {
	*net.TCPConn
	doors *doors
	from  netip.Addr
}

// Close closes the connection; it may be called again.
func (v *visitor) Close() error {
	v.doors.leave(v)
	return v.TCPConn.Close()
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
	return d.count(&visitor{TCPConn: conn, doors: d, from: addrOf(conn.RemoteAddr().String())})
}

func (d *doors) count(v *visitor) *visitor {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) >= d.most || d.from[v.from] >= d.perAddress {
		return nil
	}
	d.open[v] = struct{}{}
	if !v.from.IsLoopback() {
		d.from[v.from]++
	}
	return v
}

func (d *doors) leave(v *visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, counted := d.open[v]; !counted {
		return
	}
	delete(d.open, v)
	if v.from.IsLoopback() {
		return
	}
	if d.from[v.from]--; d.from[v.from] == 0 {
		delete(d.from, v.from)
	}
}

// hurry gives all that is being read a last moment: whoever has sent half a request
// by then will not get an answer.
func (d *doors) hurry(within time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for v := range d.open {
		_ = v.SetReadDeadline(time.Now().Add(within)) // fails on a closed one, which needs none
	}
}
