package store

import (
	"slices"

	"sensegate/motion"
)

// ownedKey is where the meta bucket keeps the digests of the guardian ids of networks that
// were owned and then deleted.
const ownedKey = "owned"

// maxOwned bounds these digests. Beyond it every network counts as owned before, so that
// nobody can have an older one forgotten.
const maxOwned = 1024

// noteOwned remembers that a network had an owner, before its deletion: its devices may
// form it again.
func (tx *Tx) noteOwned(network motion.NetworkID) error {
	h, ok, err := tx.HomeOfNetwork(network)
	if err != nil || !ok || !h.OwnedBefore {
		return err
	}
	n, err := networks.must(tx, network)
	if err != nil {
		return err
	}
	owned, err := tx.owned()
	sum := digestOf(n.GuardianID)
	if err != nil || len(owned) >= maxOwned || slices.Contains(owned, sum) {
		return err
	}
	return tx.putMeta(ownedKey, append(owned, sum))
}

// OwnedBefore reports whether a network of that guardian id had an owner when it was
// deleted, or may have had one, because more were deleted than are remembered.
func (tx *Tx) OwnedBefore(guardianID string) (bool, error) {
	owned, err := tx.owned()
	return len(owned) >= maxOwned || slices.Contains(owned, digestOf(guardianID)), err
}

func (tx *Tx) owned() (owned []digest, err error) {
	err = tx.getMeta(ownedKey, &owned)
	return owned, err
}
