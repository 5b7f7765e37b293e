package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"time"
)

const (
	day = 24 * time.Hour
	// authorityLife is how long the authority is valid from when it was made.
	authorityLife = 3650 * day
	// authorityRest is what is left of the authority when it is renewed.
	authorityRest = 730 * day
	// serverLife is how long a server certificate is valid after it was made, and
	// before: clients whose clock is late take it. Some refuse more than 825 days in all.
	serverLife = 365 * day
	// serverRest is what is left of a server certificate when it is renewed.
	serverRest = 60 * day
)

// epoch is before the first release: a clock that shows less has not been set.
func epoch() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// isSet reports whether a clock that shows now has been set.
func isSet(now time.Time) bool { return !now.Before(epoch()) }

// newAuthority makes an authority. With a former one it has the same key and name, so that
// clients that trust the former one trust it too.
func newAuthority(former *tls.Certificate, now time.Time) (*tls.Certificate, error) {
	if !isSet(now) {
		now = epoch()
	}
	key, name, err := authorityKey(former)
	if err != nil {
		return nil, fmt.Errorf("make certificate authority: %w", err)
	}
	template := &x509.Certificate{
		Subject:               name,
		NotBefore:             time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              now.Add(authorityLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	pair, err := sign(template, template, key, key)
	if err != nil {
		return nil, fmt.Errorf("make certificate authority: %w", err)
	}
	return pair, nil
}

// authorityKey returns the key and the name of former, new ones without it. Names
// differ, as the keys do, for clients that trust several appliances.
func authorityKey(former *tls.Certificate) (*ecdsa.PrivateKey, pkix.Name, error) {
	if former != nil {
		if key, ok := former.PrivateKey.(*ecdsa.PrivateKey); ok {
			return key, former.Leaf.Subject, nil
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, pkix.Name{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, pkix.Name{}, err
	}
	sum := sha256.Sum256(public)
	return key, pkix.Name{CommonName: "sensegate CA " + hex.EncodeToString(sum[:4]), Organization: []string{"sensegate"}}, nil
}

// newServer makes a certificate for names, signed by an authority. made is when the
// certificate before it was made, or zero: it replaces the time of a clock that has not been
// set and shows less.
func newServer(authority *tls.Certificate, names Names, now, made time.Time) (*tls.Certificate, error) {
	if !isSet(now) {
		now = epoch()
		if made.After(now) {
			now = made
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make server certificate: %w", err)
	}
	end := now.Add(serverLife)
	if last := authority.Leaf.NotAfter; end.After(last) {
		end = last
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: names.first(), Organization: []string{"sensegate"}},
		NotBefore:   now.Add(-serverLife),
		NotAfter:    end,
		DNSNames:    names.DNS,
		IPAddresses: names.addresses(),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	pair, err := sign(template, authority.Leaf, key, authority.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("make server certificate: %w", err)
	}
	return pair, nil
}

// madeAt returns when newServer made a certificate.
func madeAt(server *tls.Certificate) time.Time { return server.Leaf.NotBefore.Add(serverLife) }

// sign returns template as a certificate of key, signed by parent's.
func sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey, by any) (*tls.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

// due returns why a server certificate has to be renewed, "" when it need not. Dates count
// only when the clock has been set. A name or an address that the machine no longer has is no
// reason.
func due(server, authority *tls.Certificate, names Names, now time.Time) string {
	switch {
	case server.Leaf.CheckSignatureFrom(authority.Leaf) != nil:
		return "signed by another authority"
	case !names.coveredBy(server.Leaf):
		return "new name or address"
	case !isSet(now):
		return ""
	case now.Add(serverRest).After(server.Leaf.NotAfter):
		return "ends soon"
	case now.Before(server.Leaf.NotBefore):
		return "not valid yet"
	}
	return ""
}
