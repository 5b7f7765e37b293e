package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
)

// userRecord is a user with what is never shown.
type userRecord struct {
	home.User
	Password   string       `json:"password"`             // argon2id in PHC form; "": none, as with SSO
	Identities []Identity   `json:"identities,omitempty"` // accounts at identity providers
	Proof      AddressProof `json:"proof,omitzero"`       // of the confirmed address
	Trusted    bool         `json:"trusted,omitempty"`    // made by the administrator: counts as having shown the setup code

	Administrator bool `json:"administrator,omitempty"` // looks after the appliance
}

// Identity is an account at an identity provider: users are known there by issuer
// and subject, never by an address.
type Identity struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

// ID names the identity without telling its subject: 32 hexadecimal digits.
func (i Identity) ID() string { return hex.EncodeToString(i.key()[:16]) }

// key returns a digest of fixed length, because both parts are free text.
func (i Identity) key() []byte {
	sum := digestOf(i.Issuer + "\x00" + i.Subject)
	return sum[:]
}

// users is the table of users.
var users = table[home.UserID, userRecord]{
	name: "users", vital: true, noun: "user", key: keyUser,
	indexes: []index[userRecord]{
		{
			name: "users_by_email", noun: "e-mail address", unique: true,
			keys: func(r userRecord) [][]byte { return [][]byte{keyText(home.EmailKey(r.Email))} },
		},
		{
			name: "users_by_sub", noun: "subject", unique: true,
			keys: func(r userRecord) [][]byte { return [][]byte{keyText(r.Sub)} },
		},
		{
			name: "users_by_identity", noun: "account at the identity provider", unique: true,
			keys: func(r userRecord) (keys [][]byte) {
				for _, i := range r.Identities {
					keys = append(keys, i.key())
				}
				return keys
			},
		},
		{
			name: "users_by_unconfirmed", noun: "time of making",
			keys: func(r userRecord) [][]byte {
				if r.Confirmed() {
					return nil
				}
				return [][]byte{key64(uint64(max(0, r.CreatedAt)))}
			},
		},
	},
}

func keyUser(id home.UserID) []byte { return key64(uint64(id)) }

// NextUserID takes the next id of users. No other user will have it.
func (tx *Tx) NextUserID() (home.UserID, error) {
	sequence, err := tx.bucket(users.name).NextSequence()
	return home.UserID(sequence), err
}

// CreateUser stores a new user under the next id and returns them. CreatedAt and
// UpdatedAt are set to now unless given. An address that another user has is a
// Conflict.
func (tx *Tx) CreateUser(u home.User) (_ home.User, err error) {
	if u.ID, err = tx.NextUserID(); err != nil {
		return u, err
	}
	u.CreatedAt, u.UpdatedAt = cmp.Or(u.CreatedAt, tx.now.Stamp()), cmp.Or(u.UpdatedAt, tx.now.Stamp())
	return u, users.put(tx, u.ID, userRecord{User: u})
}

// PutUser stores u over the user with its id, as given; the password and the
// identities stay.
func (tx *Tx) PutUser(u home.User) error {
	return users.change(tx, u.ID, func(r *userRecord) { r.User = u })
}

// User returns the user with the id.
func (tx *Tx) User(id home.UserID) (home.User, error) {
	r, err := users.must(tx, id)
	return r.User, err
}

// UserByEmail returns the user with the address, in any case, and whether there is
// one.
func (tx *Tx) UserByEmail(address string) (home.User, bool, error) {
	r, ok, err := users.by(tx, "users_by_email", keyText(home.EmailKey(address)))
	return r.User, ok, err
}

// UserByIdentity returns the user who has the account at an identity provider, and
// whether there is one.
func (tx *Tx) UserByIdentity(i Identity) (home.User, bool, error) {
	r, ok, err := users.by(tx, "users_by_identity", i.key())
	return r.User, ok, err
}

// AddIdentity ties an account at an identity provider to a user. One that another
// user has is a Conflict.
func (tx *Tx) AddIdentity(id home.UserID, i Identity) error {
	return users.change(tx, id, func(r *userRecord) { r.Identities = append(r.Identities, i) })
}

// Identities returns the accounts at identity providers that are tied to a user, the
// oldest first.
func (tx *Tx) Identities(id home.UserID) ([]Identity, error) {
	r, err := users.must(tx, id)
	return r.Identities, err
}

// RemoveIdentity unties an account at an identity provider from a user.
func (tx *Tx) RemoveIdentity(id home.UserID, i Identity) error {
	return users.change(tx, id, func(r *userRecord) {
		r.Identities = slices.DeleteFunc(slices.Clone(r.Identities), func(other Identity) bool { return other == i })
	})
}

// RemoveIdentities unties every account at an identity provider from a user.
func (tx *Tx) RemoveIdentities(id home.UserID) error {
	return users.change(tx, id, func(r *userRecord) { r.Identities = nil })
}

// Users returns all users, by id.
func (tx *Tx) Users() ([]home.User, error) {
	records, err := users.all(tx, nil)
	return mapped(records, err, func(r userRecord) (home.User, error) { return r.User, nil })
}

// Password returns the stored hash of a user's password, "" when there is none.
func (tx *Tx) Password(id home.UserID) (string, error) {
	r, err := users.must(tx, id)
	return r.Password, err
}

// SetPassword stores the hash of a user's password.
func (tx *Tx) SetPassword(id home.UserID, hash string) error {
	return users.change(tx, id, func(r *userRecord) { r.Password = hash })
}

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

// DeleteUser removes a user with everything that is theirs alone. Their bytes are wiped
// from the file soon after (DB.WipeDeleted).
func (tx *Tx) DeleteUser(id home.UserID) error {
	u, err := tx.User(id)
	if err != nil {
		return err
	}
	memberships, err := tx.MembershipsOfUser(id)
	return cmp.Or(
		each(memberships, err, func(m home.Membership) error { return tx.DeleteMembership(m.ID) }),
		tx.forgetInstaller(id), tx.deleteMailsBy("mails_by_user", keyUser(id)), tx.deleteMailsBy("mails_by_address", mailAddressKey(u.Email)),
		tx.deleteInvitationsTo(u.Email), tx.DeleteMobilesOf(id, ""), tx.deleteDeliveriesTo(id), tx.EndSessionsOfUser(id, ""),
		tx.forgetDisowner(id), tx.forgetInAudit(u), userMeta.delete(tx, id), familiar.delete(tx, id), users.delete(tx, id), tx.dueToWipe(false),
	)
}
