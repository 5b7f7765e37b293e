// Package lan tells which network interfaces of this machine lead to the household's own
// network, and by which addresses the household reaches it.
//
// It must not know what is spoken there.
package lan

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sort"
	"strings"
)

// Link is a network interface that leads to the household's network.
type Link struct {
	Index     int            // of the interface, as the kernel counts
	Name      string         // such as eth0
	Addresses []netip.Prefix // with the size of their network; private IPv4 first
}

// Has reports whether address is one of the link's.
func (l Link) Has(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == address })
}

// Reaches reports whether address is one of the link's network: no router lies between.
func (l Link) Reaches(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return address.IsLinkLocalUnicast() ||
		slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Contains(address) })
}

// Equal reports whether two links are the same interface with the same addresses.
func (l Link) Equal(other Link) bool {
	return l.Index == other.Index && l.Name == other.Name && slices.Equal(l.Addresses, other.Addresses)
}

// Links returns the links of this machine. With names it takes the interfaces of these names
// with all their addresses; without, those whose addresses are private and which are no
// uplink, tunnel or bridge of containers.
func Links(names []string) ([]Link, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	var links []Link
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		if err != nil { // it has gone meanwhile
			continue
		}
		var prefixes []netip.Prefix
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil {
				prefixes = append(prefixes, netip.PrefixFrom(prefix.Addr().Unmap().WithZone(""), prefix.Bits()))
			}
		}
		if l, ok := linkOf(i, prefixes, names); ok {
			links = append(links, l)
		}
	}
	return links, nil
}

// linkOf returns an interface as a link, and whether it is one.
func linkOf(i net.Interface, addresses []netip.Prefix, names []string) (Link, bool) {
	const needed, never = net.FlagUp | net.FlagRunning | net.FlagMulticast, net.FlagLoopback | net.FlagPointToPoint
	if i.Flags&needed != needed || i.Flags&never != 0 {
		return Link{}, false
	}
	l := Link{Index: i.Index, Name: i.Name}
	if len(names) > 0 {
		l.Addresses = slices.Clone(addresses)
		sortAddresses(l.Addresses)
		return l, slices.Contains(names, i.Name) && len(addresses) > 0
	}
	if isVirtual(i.Name) {
		return Link{}, false
	}
	private := false
	for _, p := range addresses {
		address := p.Addr()
		switch {
		case !ofTheHouse(address) && address.Is4():
			return Link{}, false // an uplink: what is said there leaves the house
		case !ofTheHouse(address):
			continue // a public IPv6 address, which many machines change each day
		case address.Is4() || address.IsPrivate():
			private = true
		}
		l.Addresses = append(l.Addresses, p)
	}
	sortAddresses(l.Addresses)
	return l, private
}

// virtualPrefixes begin the names of interfaces to containers and virtual machines of this
// box, and of tunnels that look like Ethernet.
const virtualPrefixes = "docker veth virbr vnet lxcbr lxdbr incusbr podman cni flannel cali cilium zt tap ham"

// isVirtual reports whether an interface leads to no network of the household. A bridge of
// Docker is br- and twelve hexadecimal digits; br-lan of a router is no such bridge.
func isVirtual(name string) bool {
	if digits, ok := strings.CutPrefix(name, "br-"); ok && len(digits) == 12 && strings.Trim(digits, "0123456789abcdef") == "" {
		return true
	}
	for prefix := range strings.FieldsSeq(virtualPrefixes) {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// ofTheHouse reports whether an address is of a private network (RFC 1918, RFC 4193) or of
// one link (RFC 3927, RFC 4291).
func ofTheHouse(a netip.Addr) bool { return a.IsPrivate() || a.IsLinkLocalUnicast() }

// sortAddresses puts what a phone reaches best first: private IPv4, IPv4 of one link, private
// IPv6, the rest.
func sortAddresses(addresses []netip.Prefix) {
	sort.Slice(addresses, func(i, j int) bool {
		a, b := addresses[i].Addr(), addresses[j].Addr()
		return cmp.Or(rank(a)-rank(b), a.Compare(b)) < 0
	})
}

func rank(a netip.Addr) int {
	switch {
	case a.Is4() && a.IsPrivate():
		return 0
	case a.Is4() && a.IsLinkLocalUnicast():
		return 1
	case a.Is4():
		return 2
	case a.IsPrivate():
		return 3
	case a.IsLinkLocalUnicast():
		return 5
	}
	return 4
}

// Connected returns the networks that this machine is connected to, with its own address in each: of every
// interface that is up, loopback included.
func Connected() (networks []netip.Prefix, err error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 {
			continue
		}
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil {
				networks = append(networks, netip.PrefixFrom(prefix.Addr().Unmap().WithZone(""), prefix.Bits()))
			}
		}
	}
	return networks, nil
}
