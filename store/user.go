package store

import (
	"encoding/hex"
	"slices"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// userRecord is a user with what is never shown.
type userRecord struct {
	home.User
	Password   string       `json:"password"`             // argon2id in PHC form; "": none, as with SSO
	Identities []Identity   `json:"identities,omitempty"` // accounts at identity providers
	Proof      AddressProof `json:"proof,omitzero"`       // of the confirmed address
	Trusted    bool         `json:"trusted,omitempty"`    // made by the administrator: counts as having shown the setup code
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

// CreateUser stores a new user under the next id and returns them. CreatedAt and
// UpdatedAt are set to now unless given. An address that another user has is a
// Conflict.
func (tx *Tx) CreateUser(u home.User) (home.User, error) {
	sequence, err := tx.bucket(users.name).NextSequence()
	if err != nil {
		return u, err
	}
	u.ID = home.UserID(sequence)
	if u.CreatedAt == 0 {
		u.CreatedAt = tx.now.Stamp()
	}
	if u.UpdatedAt == 0 {
		u.UpdatedAt = tx.now.Stamp()
	}
	return u, users.put(tx, u.ID, userRecord{User: u})
}

// PutUser stores u over the user with its id, as given; the password and the
// identities stay.
func (tx *Tx) PutUser(u home.User) error {
	r, err := users.must(tx, u.ID)
	if err != nil {
		return err
	}
	r.User = u
	return users.put(tx, u.ID, r)
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

// UserBySub returns the user with the subject of a token.
func (tx *Tx) UserBySub(sub string) (home.User, error) {
	r, ok, err := users.by(tx, "users_by_sub", keyText(sub))
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "user: not found")
	}
	return r.User, err
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
	r, err := users.must(tx, id)
	if err != nil {
		return err
	}
	r.Identities = append(r.Identities, i)
	return users.put(tx, id, r)
}

// Identities returns the accounts at identity providers that are tied to a user, the
// oldest first.
func (tx *Tx) Identities(id home.UserID) ([]Identity, error) {
	r, err := users.must(tx, id)
	return r.Identities, err
}

// RemoveIdentity unties an account at an identity provider from a user.
func (tx *Tx) RemoveIdentity(id home.UserID, i Identity) error {
	r, err := users.must(tx, id)
	if err != nil {
		return err
	}
	r.Identities = slices.DeleteFunc(slices.Clone(r.Identities), func(other Identity) bool { return other == i })
	return users.put(tx, id, r)
}

// RemoveIdentities unties every account at an identity provider from a user.
func (tx *Tx) RemoveIdentities(id home.UserID) error {
	r, err := users.must(tx, id)
	if err != nil {
		return err
	}
	r.Identities = nil
	return users.put(tx, id, r)
}

// Users returns all users, by id.
func (tx *Tx) Users() ([]home.User, error) {
	records, err := users.all(tx, nil)
	list := make([]home.User, len(records))
	for i, r := range records {
		list[i] = r.User
	}
	return list, err
}

// Password returns the stored hash of a user's password, "" when there is none.
func (tx *Tx) Password(id home.UserID) (string, error) {
	r, err := users.must(tx, id)
	return r.Password, err
}

// SetPassword stores the hash of a user's password.
func (tx *Tx) SetPassword(id home.UserID, hash string) error {
	r, err := users.must(tx, id)
	if err != nil {
		return err
	}
	r.Password = hash
	return users.put(tx, id, r)
}

// DeleteUser removes a user with everything that is theirs alone. Their bytes are wiped
// from the file soon after (DB.WipeDeleted).
func (tx *Tx) DeleteUser(id home.UserID) error {
	u, err := tx.User(id)
	if err != nil {
		return err
	}
	memberships, err := tx.MembershipsOfUser(id)
	if err != nil {
		return err
	}
	for _, m := range memberships {
		if err := tx.DeleteMembership(m.ID); err != nil {
			return err
		}
	}
	if err := tx.deleteMailsOfUser(u); err != nil {
		return err
	}
	if err := tx.DeleteMobilesOf(id, ""); err != nil {
		return err
	}
	if err := tx.deleteDeliveriesTo(id); err != nil {
		return err
	}
	if err := tx.deleteInvitationsTo(u.Email); err != nil {
		return err
	}
	if _, err := userMeta.delete(tx, id); err != nil {
		return err
	}
	if err := tx.EndSessionsOfUser(id, ""); err != nil {
		return err
	}
	if _, err := familiar.delete(tx, id); err != nil {
		return err
	}
	if err := tx.forgetDisowner(id); err != nil {
		return err
	}
	if _, err = users.delete(tx, id); err != nil {
		return err
	}
	return tx.dueToWipe(false)
}
