package store

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
)

// ownedKey is where the meta bucket keeps which networks were owned and then deleted.
const ownedKey = "owned"

// maxOwned bounds how many of them are kept. Beyond it every network counts as owned before,
// so that nobody can have an older one forgotten.
const maxOwned = 1024

// ownedNetwork is a network that was owned and then deleted.
type ownedNetwork struct {
	Guardian digest      `json:"guardian"`     // of its guardian id
	By       home.UserID `json:"by,omitempty"` // its last owner, who has deleted it themselves; 0: nobody that is known
}

// noteOwned remembers that a network had an owner, before its deletion: its devices may
// form it again.
func (tx *Tx) noteOwned(network motion.NetworkID) error {
	h, ok, err := tx.HomeOfNetwork(network)
	if err != nil || !ok || !h.OwnedBefore {
		return err
	}
	owned, at, err := tx.ownedAs(network)
	if err != nil || at >= 0 || len(owned) >= maxOwned {
		return err
	}
	n, err := networks.must(tx, network)
	if err != nil {
		return err
	}
	return tx.putMeta(ownedKey, append(owned, ownedNetwork{Guardian: digestOf(n.GuardianID)}))
}

// OwnedBefore reports whether a network of that guardian id had an owner when it was
// deleted, or may have had one, because more were deleted than are remembered.
func (tx *Tx) OwnedBefore(guardianID string) (bool, error) {
	owned, at, err := tx.findOwned(guardianID)
	return at >= 0 || len(owned) >= maxOwned, err
}

// NoteDisowned remembers that its owner deletes a network, before the deletion (DisownedBy).
func (tx *Tx) NoteDisowned(network motion.NetworkID, owner home.UserID) error {
	if err := tx.noteOwned(network); err != nil {
		return err
	}
	return tx.setDisowner(network, owner)
}

// ForgetDisowner forgets who has disowned the network that a network was before its devices
// formed it again, because somebody owns it now.
func (tx *Tx) ForgetDisowner(network motion.NetworkID) error { return tx.setDisowner(network, 0) }

// DisownedBy returns who owned and deleted the network that a network was before its devices
// formed it again, when nobody has owned it since; 0: nobody that is known.
func (tx *Tx) DisownedBy(network motion.NetworkID) (home.UserID, error) {
	owned, at, err := tx.ownedAs(network)
	if err != nil || at < 0 {
		return 0, err
	}
	return owned[at].By, nil
}

func (tx *Tx) setDisowner(network motion.NetworkID, by home.UserID) error {
	owned, at, err := tx.ownedAs(network)
	if err != nil || at < 0 || owned[at].By == by {
		return err
	}
	owned[at].By = by
	return tx.putMeta(ownedKey, owned)
}

// forgetDisowner takes a user out of what is remembered of networks that were owned.
func (tx *Tx) forgetDisowner(user home.UserID) error {
	owned, err := tx.owned()
	if err != nil {
		return err
	}
	changed := false
	for i := range owned {
		if owned[i].By == user {
			owned[i].By, changed = 0, true
		}
	}
	if !changed {
		return nil
	}
	return tx.putMeta(ownedKey, owned)
}

// ownedAs returns every network that was owned and then deleted, and which of them has the
// guardian id of a network; -1: none.
func (tx *Tx) ownedAs(network motion.NetworkID) (owned []ownedNetwork, at int, err error) {
	n, err := networks.must(tx, network)
	if err != nil {
		return nil, -1, err
	}
	return tx.findOwned(n.GuardianID)
}

func (tx *Tx) findOwned(guardianID string) (owned []ownedNetwork, at int, err error) {
	owned, err = tx.owned()
	sum := digestOf(guardianID)
	return owned, slices.IndexFunc(owned, func(o ownedNetwork) bool { return o.Guardian == sum }), err
}

func (tx *Tx) owned() (owned []ownedNetwork, err error) {
	err = tx.getMeta(ownedKey, &owned)
	return owned, err
}
