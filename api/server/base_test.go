package server

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"testing"
)

func TestBaseIsTheConfiguredAddressOrThatOfTheListener(t *testing.T) {
	t.Parallel()
	port := func(ip net.IP) net.Addr { return &net.TCPAddr{IP: ip, Port: 8080} }
	for name, c := range map[string]struct {
		configured string
		bound      net.Addr
		want       string
	}{
		"configured":      {"https://sense.example.com/", port(net.IPv4(192, 168, 1, 10)), "https://sense.example.com"},
		"one address":     {"", port(net.IPv4(192, 168, 1, 10)), "http://192.168.1.10:8080"},
		"an IPv6 address": {"", port(net.ParseIP("fd00::1")), "http://[fd00::1]:8080"},
		"loopback":        {"", port(net.IPv4(127, 0, 0, 1)), "http://127.0.0.1:8080"},
	} {
		if got := (Config{BaseURL: c.configured}).Base(c.bound); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestBaseOfAListenerOnEveryAddressIsOneOfTheBox(t *testing.T) {
	t.Parallel()
	for _, ip := range []net.IP{net.IPv4zero, net.IPv6unspecified, nil} {
		u, err := url.Parse((Config{}).Base(&net.TCPAddr{IP: ip, Port: 8080}))
		if err != nil || u.Scheme != "http" || u.Port() != "8080" {
			t.Fatalf("%v, %v", u, err)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !addr.IsPrivate() || err != nil && u.Hostname() != localName() {
			t.Errorf("host %s", u.Hostname())
		}
		if !newHostList(Config{}).allows(u.Host) {
			t.Errorf("%s is refused", u.Host)
		}
	}
}

func TestNameOfTheBaseIsANameOfTheAppliance(t *testing.T) {
	t.Parallel()
	c := Config{BaseURL: "https://Sense.example.com:8443", Hosts: []string{"other"}}
	if got := c.Names(); !slices.Equal(got, []string{"other", "Sense.example.com"}) || !newHostList(c).allows("sense.example.com:8443") {
		t.Errorf("%v", got)
	}
	if got := (Config{Hosts: []string{"other"}}).Names(); !slices.Equal(got, []string{"other"}) {
		t.Errorf("%v", got)
	}
	for base, valid := range map[string]bool{
		"": true, "http://192.168.1.10:8080": true, "https://x.example/": true,
		"x.example": false, "ftp://x": false, "http://u:p@x": false, "http://x/path": false, "http://x/?q": false, "http://": false,
	} {
		c := Defaults()
		c.BaseURL = base
		if err := c.Validate(); (err == nil) != valid {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestHeldNamesAreNamesOfTheAppliance(t *testing.T) {
	t.Parallel()
	held := "sensegate.local"
	hosts := newHostList(Config{Holds: func(name string) bool { return name == held }})
	for host, want := range map[string]bool{"sensegate.local": true, "SenseGate.local.:8080": true, "sensegate-2.local": false, "": true, "evil.example": false} {
		if got := hosts.allows(host); got != want {
			t.Errorf("%q: %t, want %t", host, got, want)
		}
	}
	held = "sensegate-2.local" // after a conflict
	if hosts.allows("sensegate.local") || !hosts.allows("sensegate-2.local:8080") {
		t.Error("names are not those that are held now")
	}
}
