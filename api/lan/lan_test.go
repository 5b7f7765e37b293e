package lan

import (
	"net"
	"net/netip"
	"slices"
	"testing"
)

// usable are the flags of an interface with a cable.
const usable = net.FlagUp | net.FlagRunning | net.FlagMulticast | net.FlagBroadcast

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func TestLinksAreInterfacesOfTheHouse(t *testing.T) {
	t.Parallel()
	home := prefixes("192.168.1.20/24", "fe80::1/64")
	for name, c := range map[string]struct {
		name      string
		flags     net.Flags
		addresses []netip.Prefix
		named     []string
		want      []netip.Prefix
	}{
		"cable":                            {"eth0", usable, home, nil, home},
		"bridge of a router":               {"br-lan", usable, home, nil, home},
		"private IPv6 alone":               {"eth0", usable, prefixes("fe80::1/64", "fd00::5/64"), nil, prefixes("fd00::5/64", "fe80::1/64")},
		"public IPv6 beside":               {"eth0", usable, append(prefixes("2001:db8::5/64"), home...), nil, home},
		"no lease yet":                     {"eth0", usable, prefixes("169.254.7.8/16"), nil, prefixes("169.254.7.8/16")},
		"bridge of Docker":                 {"br-0123456789ab", usable, prefixes("172.18.0.1/16"), nil, nil},
		"default bridge of Docker":         {"docker0", usable, prefixes("172.17.0.1/16"), nil, nil},
		"uplink":                           {"wan", usable, prefixes("203.0.113.5/24", "fe80::1/64"), nil, nil},
		"uplink of a shared address":       {"wan", usable, prefixes("100.64.3.4/10"), nil, nil},
		"uplink with IPv6":                 {"wan", usable, prefixes("2001:db8::5/64", "fe80::1/64"), nil, nil},
		"loopback":                         {"lo", usable | net.FlagLoopback, prefixes("127.0.0.1/8"), nil, nil},
		"tunnel":                           {"wg0", usable | net.FlagPointToPoint, prefixes("10.0.0.1/24"), nil, nil},
		"without a cable":                  {"eth0", usable &^ net.FlagRunning, home, nil, nil},
		"down":                             {"eth0", usable &^ net.FlagUp, home, nil, nil},
		"named":                            {"docker0", usable, prefixes("203.0.113.5/24", "172.17.0.1/16"), []string{"docker0"}, prefixes("172.17.0.1/16", "203.0.113.5/24")},
		"not named":                        {"eth0", usable, home, []string{"eth1"}, nil},
		"named, but it is nobody else's":   {"lo", usable | net.FlagLoopback, prefixes("127.0.0.1/8"), []string{"lo"}, nil},
		"named, and it has no address yet": {"eth0", usable, nil, []string{"eth0"}, nil},
	} {
		l, ok := linkOf(net.Interface{Index: 3, Name: c.name, Flags: c.flags}, c.addresses, c.named)
		if ok != (c.want != nil) || ok && !slices.Equal(l.Addresses, c.want) {
			t.Errorf("%s: %v %v, want %v", name, ok, l.Addresses, c.want)
		}
	}
}

func TestLinkKnowsItsNetwork(t *testing.T) {
	t.Parallel()
	l := Link{Index: 2, Name: "eth0", Addresses: prefixes("192.168.1.20/24", "fd00::5/64")}
	for address, want := range map[string]bool{
		"192.168.1.77": true, "::ffff:192.168.1.77": true, "192.168.2.77": false, "8.8.8.8": false,
		"fd00::99": true, "fd00:0:0:1::99": false, "fe80::7%eth0": true, "169.254.9.9": true,
	} {
		if got := l.Reaches(netip.MustParseAddr(address)); got != want {
			t.Errorf("reaches %s: %t, want %t", address, got, want)
		}
	}
	if !l.Has(netip.MustParseAddr("::ffff:192.168.1.20")) || l.Has(netip.MustParseAddr("192.168.1.21")) {
		t.Error("a link does not know its own addresses")
	}
	if moved := (Link{2, "eth0", prefixes("192.168.1.21/24")}); l.Equal(moved) || !l.Equal(l) {
		t.Error("links with different addresses are equal")
	}
}

func TestAddressOfTheDefaultRouteComesFirst(t *testing.T) {
	t.Parallel()
	links := []Link{
		{1, "eth0", prefixes("10.0.0.5/24", "fd00::5/64", "fe80::1/64")},
		{2, "wlan0", prefixes("192.168.1.20/24")},
		{3, "eth1", prefixes("192.168.1.20/24")}, // the same address once more
	}
	for name, c := range map[string]struct {
		first string
		only4 bool
		want  []string
	}{
		"known":              {"192.168.1.20", false, []string{"192.168.1.20", "10.0.0.5", "fd00::5"}},
		"of another network": {"203.0.113.5", false, []string{"10.0.0.5", "192.168.1.20", "fd00::5"}},
		"IPv4 alone":         {"10.0.0.5", true, []string{"10.0.0.5", "192.168.1.20"}},
	} {
		var got []string
		for _, a := range ordered(links, netip.MustParseAddr(c.first), c.only4) {
			got = append(got, a.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestServerOfOneAddressHasThatAddress(t *testing.T) {
	t.Parallel()
	if got := Addresses(netip.MustParseAddr("127.0.0.1")); len(got) != 0 {
		t.Errorf("loopback is reached at %v", got)
	}
	if got := Addresses(netip.MustParseAddr("::ffff:10.1.2.3")); len(got) != 1 || got[0] != netip.MustParseAddr("10.1.2.3") {
		t.Errorf("a server of 10.1.2.3 is reached at %v", got)
	}
	for _, a := range Addresses(netip.IPv6Unspecified()) {
		if !ofTheHouse(a) {
			t.Errorf("%s is shown, but is no address of the house", a)
		}
	}
}
