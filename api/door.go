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
// appliance connects for everybody, and strangers cannot keep it out by filling the
// former. All methods may be called concurrently.
type doors struct {
	most       int
	reserve    int // beyond most, for loopback
	perAddress int
	turnedAway atomic.Uint64 // connections closed because there were too many

	mu      sync.Mutex
	open    map[*visitor]struct{}
	from    map[netip.Addr]int   // but those of loopback
	network map[netip.Prefix]int // the same, by networkOf
}

func newDoors(most, perAddress int) *doors {
	return &doors{
		most: most, reserve: loopbackReserve, perAddress: perAddress,
		open: map[*visitor]struct{}{}, from: map[netip.Addr]int{}, network: map[netip.Prefix]int{},
	}
}

const (
	loopbackReserve = 256 // connections
	// networkShare is how many times the share of an address an IPv6 /64 has: one host
	// can use as many addresses of it as it likes, but a household has only the one.
	networkShare = 8
)

// networkOf returns the /64 of an IPv6 address (RFC 4291 section 2.5.1, RFC 8981), and an
// IPv4 address as a network of its own.
func networkOf(a netip.Addr) netip.Prefix {
	network, _ := a.Prefix(min(64, a.BitLen())) // fails for other lengths only
	return network
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
	if d.full(v.from) {
		return nil
	}
	d.open[v] = struct{}{}
	if !v.from.IsLoopback() {
		d.from[v.from]++
		d.network[networkOf(v.from)]++
	}
	return v
}

// full reports whether there is no room for another connection from an address; mu is
// held.
func (d *doors) full(from netip.Addr) bool {
	if from.IsLoopback() {
		return len(d.open) >= d.most+d.reserve
	}
	return len(d.open) >= d.most || d.from[from] >= d.perAddress || d.network[networkOf(from)] >= networkShare*d.perAddress
}

func (d *doors) leave(v *visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, counted := d.open[v]; !counted {
		return
	}
	delete(d.open, v)
	if !v.from.IsLoopback() {
		decrement(d.from, v.from)
		decrement(d.network, networkOf(v.from))
	}
}

// decrement keeps no counts of 0.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
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
