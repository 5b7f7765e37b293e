package pki

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestHostNamesAreThoseOfTheBoxAndTheConfigured(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, _, _ := strings.Cut(strings.ToLower(host), ".")
	n := HostNames([]string{"Sense.Example.", "10.11.12.13", "höme", "a b", "-", strings.Repeat("x", 64)})
	for _, want := range []string{short, short + ".local", "localhost", "sense.example"} {
		if !slices.Contains(n.DNS, want) {
			t.Errorf("%s is missing in %q", want, n.DNS)
		}
	}
	for _, want := range []string{"127.0.0.1", "::1", "10.11.12.13"} {
		if !slices.Contains(n.Addresses, netip.MustParseAddr(want)) {
			t.Errorf("%s is missing in %v", want, n.Addresses)
		}
	}
	for _, name := range n.DNS {
		if strings.ContainsAny(name, "ö ") || len(name) > 63 {
			t.Errorf("%q stands in a certificate", name)
		}
	}
}

func TestNamesOfOneCertificateAreBounded(t *testing.T) {
	t.Parallel()
	var n Names
	for i := range 200 {
		n.add(fmt.Sprintf("host-%d", i), fmt.Sprintf("10.0.0.%d", i), fmt.Sprintf("10.0.0.%d", i))
	}
	if len(n.DNS) != maxNames || len(n.Addresses) != maxNames {
		t.Errorf("%d names, %d addresses", len(n.DNS), len(n.Addresses))
	}
}

func TestNamesThatHaveGoneNeedNoNewCertificate(t *testing.T) {
	t.Parallel()
	have := &x509.Certificate{DNSNames: []string{"a", "b"}, IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1), net.IPv6loopback}}
	var n Names
	n.add("a", "10.0.0.1", "::ffff:10.0.0.1", "::1")
	if !n.coveredBy(have) || len(n.Addresses) != 2 {
		t.Errorf("%+v is not covered", n)
	}
	for _, more := range []string{"c", "10.0.0.2"} {
		with := n
		with.add(more)
		if with.coveredBy(have) {
			t.Errorf("%s is covered", more)
		}
	}
}
