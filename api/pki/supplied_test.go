package pki

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// supply writes the certificate of another authority, for a name, as its owner would.
func supply(t *testing.T, files Config, name string) (authority []byte) {
	t.Helper()
	b := newBox(t)
	b.names = Names{DNS: []string{name}}
	b.open(Config{})
	raw, err := os.ReadFile(filepath.Join(b.dir, "server.pem"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{files.Certificate, files.Key} {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return b.open(Config{}).Authority()
}

func TestSuppliedCertificateIsReloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox(t)
		files := Config{Certificate: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem")}
		first := supply(t, files, "sense.example")
		c := b.open(files)
		wantMeeting(t, c, client(first, "sense.example", b.clock))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()

		second := supply(t, files, "home.example")
		wantMeeting(t, c, client(first, "sense.example", b.clock))
		c.Reload()
		c.Reload()
		synctest.Wait()
		wantMeeting(t, c, client(second, "home.example", b.clock))

		if err := os.WriteFile(files.Key, []byte("half a key"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.Reload()
		synctest.Wait()
		wantMeeting(t, c, client(second, "home.example", b.clock))
		stop()
		<-ended
		if !strings.Contains(b.log.String(), "cannot be used") || strings.Contains(b.log.String(), "half a key") {
			t.Errorf("log:\n%s", b.log.String())
		}
	})
}

func TestBrokenSuppliedCertificateDoesNotStopTheStart(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.open(Config{Certificate: filepath.Join(b.dir, "none.pem"), Key: filepath.Join(b.dir, "none.pem")})
	wantMeeting(t, c, client(c.Authority(), "gw", b.clock))
	if !strings.Contains(b.log.String(), "cannot be used") {
		t.Errorf("the log does not say so:\n%s", b.log.String())
	}
}

func TestReloadWithoutSuppliedCertificateChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.open(Config{})
	before := c.shown.Load()
	c.load()
	if c.shown.Load() != before {
		t.Error("another certificate is shown")
	}
}

func TestHalfAPairIsAMistake(t *testing.T) {
	t.Parallel()
	for want, config := range map[string]Config{
		"":            {},
		"key":         {Certificate: "a.pem"},
		"certificate": {Key: "a.pem"},
	} {
		if err := config.Validate(); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want+": ") {
			t.Errorf("%+v: %v", config, err)
		}
	}
	if err := (Config{Certificate: "a.pem", Key: "b.pem"}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestServerCertificateIsTakenByStrictClients(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	leaf := b.open(Config{}).server.Leaf
	if life := leaf.NotAfter.Sub(leaf.NotBefore); life > 825*day {
		t.Errorf("valid for %s in all: phones refuse more than 825 days", life)
	}
	if len(leaf.Raw) > 1024 || len(leaf.ExtKeyUsage) != 1 || leaf.IsCA {
		t.Errorf("%d bytes, usages %v, authority %t", len(leaf.Raw), leaf.ExtKeyUsage, leaf.IsCA)
	}
}
