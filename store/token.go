package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// tokens are the digests of a device's tokens. Devices learn a new token at
// every start and may lose the answer, so the current one stays valid until the
// next one is first used (device-protocol.md 1).
type tokens struct {
	Current digest `json:"current"`
	Next    digest `json:"next"`
}

// deviceTokens is the table of device tokens.
var deviceTokens = table[motion.DeviceKey, tokens]{name: "device_tokens", noun: "tokens of device", key: deviceKey, vital: true}

// IssueToken returns a new random token of 256 bits for an adopted device. The
// token in use stays valid until the new one is first used; one that was issued
// before and never used is void.
func (tx *Tx) IssueToken(key motion.DeviceKey) (string, error) {
	if _, err := devices.must(tx, key); err != nil {
		return "", err
	}
	held, _, err := deviceTokens.get(tx, key)
	if err != nil {
		return "", err
	}
	token, sum := newSecret("")
	held.Next = sum
	return token, deviceTokens.put(tx, key, held)
}

// CheckToken returns nil when token is one of the device's valid tokens, and an
// Unauthorized fault otherwise. In an Update the first use of the newest token
// voids the former one; in a View both stay.
func (tx *Tx) CheckToken(key motion.DeviceKey, token string) error {
	isNext, err := tx.matchToken(key, token)
	if err != nil || !isNext || !tx.bolt.Writable() {
		return err
	}
	held, _, err := deviceTokens.get(tx, key)
	if err != nil {
		return err
	}
	return deviceTokens.put(tx, key, tokens{Current: held.Next})
}

// matchToken finds out whether token is valid, and whether it is the newest one
// and was not used before.
func (tx *Tx) matchToken(key motion.DeviceKey, token string) (isNext bool, err error) {
	held, _, err := deviceTokens.get(tx, key)
	if err != nil {
		return false, err
	}
	sum := digestOf(token)
	isCurrent, isNext := held.Current.matches(sum), held.Next.matches(sum)
	if !isCurrent && !isNext {
		return false, fault.New(fault.Unauthorized, "token: not valid for device %.80s", key)
	}
	return isNext, nil
}

// CheckToken is Tx.CheckToken in a transaction of its own, which writes only
// when a token is used for the first time.
func (db *DB) CheckToken(ctx context.Context, key motion.DeviceKey, token string) error {
	isNext, err := Read(ctx, db, func(tx *Tx) (bool, error) { return tx.matchToken(key, token) })
	if err != nil || !isNext {
		return err
	}
	return db.Update(ctx, func(tx *Tx) error { return tx.CheckToken(key, token) })
}

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
