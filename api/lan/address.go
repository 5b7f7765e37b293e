package lan

import (
	"net"
	"net/netip"
	"slices"
)

// Addresses returns the addresses by which people in the house reach a server of this machine
// that is bound to an address: that address when it is one, otherwise those of the links, the
// one of the interface with the default route first. None: nobody but this machine reaches it.
// An address that a browser cannot open without the name of its interface is left out.
func Addresses(bound netip.Addr) []netip.Addr {
	bound = bound.Unmap()
	if bound.IsLoopback() {
		return nil
	}
	if bound.IsValid() && !bound.IsUnspecified() {
		return []netip.Addr{bound}
	}
	links, err := Links(nil)
	if err != nil {
		links = nil
	}
	return ordered(links, defaultAddress(), bound.Is4())
}

// ordered returns the addresses of links, first before all others if they have it.
func ordered(links []Link, first netip.Addr, only4 bool) []netip.Addr {
	var prefixes []netip.Prefix
	for _, l := range links {
		prefixes = append(prefixes, l.Addresses...)
	}
	sortAddresses(prefixes)
	var all []netip.Addr
	for _, p := range prefixes {
		a := p.Addr()
		if slices.Contains(all, a) || a.Is6() && (only4 || a.IsLinkLocalUnicast()) {
			continue
		}
		if a == first {
			all = slices.Insert(all, 0, a)
		} else {
			all = append(all, a)
		}
	}
	return all
}

// defaultAddress returns the IPv4 address of this machine on the interface with the default
// route, invalid without one. Connecting a UDP socket chooses a route and sends nothing; the
// far address is one for documents (RFC 5737).
func defaultAddress() netip.Addr {
	probe, err := net.Dial("udp4", "192.0.2.1:9")
	if err != nil {
		return netip.Addr{}
	}
	defer func() { _ = probe.Close() }() // nothing was written
	address, _ := netip.ParseAddrPort(probe.LocalAddr().String())
	return address.Addr().Unmap()
}
