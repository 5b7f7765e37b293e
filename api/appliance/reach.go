package appliance

import (
	"context"
	"net"
	"net/netip"
	"os"
	"time"

	"sensegate/api/box"
	"sensegate/api/lan"
	"sensegate/api/mdns"
)

// announce returns what announces the appliance on the local network, once its ports are
// bound.
func (a *Appliance) announce() *mdns.Responder {
	if !a.config.HTTP.MDNS {
		return mdns.Off("http.mdns is false")
	}
	bound := boundTo(a.http.Addr())
	if bound.IsLoopback() {
		return mdns.Off("http.listen is of this box alone: " + a.http.Addr().String())
	}
	host, err := os.Hostname()
	if err != nil {
		host = "" // the name of the product is left
	}
	return mdns.New(mdns.Options{
		Host: host, Bound: bound, Interfaces: a.config.HTTP.MDNSInterfaces,
		Port: uint16(portOf(a.http.Addr())), TLSPort: uint16(portOf(a.http.TLSAddr())),
	}, a.log)
}

// boundTo returns the IP address that a listener is bound to.
func boundTo(address net.Addr) netip.Addr {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip, _ := netip.AddrFromSlice(tcp.IP)
	return ip.Unmap()
}

// announced returns the names that lead here on the local network; the certificates, which are
// made before the ports are bound, get them later.
func (a *Appliance) announced() []string {
	if a.names == nil {
		return nil
	}
	return a.names.State().Names
}

// holds reports whether a name is one of announced.
func (a *Appliance) holds(name string) bool { return a.names != nil && a.names.Holds(name) }

// reach says how the household reaches the appliance now.
func (a *Appliance) reach() box.Reach {
	bound, names := boundTo(a.http.Addr()), a.names.State()
	reach := box.Reach{
		Port: portOf(a.http.Addr()), Alone: bound.IsLoopback(),
		Names: names.Names, Interfaces: names.Interfaces, Nameless: names.Why,
	}
	for _, address := range lan.Addresses(bound) {
		reach.Addresses = append(reach.Addresses, address.String())
	}
	return reach
}

// nameTime is how long the names are waited for before the setup code is shown.
const nameTime = 3 * time.Second

// Setup returns what the first person needs to begin, once the running appliance knows its
// names, ctx ends, or a few seconds are over.
func (a *Appliance) Setup(ctx context.Context, code string) box.Setup {
	patience := time.NewTimer(nameTime)
	defer patience.Stop()
	select {
	case <-a.names.Settled():
	case <-patience.C:
	case <-ctx.Done():
	}
	return box.Setup{Code: code, Reach: a.reach()}
}

// httpPorts returns the ports of HTTP and https.
func (a *Appliance) httpPorts() (ports []string) {
	for _, at := range []net.Addr{a.http.Addr(), a.http.TLSAddr()} {
		if at == nil {
			continue
		}
		if _, port, err := net.SplitHostPort(at.String()); err == nil {
			ports = append(ports, port)
		}
	}
	return ports
}
