package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// hostList says which names the appliance answers to. A page of a foreign name
// that was pointed at our address (DNS rebinding) carries that name in Host, so
// it is refused; an IP literal cannot be rebound, so any is accepted.
type hostList map[string]bool

func newHostList(configured []string) hostList {
	hosts := hostList{"localhost": true}
	if name, err := os.Hostname(); err == nil {
		name, _, _ = strings.Cut(strings.ToLower(name), ".")
		hosts[name] = true
		hosts[name+".local"] = true
	}
	for _, name := range configured {
		hosts[strings.ToLower(strings.TrimSuffix(name, "."))] = true
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
	return h[name]
}

// sameOrigin reports whether a websocket may be opened by the page that asks for
// it: one of ours, or of an allowed name. Programs send no Origin.
func (h hostList) sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	return strings.EqualFold(u.Host, r.Host) || h[hostName(u.Host)]
}

// hostName strips the port, the brackets of an IPv6 literal and a final dot.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func wrongHost(host string) *Problem {
	return newProblem(http.StatusMisdirectedRequest, "wrong_host",
		hostName(host)+" is not a name of this appliance; add it to http.hosts in the configuration")
}
