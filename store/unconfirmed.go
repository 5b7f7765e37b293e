package store

import (
	"bytes"
	"encoding/binary"

	"sensegate/motion"
	"sensegate/motion/home"
)

// SweepUnconfirmed removes users who were made before a time, have never confirmed
// their address and belong to no home: at most limit of them. It belongs into the
// transaction that makes users, so that strangers who register fill no disk.
func (tx *Tx) SweepUnconfirmed(before motion.Stamp, limit int) error {
	stale := []home.UserID{}
	end := key64(uint64(max(0, before)))
	cursor := tx.bucket("users_by_unconfirmed").Cursor()
	for key, id := cursor.First(); key != nil && bytes.Compare(key[:8], end) < 0 && len(stale) < limit; key, id = cursor.Next() {
		stale = append(stale, home.UserID(binary.BigEndian.Uint64(id)))
	}
	for _, id := range stale {
		memberships, err := tx.MembershipsOfUser(id)
		if err != nil {
			return err
		}
		if len(memberships) > 0 {
			continue
		}
		if err := tx.DeleteUser(id); err != nil {
			return err
		}
	}
	return nil
}

// RehearseUser does all that storing a user with a password does, and takes it back: for
// an answer that must look, in time too, as if there were one. It returns the id, which
// nobody will have.
func (tx *Tx) RehearseUser(u home.User, hash string) (home.UserID, error) {
	u.Email = u.Sub + "@invalid" // RFC 2606: nobody's
	u, err := tx.CreateUser(u)
	if err != nil {
		return 0, err
	}
	if err := tx.SetPassword(u.ID, hash); err != nil {
		return 0, err
	}
	return u.ID, tx.DeleteUser(u.ID)
}
