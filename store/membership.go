package store

import (
	"sensegate/motion/home"
)

// memberships is the table of who belongs to which home.
var memberships = table[home.MembershipID, home.Membership]{
	name: "memberships", vital: true, noun: "membership", key: key32[home.MembershipID],
	indexes: []index[home.Membership]{
		{
			name: "memberships_by_home", noun: "network and user", unique: true,
			keys: func(m home.Membership) [][]byte { return [][]byte{join(key32(m.Home), keyUser(m.User))} },
		},
		{
			name: "memberships_by_user", noun: "user",
			keys: func(m home.Membership) [][]byte { return [][]byte{keyUser(m.User)} },
		},
	},
}

// CreateMembership stores a new membership of an existing user and home under the
// next id and returns it, with CreatedAt and UpdatedAt set to now. A user who is a
// member already is a Conflict.
func (tx *Tx) CreateMembership(m home.Membership) (home.Membership, error) {
	if _, err := tx.User(m.User); err != nil {
		return m, err
	}
	if _, err := tx.Home(m.Home); err != nil {
		return m, err
	}
	if err := tx.HereHome(m.Home); err != nil {
		return m, err
	}
	sequence, err := tx.bucket(memberships.name).NextSequence()
	if err != nil {
		return m, err
	}
	m.ID, m.CreatedAt, m.UpdatedAt = home.MembershipID(sequence), tx.now.Stamp(), tx.now.Stamp()
	return m, memberships.put(tx, m.ID, m)
}

// PutMembership stores m over the membership with its id, as given; OwnerSince is set to
// now when it makes a member the owner.
func (tx *Tx) PutMembership(m home.Membership) error {
	if err := tx.HereHome(m.Home); err != nil {
		return err
	}
	former, err := memberships.must(tx, m.ID)
	if err != nil {
		return err
	}
	if m.Role == home.OwnerRole && former.Role != home.OwnerRole {
		m.OwnerSince = tx.now.Stamp()
	}
	return memberships.put(tx, m.ID, m)
}

// Membership returns the membership with the id.
func (tx *Tx) Membership(id home.MembershipID) (home.Membership, error) {
	return memberships.must(tx, id)
}

// MembershipOf returns the membership of a user in a home and whether there is one.
func (tx *Tx) MembershipOf(h home.ID, user home.UserID) (home.Membership, bool, error) {
	return memberships.by(tx, "memberships_by_home", join(key32(h), keyUser(user)))
}

// MembershipsOfHome returns the memberships of a home, by user.
func (tx *Tx) MembershipsOfHome(h home.ID) ([]home.Membership, error) {
	return memberships.allBy(tx, "memberships_by_home", key32(h))
}

// MembershipsOfUser returns the memberships of a user, the oldest first.
func (tx *Tx) MembershipsOfUser(user home.UserID) ([]home.Membership, error) {
	return memberships.allBy(tx, "memberships_by_user", keyUser(user))
}

// DeleteMembership removes a membership, and what its home says of the user.
func (tx *Tx) DeleteMembership(id home.MembershipID) error {
	m, err := memberships.must(tx, id)
	if err != nil {
		return err
	}
	h, found, err := homes.get(tx, m.Home)
	if err == nil && found && h.Forget(m.User) {
		err = homes.put(tx, h.ID, h)
	}
	if err != nil {
		return err
	}
	return memberships.mustDelete(tx, id)
}

// nameDevices brings memberships into the form of schema 4, in which each mobile device of
// a user speaks for itself. Which one spoke until then is not known.
func (tx *Tx) nameDevices() error {
	all, err := memberships.all(tx, nil)
	return each(all, err, func(m home.Membership) error {
		if m.PresenceAt.IsZero() && !m.IsPresent || len(m.Devices) > 0 {
			return nil
		}
		m.Devices = []home.DevicePresence{{Present: m.IsPresent, At: m.PresenceAt}}
		return tx.PutMembership(m)
	})
}
