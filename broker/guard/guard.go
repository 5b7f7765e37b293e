package guard

import (
	"log/slog"
	"net"
	"net/netip"

	"sensegate/motion/peer"
)

// Guard holds what the listeners of one server share: limits, counters, the room for
// connections and the order of CONNECTs.
type Guard struct {
	cfg      Config
	log      *slog.Logger
	counters counters
	turns    turns
	room     *peer.Room
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

// admit counts a connection, or reports why it may not stay. One that stays may have to
// give way to another until the policy has let its client in.
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
