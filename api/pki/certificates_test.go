package pki

import (
	"bytes"
	"context"
	"crypto/tls"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestClientsThatTrustTheAuthorityComeByEveryName(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.open(Config{})
	for _, name := range []string{"gw.local", "gw", "192.168.10.2", "::1"} {
		state := wantMeeting(t, c, client(c.Authority(), name, b.clock))
		if state.Version != tls.VersionTLS13 {
			t.Errorf("%s: version %x", name, state.Version)
		}
	}
	older := client(c.Authority(), "gw", b.clock)
	older.MaxVersion = tls.VersionTLS12
	wantMeeting(t, c, older)
	older.MinVersion, older.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if _, err := meet(t, c, older); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if _, err := meet(t, c, client(c.Authority(), "elsewhere", b.clock)); err == nil {
		t.Error("another name is believed")
	}
	if _, err := meet(t, c, client(newBox(t).open(Config{}).Authority(), "gw", b.clock)); err == nil {
		t.Error("another authority is believed")
	}
}

func TestCertificatesAreKept(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	first := b.open(Config{})
	second := b.open(Config{})
	if first.Fingerprint() != second.Fingerprint() || len(first.Fingerprint()) != 32*3-1 {
		t.Errorf("authority %s, then %s", first.Fingerprint(), second.Fingerprint())
	}
	if !first.server.Leaf.Equal(second.server.Leaf) {
		t.Error("the server certificate is made anew at each start")
	}
	if bytes.Contains(first.Authority(), []byte("PRIVATE")) {
		t.Error("the authority is given away with its key")
	}
	for name, want := range map[string]os.FileMode{"authority.pem": 0o600, "server.pem": 0o600} {
		info, err := os.Stat(filepath.Join(b.dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if strings.Contains(b.log.String(), "PRIVATE") {
		t.Error("the log shows a key")
	}
}

func TestCertificateIsRenewedWhileTheApplianceRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox(t)
		c := b.open(Config{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		trusted := c.Authority()
		before := wantMeeting(t, c, client(trusted, "gw", b.now()))

		b.set(func() { b.clock = b.clock.Add(serverLife - serverRest - time.Hour) })
		time.Sleep(2 * lookEvery)
		if same := wantMeeting(t, c, client(trusted, "gw", b.now())); !same.PeerCertificates[0].Equal(before.PeerCertificates[0]) {
			t.Error("renewed too early")
		}
		b.set(func() { b.clock = b.clock.Add(2 * time.Hour) })
		time.Sleep(2 * lookEvery)
		b.set(func() { b.clock = b.clock.Add(serverRest) })
		wantMeeting(t, c, client(trusted, "gw", b.now()))

		b.set(func() { b.names.Addresses = append(b.names.Addresses, netip.MustParseAddr("10.0.0.9")) })
		time.Sleep(2 * lookEvery)
		wantMeeting(t, c, client(trusted, "10.0.0.9", b.now()))
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestRenewedAuthorityIsTrustedByThoseWhoTrustedTheFormer(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.open(Config{})
	trusted, fingerprint := c.Authority(), c.Fingerprint()
	b.clock = b.clock.Add(authorityLife - authorityRest + day)
	if err := c.renew(); err != nil {
		t.Fatal(err)
	}
	if c.Fingerprint() == fingerprint {
		t.Error("the authority is not renewed")
	}
	wantMeeting(t, c, client(trusted, "gw", b.clock))
	wantMeeting(t, c, client(c.Authority(), "gw", b.clock))
	if b.clock = b.clock.Add(authorityRest + day); c.renew() != nil {
		t.Fatal("not renewed after the former authority's end")
	}
	wantMeeting(t, c, client(c.Authority(), "gw", b.clock))
}

func TestClockThatIsNotSetDoesNoHarm(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	set := b.clock
	b.clock = time.Unix(100, 0)
	c := b.open(Config{})
	trusted := c.Authority()
	wantMeeting(t, c, client(trusted, "gw", epoch().Add(90*day)))
	wantMeeting(t, c, client(trusted, "gw", epoch().Add(-90*day)))

	b.clock = set
	if err := c.renew(); err != nil {
		t.Fatal(err)
	}
	wantMeeting(t, c, client(trusted, "gw", set))

	b.clock = time.Unix(100, 0)
	c = b.open(Config{})
	if err := c.renew(); err != nil {
		t.Fatal(err)
	}
	wantMeeting(t, c, client(trusted, "gw", set))
	b.names.DNS = append(b.names.DNS, "new.local")
	if err := c.renew(); err != nil {
		t.Fatal(err)
	}
	wantMeeting(t, c, client(trusted, "new.local", set))
}

func TestClockThatWasFarAheadDoesNoHarm(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.open(Config{})
	trusted, set := c.Authority(), b.clock
	for _, clock := range []time.Time{set.AddDate(60, 0, 0), set} {
		b.clock = clock
		if err := c.renew(); err != nil {
			t.Fatal(err)
		}
	}
	wantMeeting(t, c, client(trusted, "gw", set))
	wantMeeting(t, c, client(c.Authority(), "gw", set))
}

func TestDamagedFilesAreMovedAside(t *testing.T) {
	t.Parallel()
	for name, wantSame := range map[string]bool{"authority.pem": false, "server.pem": true} {
		b := newBox(t)
		trusted := b.open(Config{}).Authority()
		path := filepath.Join(b.dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range []int{0, 1, len(whole) / 3, len(whole) / 2, len(whole) - 40} {
			b.clock = b.clock.Add(time.Second)
			if err := os.WriteFile(path, whole[:left], 0o600); err != nil {
				t.Fatal(err)
			}
			c := b.open(Config{})
			wantMeeting(t, c, client(c.Authority(), "gw", b.clock))
			if _, err := meet(t, c, client(trusted, "gw", b.clock)); (err == nil) != wantSame {
				t.Errorf("%s, %d of %d bytes left: clients of before say %v", name, left, len(whole), err)
			}
		}
		aside, err := filepath.Glob(path + ".damaged-*")
		if err != nil || len(aside) != 5 || !strings.Contains(b.log.String(), "damaged and has been moved aside") {
			t.Errorf("%s: aside are %q, %v; log:\n%s", name, aside, err, b.log.String())
		}
	}
}

func TestServerCertificateThatCannotBeKeptIsShown(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.open(Config{})
	if err := os.Mkdir(filepath.Join(b.dir, "server.pem.new"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.names.DNS = []string{"other"}
	if err := c.renew(); err != nil {
		t.Fatal(err)
	}
	wantMeeting(t, c, client(c.Authority(), "other", b.clock))
	if !strings.Contains(b.log.String(), "not kept") {
		t.Errorf("the log does not say so:\n%s", b.log.String())
	}
}

func TestAuthorityThatCannotBeKeptIsNotUsed(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	if err := os.Mkdir(filepath.Join(b.dir, "authority.pem.new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: b.dir, Now: b.now}); err == nil {
		t.Error("it starts with an authority that is gone at the next start")
	}
}
