package appliance

import (
	"net"
	"net/url"
)

// brokerHere returns the address of the broker for other devices, at the host by which they know the
// appliance; "" when it listens nowhere.
func (a *Appliance) brokerHere() string {
	scheme, at := "mqtt", a.broker.Addr()
	if at == nil {
		scheme, at = "mqtts", a.broker.TLSAddr()
	}
	own, err := url.Parse(a.base)
	if at == nil || err != nil {
		return ""
	}
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return ""
	}
	return scheme + "://" + net.JoinHostPort(own.Hostname(), port)
}
