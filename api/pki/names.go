package pki

import (
	"cmp"
	"crypto/x509"
	"net"
	"net/netip"
	"os"
	"slices"
	"sort"
	"strings"
)

// maxNames bounds the names, and the addresses, of one certificate: each handshake
// carries them.
const maxNames = 32

// Names are the host names, in lower case, and the addresses of the machine.
type Names struct {
	DNS       []string
	Addresses []netip.Addr
}

// HostNames returns the names of this machine now: its host name, <host name>.local,
// localhost, those configured (which may be addresses), its own IPv4 addresses and private
// IPv6 addresses, and loopback. Public IPv6 addresses are left out: many machines take a new
// one each day.
func HostNames(configured []string) Names {
	var n Names
	if name, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(name, ".")
		n.add(short+".local", short, name)
	}
	n.add("localhost")
	n.add(configured...)
	n.address(netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1"))
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		interfaces = nil // only the names are left
	}
	var own []netip.Addr
	for _, address := range interfaces {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil && ofTheHouse(prefix.Addr().Unmap()) {
			own = append(own, prefix.Addr().Unmap())
		}
	}
	sort.Slice(own, func(i, j int) bool {
		return cmp.Or(preference(own[i])-preference(own[j]), own[i].Compare(own[j])) < 0
	})
	n.address(own...)
	return n
}

// ofTheHouse reports whether clients on the local network may use an address.
func ofTheHouse(a netip.Addr) bool { return !a.IsLoopback() && (a.Is4() || a.IsPrivate()) }

// preference orders addresses for the case that there are too many.
func preference(a netip.Addr) int {
	switch {
	case a.Is4() && a.IsPrivate():
		return 0
	case a.IsPrivate():
		return 1
	}
	return 2
}

// add adds names, or addresses in words, that can stand in a certificate.
func (n *Names) add(names ...string) {
	for _, name := range names {
		if a, err := netip.ParseAddr(name); err == nil {
			n.address(a.Unmap().WithZone(""))
			continue
		}
		name = strings.ToLower(strings.TrimSuffix(name, "."))
		if isHostName(name) && !slices.Contains(n.DNS, name) && len(n.DNS) < maxNames {
			n.DNS = append(n.DNS, name)
		}
	}
}

func (n *Names) address(all ...netip.Addr) {
	for _, a := range all {
		if !slices.Contains(n.Addresses, a) && len(n.Addresses) < maxNames {
			n.Addresses = append(n.Addresses, a)
		}
	}
}

// isHostName reports whether clients can compare a name with one in a certificate (RFC 1123
// section 2.1, and the underscore that some devices have in theirs).
func isHostName(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// first returns the name that stands for all.
func (n Names) first() string {
	if len(n.DNS) == 0 || len(n.DNS[0]) > 64 { // the longest common name (RFC 5280 appendix A.1)
		return "sensegate"
	}
	return n.DNS[0]
}

func (n Names) addresses() []net.IP {
	all := make([]net.IP, len(n.Addresses))
	for i, a := range n.Addresses {
		all[i] = a.AsSlice()
	}
	return all
}

// coveredBy reports whether a certificate has all names.
func (n Names) coveredBy(c *x509.Certificate) bool {
	for _, name := range n.DNS {
		if !slices.Contains(c.DNSNames, name) {
			return false
		}
	}
	for _, ip := range n.addresses() {
		if !slices.ContainsFunc(c.IPAddresses, ip.Equal) {
			return false
		}
	}
	return true
}
