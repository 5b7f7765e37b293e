package auth

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// commonPasswords is a set of the 100,000 commonest passwords of 6 characters and more, which
// common/README.md tells of: their places (commonPlace) in order, each as its distance from the
// one before, Rice coded (Rice 1979): the distance divided by 2^commonRice in ones and a
// zero, then the rest in commonRice bits, all from the lowest bit of a byte on. It has three
// quarters of the size of a Bloom filter that mistakes as few.
//
//go:embed common/passwords.rice
var commonPasswords []byte

const (
	// commonPlaces is how many places there are: one password in ten thousand that is not in
	// the list has the place of one that is, and is taken for it.
	commonPlaces = 100_000 * 10_000
	// commonRice makes the set smallest: of 2^13 and 2^12 the one nearer to 10,000 · ln 2.
	commonRice = 13
	// commonEnd is how many zero bytes follow, so that eight can be read at once anywhere.
	commonEnd = 8
)

// commonPlace returns the place of a password, in any case.
func commonPlace(password string) uint64 {
	sum := sha256.Sum256([]byte(strings.ToLower(password)))
	place, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:]), commonPlaces)
	return place
}

// commonSet goes through the places of a set, in order.
func commonSet(set []byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		place := uint64(0)
		for at := 0; at/8 < len(set)-commonEnd; {
			word := binary.LittleEndian.Uint64(set[at/8:]) >> (at % 8)
			ones := bits.TrailingZeros64(^word)
			place += uint64(ones)<<commonRice | word>>(ones+1)&(1<<commonRice-1)
			at += ones + 1 + commonRice
			if !yield(place) {
				return
			}
		}
	}
}

// isCommon reports whether a password is one of the commonest. It takes a hundredth of the time
// of the hash that is made of a password afterwards.
func isCommon(password string) bool {
	wanted := commonPlace(password)
	for place := range commonSet(commonPasswords) {
		if place >= wanted {
			return place == wanted
		}
	}
	return false
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
