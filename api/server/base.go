package server

import (
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"sensegate/api/lan"
)

// Base returns the address that links in mails begin with, such as
// http://192.168.11.20:8080: the configured one; else the address that the listener is
// bound to; else its private address on the interface with the default route, or its first
// one; else its name on the local network. It does not depend on a request.
func (c Config) Base(bound net.Addr) string {
	if c.BaseURL != "" {
		return strings.TrimRight(c.BaseURL, "/")
	}
	tcp, ok := bound.(*net.TCPAddr)
	if !ok {
		return "http://" + localName()
	}
	host := localName()
	ip, ok := netip.AddrFromSlice(tcp.IP)
	if ip = ip.Unmap(); ok && !ip.IsUnspecified() {
		host = ip.String()
	} else if reached := lan.Addresses(ip); len(reached) > 0 && reached[0].Is4() {
		host = reached[0].String()
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}

// Names returns the configured names of the appliance, that of BaseURL included.
func (c Config) Names() []string {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Hostname() == "" {
		return c.Hosts
	}
	return append(slices.Clone(c.Hosts), u.Hostname())
}

// isBase reports whether text is an address without path, query and user.
func isBase(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}

// localName returns the name of the appliance on the local network.
func localName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	return name + ".local"
}
