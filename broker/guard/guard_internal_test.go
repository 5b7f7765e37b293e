package guard

import (
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
)

func TestAHostsIPv6AddressesShareTheRoomOfItsNetwork(t *testing.T) {
	t.Parallel()
	cfg := Defaults()
	cfg.MaxPerAddress = 2
	g, err := New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var in []netip.Addr
	for i := range 100 {
		addr := netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1))
		if g.admit(addr) == nil {
			in = append(in, addr)
		}
	}
	if len(in) != 2*networkShare {
		t.Errorf("%d of one /64 stay, want %d", len(in), 2*networkShare)
	}
	if got := g.Counters().OverAddress; got != uint64(100-len(in)) {
		t.Errorf("%d refusals counted, want %d", got, 100-len(in))
	}
	other := netip.MustParseAddr("2001:db8:0:1::1")
	for i, stay := range []bool{true, true, false} {
		if err := g.admit(other); (err == nil) != stay {
			t.Errorf("connection %d of another network's address: %v", i+1, err)
		}
	}
	for _, addr := range append(in, other, other) {
		g.release(addr)
	}
	if g.open != 0 || len(g.address) != 0 || len(g.network) != 0 {
		t.Errorf("afterwards %d are open, from %v, %v", g.open, g.address, g.network)
	}
}
