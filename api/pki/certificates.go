// Package pki keeps the certificates that the appliance shows over TLS: an
// authority of its own, made at the first start, a certificate for the names and
// addresses of the box, renewed by itself, or one that the owner supplies.
//
// Files in its directory, readable by their owner only, each the certificate and
// then its private key as PEM (RFC 7468): authority.pem and server.pem.
//
// It knows nothing of what is spoken over TLS: no HTTP, no MQTT, no configuration
// but the two paths of the owner's certificate.
package pki

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"sensegate/store/durable"
)

// lookEvery is how often names, addresses and dates are checked.
const lookEvery = time.Minute

// Options say where certificates are kept and what they are for.
type Options struct {
	Dir      string         // made when it is not there
	Supplied Config         // the owner's certificate
	Roots    *x509.CertPool // authorities that the owner's certificate may come from, for Probe; nil: those of the system
	Names    func() Names   // what the box is reached by now
	Now      func() time.Time
	Log      *slog.Logger
}

// Certificates are the certificates of the appliance. All methods may be called
// concurrently, Run once.
type Certificates struct {
	options Options
	slots   chan struct{}
	reload  chan struct{}

	shown  atomic.Pointer[tls.Certificate] // to clients
	trust  atomic.Pointer[tls.Certificate] // the authority
	server *tls.Certificate                // our own; Open's and Run's
	owners *tls.Certificate                // supplied, nil without; Open's and Run's
	wrong  string                          // the error that was logged last
}

// Open reads the certificates and makes those that are missing. A damaged file is moved aside
// and made again, which is logged. When the owner's certificate cannot be used, Open logs that
// and the appliance's own is shown instead.
func Open(o Options) (*Certificates, error) {
	c := &Certificates{options: o, slots: newSlots(), reload: make(chan struct{}, 1)}
	err := os.MkdirAll(o.Dir, 0o700)
	if err == nil { // a power cut must not take an authority that somebody trusts
		err = durable.SyncDirectory(filepath.Dir(o.Dir))
	}
	if err != nil {
		return nil, fmt.Errorf("make directory of certificates: %w", err)
	}
	if err := c.openAuthority(); err != nil {
		return nil, err
	}
	server, err := c.read("server.pem")
	if err != nil {
		return nil, err
	}
	c.server = server
	if err := c.renew(); err != nil {
		return nil, err
	}
	c.load()
	return c, nil
}

// openAuthority reads the authority, or makes it.
func (c *Certificates) openAuthority() error {
	authority, err := c.read("authority.pem")
	if err != nil {
		return err
	}
	if authority != nil {
		c.trust.Store(authority)
		return nil
	}
	return c.makeAuthority(nil)
}

// makeAuthority makes the first authority, or the one that follows former. One that cannot be
// written is not used: nobody should trust an authority that the next restart replaces.
func (c *Certificates) makeAuthority(former *tls.Certificate) error {
	authority, err := newAuthority(former, c.options.Now())
	if err != nil {
		return err
	}
	if err := writePair(c.path("authority.pem"), authority); err != nil {
		return err
	}
	c.trust.Store(authority)
	c.options.Log.Info("certificate authority made", "sha256", c.Fingerprint(), "until", authority.Leaf.NotAfter)
	return nil
}

func (c *Certificates) path(name string) string { return filepath.Join(c.options.Dir, name) }

// read returns what a file holds, nil when it is not there or has been moved aside.
func (c *Certificates) read(name string) (*tls.Certificate, error) {
	path := c.path(name)
	pair, err := readPair(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case errors.Is(err, errDamaged):
		aside, moved := durable.MoveAside(path, c.options.Now())
		if moved != nil {
			return nil, moved
		}
		c.options.Log.Error("certificate file is damaged and has been moved aside, a new one is made; "+
			"after a new authority.pem, clients have to be given the new ca.pem", "file", path, "aside", aside, "err", err)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	return pair, nil
}

// renew renews the authority when it expires soon, and the server certificate when that is
// due.
func (c *Certificates) renew() error {
	now := c.options.Now()
	if authority := c.trust.Load(); isSet(now) && now.Add(authorityRest).After(authority.Leaf.NotAfter) {
		if err := c.makeAuthority(authority); err != nil {
			return err
		}
	}
	authority, names := c.trust.Load(), c.options.Names()
	reason, made := "none yet", time.Time{}
	if c.server != nil {
		reason, made = due(c.server, authority, names, now), madeAt(c.server)
	}
	if reason == "" {
		return nil
	}
	server, err := newServer(authority, names, now, made)
	if err != nil {
		return err
	}
	c.server = server
	c.show()
	c.options.Log.Info("server certificate made", "reason", reason, "until", server.Leaf.NotAfter, "names", names.DNS, "addresses", names.Addresses)
	if err := writePair(c.path("server.pem"), server); err != nil {
		// it is used until the next start, which makes another
		c.options.Log.Warn("server certificate not kept", "err", err)
	}
	return nil
}

// load reads the owner's certificate. When it cannot be used, the one before stays.
func (c *Certificates) load() {
	if s := c.options.Supplied; s.Certificate != "" {
		pair, err := s.pair()
		if err != nil {
			c.options.Log.Error("certificate of the owner cannot be used, the former one is shown", "file", s.Certificate, "err", err)
		} else {
			c.owners = &pair
			c.options.Log.Info("certificate of the owner loaded", "file", s.Certificate, "until", pair.Leaf.NotAfter,
				"names", pair.Leaf.DNSNames, "addresses", pair.Leaf.IPAddresses)
		}
	}
	c.show()
}

func (c *Certificates) show() {
	if c.owners != nil {
		c.shown.Store(c.owners)
		return
	}
	c.shown.Store(c.server)
}

// Run renews certificates that are due, each minute, and reads the owner's certificate again
// after Reload, until ctx ends. It returns nil.
func (c *Certificates) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.reload:
			c.load()
		case <-tick.C:
			c.complain(c.renew())
		}
	}
}

// complain logs an error once while it lasts.
func (c *Certificates) complain(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != c.wrong {
		c.options.Log.Error("certificates cannot be renewed", "err", err)
	}
	c.wrong = text
}

// Reload makes Run read the owner's certificate again, if one is configured. It does not wait.
func (c *Certificates) Reload() {
	select {
	case c.reload <- struct{}{}:
	default: // it is about to be read
	}
}

// Authority returns the certificate of the authority as PEM, for clients to trust.
// It holds no key.
func (c *Certificates) Authority() []byte { return certificatePEM(c.trust.Load()) }

// Fingerprint returns the SHA-256 of the authority's certificate, as 32 bytes in
// upper-case hexadecimal with colons between, the form that other tools show.
func (c *Certificates) Fingerprint() string {
	sum := sha256.Sum256(c.trust.Load().Leaf.Raw)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum), " ", ":")
}
