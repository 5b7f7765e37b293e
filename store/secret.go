package store

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
)

// secretSize is the number of random bytes in a secret. With 256 bits of
// randomness a plain hash is enough to store it: there is nothing to guess.
const secretSize = 32

// digest is the SHA-256 of a secret, or of what is kept only to be known again; the zero
// digest is that of nothing. Its text form is hexadecimal, also as a key in JSON.
type digest [sha256.Size]byte

// newSecret returns a random secret that starts with prefix, and its digest.
func newSecret(prefix string) (string, digest) {
	random := make([]byte, secretSize)
	rand.Read(random) // never fails: it ends the program instead
	secret := prefix + base64.RawURLEncoding.EncodeToString(random)
	return secret, digestOf(secret)
}

// digestOf returns the digest of a text.
func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// matches reports, in constant time, whether d is the digest of the secret
// whose digest is other. The zero digest matches nothing.
func (d digest) matches(other digest) bool {
	return subtle.ConstantTimeCompare(d[:], other[:]) == 1 && d != digest{}
}

// MarshalText returns the hexadecimal digits.
func (d digest) MarshalText() ([]byte, error) {
	return hex.AppendEncode(nil, d[:]), nil
}

// UnmarshalText reads hexadecimal digits.
func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return hex.ErrLength
	}
	_, err := hex.Decode(d[:], text)
	return err
}
