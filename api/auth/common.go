package auth

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"slices"
	"strings"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// commonPasswords is a Bloom filter (Bloom 1970) of the 100,000 commonest passwords of 6
// characters and more; common/README.md says whose list it is. One password in ten
// thousand that is not in the list is taken for one that is.
//
//go:embed common/passwords.bloom
var commonPasswords []byte

// commonProbes is how many bits of the filter a password sets: the optimum for 19 bits a
// password.
const commonProbes = 13

// commonBits returns the bits of a filter of a size that a password sets, in any case: by
// double hashing (Kirsch and Mitzenmacher 2008).
func commonBits(password string, size int) []uint64 {
	sum := sha256.Sum256([]byte(strings.ToLower(password)))
	at, step := binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])|1
	bits := make([]uint64, commonProbes)
	for i := range bits {
		bits[i] = at % uint64(size*8)
		at += step
	}
	return bits
}

// isCommon reports whether a password is one of the commonest.
func isCommon(password string) bool {
	for _, bit := range commonBits(password, len(commonPasswords)) {
		if commonPasswords[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// checkChoice returns an Invalid fault when a new password is one of the commonest, one of the
// account's addresses, or the part of one before the @.
func checkChoice(password string, addresses ...string) error {
	word := home.EmailKey(password)
	own := slices.ContainsFunc(addresses, func(address string) bool {
		key := home.EmailKey(address)
		return word == key || word == home.LocalPart(key)
	})
	if own {
		return fault.New(fault.Invalid, "password: is the account's own address; choose another")
	}
	if isCommon(password) {
		return fault.New(fault.Invalid, "password: is one of the commonest, which are guessed first; choose another")
	}
	return nil
}
