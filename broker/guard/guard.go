package guard

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
)

// Guard holds what the listeners of one server share: limits, counters, open
// connections and the order of CONNECTs.
type Guard struct {
	cfg      Config
	log      *slog.Logger
	counters counters
	turns    turns

	mu      sync.Mutex
	open    int
	address map[netip.Addr]int   // open connections per limited address
	network map[netip.Prefix]int // the same, by networkOf
}

// networkShare is how many times the share of an address an IPv6 /64 has: one host can
// use as many addresses of it as it likes, but a household has only the one.
const networkShare = 8

// networkOf returns the /64 of an IPv6 address (RFC 4291 section 2.5.1, RFC 8981), and an
// IPv4 address as a network of its own.
func networkOf(a netip.Addr) netip.Prefix {
	network, _ := a.Prefix(min(64, a.BitLen())) // fails for other lengths only
	return network
}

// New returns a Guard without listeners. Its errors name every wrong limit.
func New(cfg Config, log *slog.Logger) (*Guard, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Guard{cfg: cfg, log: log, address: make(map[netip.Addr]int), network: make(map[netip.Prefix]int)}, nil
}

// Counters returns the present totals.
func (g *Guard) Counters() Counters { return g.counters.snapshot() }

// admit counts a connection from addr, or reports why it may not stay.
func (g *Guard) admit(addr netip.Addr) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open >= g.cfg.MaxConnections {
		g.counters.overTotal.Add(1)
		return fmt.Errorf("%d connections are open", g.open)
	}
	if g.limited(addr) && g.address[addr] >= g.cfg.MaxPerAddress {
		g.counters.overAddress.Add(1)
		return fmt.Errorf("%d connections from one address are open", g.address[addr])
	}
	if g.limited(addr) && g.network[networkOf(addr)] >= networkShare*g.cfg.MaxPerAddress {
		g.counters.overAddress.Add(1)
		return fmt.Errorf("%d connections from one network are open", g.network[networkOf(addr)])
	}
	g.open++
	if g.limited(addr) {
		g.address[addr]++
		g.network[networkOf(addr)]++
	}
	g.counters.accepted.Add(1)
	g.counters.open.Add(1)
	return nil
}

// release undoes admit.
func (g *Guard) release(addr netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
	g.counters.open.Add(-1)
	if g.limited(addr) {
		decrement(g.address, addr)
		decrement(g.network, networkOf(addr))
	}
}

// decrement keeps no counts of 0.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

func (g *Guard) limited(addr netip.Addr) bool { return g.cfg.LimitLoopback || !addr.IsLoopback() }

// AddrOf returns the IP address of a network address, the zero Addr when it has
// none.
func AddrOf(a net.Addr) netip.Addr {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}
