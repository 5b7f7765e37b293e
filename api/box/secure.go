package box

import (
	"context"

	"sensegate/motion"
)

// Secure is how the household reaches the appliance encrypted.
type Secure struct {
	Page      string      // https address that is best told to somebody; "": nothing listens
	Own       bool        // the certificate is from the appliance's own authority
	Authority string      // fingerprint of that: SHA-256, in hexadecimal with colons
	Ends      motion.Time // when the certificate that is shown ends; 0: not known
	Names     []string    // the host names and then the addresses that it is for
}

// SecureCheck is one thing about the encrypted connection that was checked, in words for a person:
// what was found and, where it is wrong, what to do. Codes: listens, certificate_valid, chain,
// names, clock.
type SecureCheck struct {
	Code string
	OK   bool
	Text string
}

// Secure returns how the household reaches the running appliance encrypted.
func (b *Box) Secure() Secure {
	if b.Secured == nil {
		return Secure{Own: true}
	}
	return b.Secured()
}

// TestSecure tries the encrypted connection of the running appliance.
func (b *Box) TestSecure(ctx context.Context) []SecureCheck {
	if b.Probe == nil {
		return nil
	}
	return b.Probe(ctx)
}
