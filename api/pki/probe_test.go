package pki

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// listening has the certificates shown by a listener until the test ends, and returns its address.
func listening(t *testing.T, c *Certificates) net.Addr {
	t.Helper()
	bound, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, c.Listener(bound))
	return bound.Addr()
}

// serve accepts connections, each to its end, until the test ends.
func serve(t *testing.T, listener net.Listener) {
	t.Helper()
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if encrypted, ok := conn.(*tls.Conn); ok {
				_ = encrypted.HandshakeContext(t.Context())
			}
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
}

// results writes checks as one word each, those that failed with what they say.
func results(checks []Check) string {
	var all []string
	for _, c := range checks {
		word := c.Code
		if !c.OK {
			word += " FAILS"
		}
		if len(c.Text) < 30 || !strings.HasSuffix(c.Text, ".") {
			word += fmt.Sprintf(" says %q", c.Text)
		}
		all = append(all, word)
	}
	return strings.Join(all, ", ")
}

const allRight = "listens, certificate_valid, chain, names, clock"

func TestProbeOfTheOwnCertificate(t *testing.T) {
	t.Parallel()
	made := time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)
	told := []string{"192.168.10.2", "gw.local"}
	for name, test := range map[string]struct {
		told  []string
		now   time.Time
		built time.Time
		want  string
		says  string
	}{
		"all is right":            {told, made, made.Add(-time.Hour), allRight, "3 March 2028"},
		"nobody is told anything": {nil, made, made.Add(-time.Hour), allRight, "no name"},
		"a name that is new":      {append(told, "new.example"), made, made.Add(-time.Hour), "listens, certificate_valid, chain, names FAILS, clock", "not for new.example"},
		"it has ended":            {told, made.AddDate(2, 0, 0), made, "listens, certificate_valid FAILS, chain, names, clock", "ended on"},
		"it begins later":         {told, made.AddDate(-2, 0, 0), made.AddDate(-3, 0, 0), "listens, certificate_valid FAILS, chain, names, clock", "not valid before"},
		"the clock is not set":    {told, time.Unix(3600, 0), made, "listens, certificate_valid FAILS, chain, names, clock FAILS", "time server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			c := b.open(Config{})
			address := listening(t, c)
			b.set(func() { b.clock = test.now })
			checks := c.Probe(t.Context(), OnThisBox(address), test.told, test.built)
			if got := results(checks); got != test.want || !strings.Contains(fmt.Sprint(checks), test.says) {
				t.Errorf("got %s: %+v\nwant %s, and %q", got, checks, test.want, test.says)
			}
		})
	}
}

func TestProbeOfASuppliedCertificate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		known bool
		told  []string
		want  string
		says  string
	}{
		"from a known authority": {true, []string{"192.168.10.2", "sense.example"}, allRight, "browsers warn at 192.168.10.2"},
		"for its name alone":     {true, []string{"sense.example"}, allRight, "every name"},
		"for another name":       {true, []string{"192.168.10.2", "gw.local"}, "listens, certificate_valid, chain, names FAILS, clock", "is for sense.example"},
		"from an unknown one":    {false, []string{"sense.example"}, "listens, certificate_valid, chain FAILS, names, clock", "issued by \"sensegate CA"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			dir := t.TempDir()
			files := Config{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
			authority := supply(t, files, "sense.example")
			c := b.open(files)
			c.options.Roots = x509.NewCertPool()
			if test.known && !c.options.Roots.AppendCertsFromPEM(authority) {
				t.Fatal("no authority")
			}
			if s := c.State(); s.Own || fmt.Sprint(s.Names) != "[sense.example]" || !s.Covers("sense.example") || s.Covers("gw.local") {
				t.Errorf("state: %+v", s)
			}
			checks := c.Probe(t.Context(), OnThisBox(listening(t, c)), test.told, b.clock)
			if got := results(checks); got != test.want || !strings.Contains(fmt.Sprint(checks), test.says) {
				t.Errorf("got %s: %+v\nwant %s, and %q", got, checks, test.want, test.says)
			}
		})
	}
}

// TestProbeSaysThatTheSuppliedCertificateIsNotShown: the appliance shows its own in its place.
func TestProbeSaysThatTheSuppliedCertificateIsNotShown(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.open(Config{Certificate: filepath.Join(t.TempDir(), "missing.pem"), Key: filepath.Join(t.TempDir(), "missing.pem")})
	checks := c.Probe(t.Context(), OnThisBox(listening(t, c)), []string{"gw.local"}, b.clock)
	if got := results(checks); got != "listens, certificate_valid, chain FAILS, names, clock" || !strings.Contains(fmt.Sprint(checks), "tls.certificate") {
		t.Errorf("%s: %+v", got, checks)
	}
}

func TestProbeWithoutAListener(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.open(Config{})
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, plain)
	for address, says := range map[string]string{"": "http.tls_listen", gone.Addr().String(): "Nothing answers", plain.Addr().String(): "Nothing answers encrypted"} {
		checks := c.Probe(t.Context(), address, []string{"gw.local"}, b.clock)
		if got := results(checks); got != "listens FAILS, clock" || !strings.Contains(checks[0].Text, says) {
			t.Errorf("%q: %s: %+v", address, got, checks)
		}
	}
}

func TestListenersAreReachedOnThisBox(t *testing.T) {
	t.Parallel()
	for want, listener := range map[string]net.Addr{
		"":                  nil,
		"127.0.0.1:8443":    &net.TCPAddr{IP: net.IPv6unspecified, Port: 8443},
		"127.0.0.1:443":     &net.TCPAddr{IP: net.IPv4zero, Port: 443},
		"192.168.10.2:8443": &net.TCPAddr{IP: net.ParseIP("192.168.10.2"), Port: 8443},
		"[fd00::2]:8443":    &net.TCPAddr{IP: net.ParseIP("fd00::2"), Port: 8443},
	} {
		if got := OnThisBox(listener); got != want {
			t.Errorf("%v: %q, want %q", listener, got, want)
		}
	}
}
