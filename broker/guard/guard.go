// Package guard stands between the network and the MQTT library (mochi-mqtt
// v2.7.9) and hides that library's known defects.
//
// It has two halves. A [Listener] wraps any bound net.Listener: it counts and limits
// connections, waits for each packet itself and checks it before the library sees a byte of it, never
// blocks in a write, recovers from panics, and closes everything it opened. A [Hook] holds
// what only a hook of the library can hold; a policy embeds it and adds who may do what.
//
// The package knows the MQTT 3.1.1 and 5 wire formats (OASIS standards; section
// numbers in comments are those of MQTT 5) and the library. It must not know
// devices, users, topics of the product or its store, so that the same guard
// runs under an open policy in conformance tests.
//
// Concurrency: a Guard and its Listeners may be used from any goroutine. The
// read half of a Conn belongs to the Listener's goroutine for that connection;
// its write half and Close may be called from anywhere and never block.
package guard

import (
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"

	"sensegate/motion/peer"
)

// Guard holds what the listeners of one server share: limits, counters, the number of
// connections and the order of CONNECTs.
type Guard struct {
	cfg        Config
	log        *slog.Logger
	counters   counters
	connecting keyedMutex
	room       *peer.Room
	server     *mqtt.Server // set by Hook
}

// New returns a Guard without listeners. Its errors name every wrong limit.
func New(cfg Config, log *slog.Logger) (*Guard, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	room := peer.NewRoom(peer.Limits{Connections: cfg.MaxConnections, PerAddress: cfg.MaxPerAddress, LimitLoopback: cfg.LimitLoopback})
	return &Guard{cfg: cfg, log: log, room: room}, nil
}

// Counters returns the present totals.
func (g *Guard) Counters() Counters {
	c := g.counters.snapshot()
	c.GaveWay = g.room.GaveWay()
	return c
}

// admit counts a connection, or returns why it is refused. Until the policy has let its client
// in, a connection may have to give way to another.
func (g *Guard) admit(c *Conn) error {
	c.place = g.room.Place(AddrOf(c.RemoteAddr()), func() { c.shut(ErrGaveWay, nil) })
	switch err := g.room.Enter(c.place); err {
	case nil:
		g.counters.accepted.Add(1)
		g.counters.open.Add(1)
		return nil
	case peer.ErrFull:
		g.counters.overTotal.Add(1)
		return err
	default:
		g.counters.overAddress.Add(1)
		return err
	}
}

// release undoes admit.
func (g *Guard) release(c *Conn) {
	g.counters.open.Add(-1)
	c.place.Leave()
}

// AddrOf returns the IP address of a network address, the zero Addr when it has
// none.
func AddrOf(a net.Addr) netip.Addr {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}

// Counters are totals since the Guard was made, except Open.
type Counters struct {
	Open           int64  // connections open now
	Accepted       uint64 // connections accepted and within the limits
	AcceptErrors   uint64 // failed accepts, each tried again after a pause
	OverTotal      uint64 // connections closed because MaxConnections was reached, and none was silent
	OverAddress    uint64 // connections closed because MaxPerAddress was reached, of an address or its network, and none was silent
	GaveWay        uint64 // silent connections closed to make room for others
	ConnectTimeout uint64 // connections that sent no complete CONNECT in time
	Malformed      uint64 // connections closed for a packet that breaks a rule of MQTT or a limit other than its size
	TooLarge       uint64 // connections closed for the size of a packet
	SlowReaders    uint64 // connections closed because they did not read
	Throttled      uint64 // packets that were delayed for the rate of their connection
	Panics         uint64 // connections closed because the library, or a hook, panicked
}

type counters struct {
	open                                           atomic.Int64
	accepted, acceptErrors, overTotal, overAddress atomic.Uint64
	connectTimeout, malformed, tooLarge            atomic.Uint64
	slowReaders, throttled, panics                 atomic.Uint64
}

// refused counts v under the counter that its code belongs to.
func (c *counters) refused(v *Violation) {
	if v.Code == codeTooLarge {
		c.tooLarge.Add(1)
		return
	}
	c.malformed.Add(1)
}

func (c *counters) snapshot() Counters {
	return Counters{
		Open:           c.open.Load(),
		Accepted:       c.accepted.Load(),
		AcceptErrors:   c.acceptErrors.Load(),
		OverTotal:      c.overTotal.Load(),
		OverAddress:    c.overAddress.Load(),
		ConnectTimeout: c.connectTimeout.Load(),
		Malformed:      c.malformed.Load(),
		TooLarge:       c.tooLarge.Load(),
		SlowReaders:    c.slowReaders.Load(),
		Throttled:      c.throttled.Load(),
		Panics:         c.panics.Load(),
	}
}
