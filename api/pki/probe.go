package pki

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"time"
)

// State is the certificate that clients are shown.
type State struct {
	Own   bool // it is from the appliance's own authority; false: the owner supplied it
	Ends  time.Time
	Names []string // the host names and then the addresses that it is for

	leaf *x509.Certificate
}

// Covers reports whether clients that come by a host name or an address accept the certificate.
func (s State) Covers(host string) bool { return s.leaf.VerifyHostname(host) == nil }

// State returns the certificate that clients are shown now.
func (c *Certificates) State() State { return c.stateOf(c.shown.Load().Leaf) }

func (c *Certificates) stateOf(leaf *x509.Certificate) State {
	s := State{Own: leaf.CheckSignatureFrom(c.trust.Load().Leaf) == nil, Ends: leaf.NotAfter, leaf: leaf}
	s.Names = append(s.Names, leaf.DNSNames...)
	for _, address := range leaf.IPAddresses {
		s.Names = append(s.Names, address.String())
	}
	return s
}

// Check is one thing about the encrypted connection that was checked, in words for a person: what
// was found and, where it is wrong, what to do.
type Check struct {
	Code string // listens, certificate_valid, chain, names or clock
	OK   bool
	Text string
}

// probeTime is how long the connection of a probe may take.
const probeTime = 5 * time.Second

// Probe connects to the listener at an address ("": there is none) as a client would and returns
// what such a client finds. told are the names and addresses that people are told, built is when
// the program was built. What only a connection can tell is left out when there is none.
func (c *Certificates) Probe(ctx context.Context, address string, told []string, built time.Time) []Check {
	now := c.options.Now()
	if address == "" {
		return []Check{
			{"listens", false, "Encrypted pages are switched off. Set http.tls_listen in the configuration, such as :8443, and start the appliance again."},
			checkClock(now, built),
		}
	}
	chain, err := shownAt(ctx, address)
	if err != nil {
		return []Check{
			{"listens", false, fmt.Sprintf("Nothing answers encrypted at %s of this box: %v. Start the appliance again; if that does not help, its log says more.", address, err)},
			checkClock(now, built),
		}
	}
	return []Check{
		{"listens", true, fmt.Sprintf("The box answers encrypted at %s.", address)},
		c.checkDates(chain[0], now), c.checkChain(chain, now), c.checkNames(chain[0], told), checkClock(now, built),
	}
}

// shownAt returns the certificates that a listener shows, whatever they are: Probe verifies them
// one thing after the other.
func shownAt(ctx context.Context, address string) ([]*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	shown := conn.(*tls.Conn).ConnectionState().PeerCertificates
	return shown, conn.Close()
}

func checkClock(now, built time.Time) Check {
	if now.Before(built) {
		return Check{"clock", false, fmt.Sprintf("The clock of the box says %s, which is before this program was made. Connect the box to a time server (NTP), or set its clock.", dated(now))}
	}
	return Check{"clock", true, fmt.Sprintf("The clock of the box says %s UTC.", now.UTC().Format("2 January 2006, 15:04"))}
}

func (c *Certificates) checkDates(leaf *x509.Certificate, now time.Time) Check {
	const code = "certificate_valid"
	switch own := c.stateOf(leaf).Own; {
	case now.Before(leaf.NotBefore):
		return Check{code, false, fmt.Sprintf("The certificate is not valid before %s, and the clock of the box says %s. Look whether the clock is right.", dated(leaf.NotBefore), dated(now))}
	case now.After(leaf.NotAfter) && own:
		return Check{code, false, fmt.Sprintf("The certificate ended on %s. The box renews it by itself: its log says why it could not.", dated(leaf.NotAfter))}
	case now.After(leaf.NotAfter):
		return Check{code, false, fmt.Sprintf("The certificate ended on %s. Renew the files of tls.certificate, and start the appliance again or send it SIGHUP.", dated(leaf.NotAfter))}
	}
	return Check{code, true, fmt.Sprintf("The certificate is valid until %s.", dated(leaf.NotAfter))}
}

func dated(t time.Time) string { return t.UTC().Format("2 January 2006") }

// checkChain verifies where the certificate comes from, as of a time when it is valid: dates are
// checked beside.
func (c *Certificates) checkChain(chain []*x509.Certificate, now time.Time) Check {
	const code = "chain"
	leaf, own := chain[0], c.stateOf(chain[0]).Own
	options := x509.VerifyOptions{Roots: c.options.Roots, Intermediates: x509.NewCertPool(), CurrentTime: within(leaf, now)}
	for _, more := range chain[1:] {
		options.Intermediates.AddCert(more)
	}
	if own {
		options.Roots = x509.NewCertPool()
		options.Roots.AddCert(c.trust.Load().Leaf)
	}
	_, err := leaf.Verify(options)
	switch {
	case own && c.options.Supplied.Certificate != "":
		return Check{code, false, "The certificate that tls.certificate names cannot be used, and the box shows one of its own in its place. Its log says why."}
	case own && err != nil:
		return Check{code, false, fmt.Sprintf("The certificate does not follow from the authority of the box: %v. Start the appliance again.", err)}
	case own:
		return Check{code, true, "The certificate is from the authority of this box. Browsers accept it on each device that trusts the authority: install /ca.pem there once."}
	case err != nil:
		return Check{code, false, fmt.Sprintf("This box cannot follow the certificate to an authority that it knows: %v. It was issued by %s. Put the certificates that lead to its authority behind it in the file of tls.certificate. "+
			"Where the authority is your own, this is as it should be on devices that trust it.", err, issuer(leaf))}
	}
	return Check{code, true, fmt.Sprintf("The certificate was issued by %s, which leads to an authority that this system trusts, as browsers do.", issuer(leaf))}
}

// within returns now, or the nearest time at which a certificate is valid.
func within(leaf *x509.Certificate, now time.Time) time.Time {
	switch {
	case now.Before(leaf.NotBefore):
		return leaf.NotBefore
	case now.After(leaf.NotAfter):
		return leaf.NotAfter
	}
	return now
}

func issuer(leaf *x509.Certificate) string {
	if name := leaf.Issuer.CommonName; name != "" {
		return fmt.Sprintf("%.80q", name)
	}
	return fmt.Sprintf("%.80q", leaf.Issuer.String())
}

// checkNames compares the certificate with what people are told. One of the appliance is for all of
// it. A supplied one need not be: it is enough when people can come by one of the names.
func (c *Certificates) checkNames(leaf *x509.Certificate, told []string) Check {
	const code = "names"
	shown := c.stateOf(leaf)
	var covered, missing []string
	for _, host := range told {
		if shown.Covers(host) {
			covered = append(covered, host)
		} else {
			missing = append(missing, host)
		}
	}
	missed, taken := strings.Join(missing, ", "), strings.Join(covered, ", ")
	switch {
	case len(missing) == 0 && len(told) == 0:
		return Check{code, true, "The box has no name and no address in a private network that people could be told."}
	case len(missing) == 0:
		return Check{code, true, fmt.Sprintf("The certificate is for every name and address of the box: %s.", taken)}
	case shown.Own:
		return Check{code, false, fmt.Sprintf("The certificate is not for %s. The box makes another one within a minute: test again then.", missed)}
	case len(covered) == 0:
		return Check{code, false, fmt.Sprintf("The certificate is for %s, and people come by %s, where browsers warn. Use a name of the certificate and list it in http.hosts, or have a certificate made for these.",
			strings.Join(shown.Names, ", "), missed)}
	}
	return Check{code, true, fmt.Sprintf("The certificate is for %s. Come by that: browsers warn at %s.", taken, missed)}
}

// hostOf is the host of an address that a listener is reached at from the box itself.
func hostOf(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || tcp.IP.IsUnspecified() {
		return "127.0.0.1"
	}
	return tcp.IP.String()
}

// OnThisBox returns the address at which this machine itself reaches a listener, "" for nil.
func OnThisBox(listener net.Addr) string {
	if listener == nil {
		return ""
	}
	_, port, err := net.SplitHostPort(listener.String())
	if err != nil {
		return ""
	}
	return net.JoinHostPort(hostOf(listener), port)
}
