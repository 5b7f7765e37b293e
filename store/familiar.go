package store

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"sensegate/motion/home"
)

// maxFamiliar bounds the addresses that are remembered of one user.
const maxFamiliar = 8

// familiar is the table of the addresses that users have logged in from, or shown as much
// from as with a log-in, the newest first, as digests. It lets the people of a house in while a stranger guesses.
var familiar = table[home.UserID, []digest]{name: "familiar", noun: "familiar addresses of user", key: keyUser}

// familiarDigest is of the user too, so that equal addresses do not look alike.
func familiarDigest(user home.UserID, address netip.Addr) digest {
	return digestOf(string(binary.BigEndian.AppendUint64(nil, uint64(user))) + address.String())
}

// Familiar reports whether the user is known to log in from the address.
func (tx *Tx) Familiar(user home.UserID, address netip.Addr) (bool, error) {
	list, _, err := familiar.get(tx, user)
	return slices.Contains(list, familiarDigest(user, address)), err
}

// NoteFamiliar remembers that the user has logged in from the address: the last 8 are
// kept.
func (tx *Tx) NoteFamiliar(user home.UserID, address netip.Addr) error {
	list, _, err := familiar.get(tx, user)
	if err != nil {
		return err
	}
	sum := familiarDigest(user, address)
	list = slices.Insert(slices.DeleteFunc(list, func(d digest) bool { return d == sum }), 0, sum)
	return familiar.put(tx, user, list[:min(len(list), maxFamiliar)])
}
