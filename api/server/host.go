package server

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"sensegate/api"
)

// hostList says which names the appliance answers to. A page of a foreign name
// that was pointed at our address (DNS rebinding) carries that name in Host, so
// it is refused; an IP literal cannot be rebound, so any is accepted.
type hostList struct {
	names map[string]bool
	holds func(string) bool // whether a name is one that was announced on the local network; nil: none is
}

func newHostList(c Config) hostList {
	name := localName()
	hosts := hostList{map[string]bool{"localhost": true, name: true, strings.TrimSuffix(name, ".local"): true}, c.Holds}
	for _, name := range c.Names() {
		hosts.names[strings.ToLower(strings.TrimSuffix(name, "."))] = true
	}
	return hosts
}

// allows reports whether host, with or without a port, names this appliance.
// HTTP/1.0 clients send none; browsers always do.
func (h hostList) allows(host string) bool {
	name := hostName(host)
	if name == "" {
		return host == ""
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return h.names[name] || h.holds != nil && h.holds(name)
}

// hostName strips the port, the brackets of an IPv6 literal and a final dot.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func wrongHost(host string) error {
	return api.NewProblem(http.StatusMisdirectedRequest, "wrong_host",
		hostName(host)+" is not a name of this appliance; add it to http.hosts in the configuration")
}
