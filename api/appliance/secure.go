package appliance

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"

	"sensegate/api/box"
	"sensegate/api/lan"
	"sensegate/api/pki"
	"sensegate/motion"
)

// secured says how the household reaches the appliance encrypted.
func (a *Appliance) secured() box.Secure {
	shown := a.certs.State()
	s := box.Secure{Own: shown.Own, Authority: a.certs.Fingerprint(), Ends: motion.TimeOf(shown.Ends), Names: shown.Names}
	if port := portOf(a.http.TLSAddr()); port != 0 {
		if host := bestHost(shown, a.told()); host != "" {
			s.Page = "https://" + net.JoinHostPort(host, strconv.Itoa(port)) + "/"
		}
	}
	return s
}

// told returns the addresses and then the names at which people come to the encrypted listener.
func (a *Appliance) told() []string {
	bound := boundTo(a.http.TLSAddr())
	if bound.IsLoopback() {
		return []string{bound.String()}
	}
	var hosts []string
	for _, address := range lan.Addresses(bound) {
		hosts = append(hosts, address.String())
	}
	for _, name := range slices.Concat(a.announced(), a.config.HTTP.Names()) {
		if !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

// bestHost returns the host that is best told to somebody: one that browsers accept the certificate
// for, of those told or else one of its own; without any, the first of those told.
func bestHost(shown pki.State, told []string) string {
	for _, host := range told {
		if shown.Covers(host) {
			return host
		}
	}
	for _, name := range shown.Names {
		if !shown.Own && !strings.HasPrefix(name, "*") {
			return name
		}
	}
	return strings.Join(told[:min(1, len(told))], "")
}

// probe tries the encrypted connection.
func (a *Appliance) probe(ctx context.Context) (checks []box.SecureCheck) {
	for _, c := range a.certs.Probe(ctx, pki.OnThisBox(a.http.TLSAddr()), a.told(), box.ThisBuild().Time().Std()) {
		checks = append(checks, box.SecureCheck(c))
	}
	return checks
}
