package peer_test

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"sensegate/motion/peer"
)

func addr(format string, args ...any) netip.Addr {
	return netip.MustParseAddr(fmt.Sprintf(format, args...))
}

func TestNetworkOfAnAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8::1": "2001:db8::/64",
		"2001:db8:0:1::1": "2001:db8:0:1::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := peer.Network(netip.MustParseAddr(text)).String(); got != want {
			t.Errorf("%s is of %s, want %s", text, got, want)
		}
	}
	if got := peer.Network(netip.Addr{}); got.IsValid() {
		t.Errorf("no address is of %v", got)
	}
}

func TestRatesOfNetworks(t *testing.T) {
	t.Parallel()
	now := time.Now()
	taken := func(r *peer.Rates, n int, from func(i int) netip.Addr) (count int) {
		for i := range n {
			if r.Take(from(i), now) == 0 {
				count++
			}
		}
		return count
	}
	for name, c := range map[string]struct {
		from func(i int) netip.Addr
		want int
	}{
		"one IPv4 address":             {func(int) netip.Addr { return addr("192.0.2.7") }, 3},
		"many IPv4 addresses":          {func(i int) netip.Addr { return addr("192.0.2.%d", i) }, 100},
		"one IPv6 address":             {func(int) netip.Addr { return addr("2001:db8::1") }, 3},
		"an IPv6 address in all zones": {func(i int) netip.Addr { return addr("fe80::1%%eth%d", i) }, 3},
		"all of an IPv6 network":       {func(i int) netip.Addr { return addr("2001:db8::%x", i) }, 3},
		"many IPv6 networks":           {func(i int) netip.Addr { return addr("2001:db8:0:%x::1", i) }, 100},
		"nobody":                       {func(int) netip.Addr { return netip.Addr{} }, 3},
	} {
		if got := taken(peer.NewRates(1e-9, 3), 100, c.from); got != c.want {
			t.Errorf("%s: %d of 100, want %d", name, got, c.want)
		}
	}
	r := peer.NewRates(10, 1)
	if r.Take(addr("192.0.2.7"), now); r.Take(addr("192.0.2.7"), now) != 100*time.Millisecond || r.Take(addr("192.0.2.7"), now.Add(100*time.Millisecond)) != 0 {
		t.Error("the rate comes back in time")
	}
}

func TestRoomIsSharedByTheRules(t *testing.T) {
	t.Parallel()
	limits := peer.Limits{Connections: 20, Reserve: 5, PerAddress: 2}
	for name, c := range map[string]struct {
		from func(i int) netip.Addr
		want int
	}{
		"one IPv4 address":       {func(int) netip.Addr { return addr("192.0.2.7") }, 2},
		"many IPv4 addresses":    {func(i int) netip.Addr { return addr("192.0.2.%d", i) }, 20},
		"all of an IPv6 network": {func(i int) netip.Addr { return addr("2001:db8::%x", i+1) }, 2 * peer.Share},
		"loopback":               {func(int) netip.Addr { return addr("127.0.0.1") }, 25},
	} {
		room := peer.NewRoom(limits)
		var in []*peer.Place
		for i := range 100 {
			p := room.Place(c.from(i), func() { t.Errorf("%s: one gives way though none is silent", name) })
			if room.Enter(p) == nil {
				p.Busy()
				in = append(in, p)
			}
		}
		if len(in) != c.want {
			t.Errorf("%s: %d stay, want %d", name, len(in), c.want)
		}
		for _, p := range in {
			p.Leave()
			p.Leave()
		}
		for i := range c.want { // all of it is free again
			if err := room.Enter(room.Place(c.from(i), func() {})); err != nil {
				t.Errorf("%s: afterwards connection %d: %v", name, i+1, err)
			}
		}
	}
}

// guests enter a room one after another and note who has to leave.
type guests struct {
	room *peer.Room
	left []string
}

func (g *guests) enter(name, from string) (*peer.Place, error) {
	p := g.room.Place(netip.MustParseAddr(from), func() { g.left = append(g.left, name) })
	return p, g.room.Enter(p)
}

func TestLongestSilentGivesWay(t *testing.T) {
	t.Parallel()
	g := &guests{room: peer.NewRoom(peer.Limits{Connections: 3, PerAddress: 2})}
	busy, _ := g.enter("busy", "192.0.2.1")
	busy.Busy()
	again, _ := g.enter("silent again", "192.0.2.2")
	again.Busy()
	_, _ = g.enter("silent", "192.0.2.3")
	again.Silent()
	for i, want := range []string{"silent", "silent again", "fourth"} {
		if _, err := g.enter([]string{"fourth", "fifth", "sixth"}[i], fmt.Sprintf("192.0.2.%d", 10+i)); err != nil || g.left[len(g.left)-1] != want {
			t.Errorf("newcomer %d: %v, %q left, want %q last", i+1, err, g.left, want)
		}
	}
	if g.room.GaveWay() != 3 {
		t.Errorf("%d gave way, want 3", g.room.GaveWay())
	}
}

func TestOnlyTheSameAddressGivesWayForItsShare(t *testing.T) {
	t.Parallel()
	g := &guests{room: peer.NewRoom(peer.Limits{Connections: 100, PerAddress: 1})}
	_, _ = g.enter("other", "192.0.2.1")
	_, _ = g.enter("first", "192.0.2.2")
	own, err := g.enter("second", "192.0.2.2")
	if err != nil || len(g.left) != 1 || g.left[0] != "first" {
		t.Errorf("%v, %q left, want the first of the address", err, g.left)
	}
	own.Busy()
	if _, err := g.enter("third", "192.0.2.2"); !errors.Is(err, peer.ErrAddressFull) || len(g.left) != 1 {
		t.Errorf("%v, %q left, want %v", err, g.left, peer.ErrAddressFull)
	}
}

func TestStrangersDoNotPushOutLoopback(t *testing.T) {
	t.Parallel()
	g := &guests{room: peer.NewRoom(peer.Limits{Connections: 2, Reserve: 1, PerAddress: 2})}
	_, _ = g.enter("proxy", "127.0.0.1")
	stranger, _ := g.enter("stranger", "192.0.2.1")
	stranger.Busy()
	if _, err := g.enter("late", "192.0.2.2"); !errors.Is(err, peer.ErrFull) {
		t.Errorf("%v, %q left, want %v", err, g.left, peer.ErrFull)
	}
	if _, err := g.enter("proxy again", "127.0.0.1"); err != nil || len(g.left) != 0 {
		t.Errorf("%v, %q left, want the reserve to be used", err, g.left)
	}
	if _, err := g.enter("proxy once more", "127.0.0.1"); err != nil || len(g.left) != 1 || g.left[0] != "proxy" {
		t.Errorf("%v, %q left, want the proxy's first", err, g.left)
	}
}

func TestRoomMayBeUsedByMany(t *testing.T) {
	t.Parallel()
	room := peer.NewRoom(peer.Limits{Connections: 10, PerAddress: 10, LimitLoopback: true})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 500 {
				var p *peer.Place
				p = room.Place(addr("127.0.0.%d", 1+(i+n)%20), func() { p.Leave() })
				if room.Enter(p) == nil {
					p.Busy()
					p.Silent()
				}
				if n%3 == 0 {
					p.Leave()
				}
			}
		})
	}
	wg.Wait()
	for i := range 10 {
		if err := room.Enter(room.Place(addr("127.0.1.%d", i), func() {})); err != nil {
			t.Error(err)
		}
	}
}
