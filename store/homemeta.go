package store

import (
	"sensegate/motion"
	"sensegate/motion/home"
)

// The meta storage of App Cloud (interfaces.md 4.2 no. 9): what apps keep for
// themselves, an area for each home and one for each user.
var (
	homeMeta = table[home.ID, motion.Document]{name: "home_meta", noun: "meta of network", key: key32[home.ID]}
	userMeta = table[home.UserID, motion.Document]{name: "user_meta", noun: "meta of user", key: keyUser}
)

// HomeMeta returns the meta storage of a home, empty when nothing is kept.
func (tx *Tx) HomeMeta(h home.ID) (motion.Document, error) {
	d, ok, err := homeMeta.get(tx, h)
	if !ok {
		d = motion.Document{}
	}
	return d, err
}

// PutHomeMeta stores the meta storage of an existing home; an empty one is removed.
func (tx *Tx) PutHomeMeta(h home.ID, d motion.Document) error {
	if _, err := tx.Home(h); err != nil {
		return err
	}
	return putArea(tx, homeMeta, h, d)
}

// UserMeta returns the meta storage of a user, empty when nothing is kept.
func (tx *Tx) UserMeta(id home.UserID) (motion.Document, error) {
	d, ok, err := userMeta.get(tx, id)
	if !ok {
		d = motion.Document{}
	}
	return d, err
}

// PutUserMeta stores the meta storage of an existing user; an empty one is removed.
func (tx *Tx) PutUserMeta(id home.UserID, d motion.Document) error {
	if _, err := tx.User(id); err != nil {
		return err
	}
	return putArea(tx, userMeta, id, d)
}

// putArea stores an area, or removes it when nothing is in it.
func putArea[K any](tx *Tx, area table[K, motion.Document], key K, d motion.Document) error {
	if len(d) > 0 {
		return area.put(tx, key, d)
	}
	_, err := area.delete(tx, key)
	return err
}

// deleteHomeMeta removes the meta storage of a home.
func (tx *Tx) deleteHomeMeta(h home.ID) error {
	_, err := homeMeta.delete(tx, h)
	return err
}
