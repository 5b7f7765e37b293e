package store

import (
	"cmp"
	"sort"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// mobilesOfOne is how many mobile devices one user can have; the ones heard of
// longest ago go first.
const mobilesOfOne = 32

// MobileDevice is a mobile device with what became of pushes to it.
type MobileDevice struct {
	home.MobileDevice
	Shared    bool         `json:"shared,omitempty"`  // its token is that of load tests, a record of each user
	Session   string       `json:"session,omitempty"` // sid of the log-in that registered it last
	LastError string       `json:"last_error"`        // why the last push to it was given up
	FailedAt  motion.Stamp `json:"failed_at"`         // when that was; 0: none was
}

// mobiles is the table of mobile devices.
var mobiles = table[home.MobileID, MobileDevice]{
	name: "mobiles", noun: "mobile device", key: key32[home.MobileID],
	indexes: []index[MobileDevice]{
		{
			name: "mobiles_by_token", noun: "token", unique: true,
			keys: func(d MobileDevice) [][]byte { return [][]byte{tokenKey(d)} },
		},
		{
			name: "mobiles_by_user", noun: "user",
			keys: func(d MobileDevice) [][]byte { return [][]byte{keyUser(d.UserID)} },
		},
	},
}

// tokenKey returns a digest of a push token, which can be longer than a key; of a shared
// one with the user.
func tokenKey(d MobileDevice) []byte {
	text := d.Token
	if d.Shared {
		text = string(keyUser(d.UserID)) + text
	}
	sum := digestOf(text)
	return sum[:]
}

// MobileRegistration is what an app says of its installation; nil is not said.
type MobileRegistration struct {
	User                       home.UserID
	Session                    string // sid
	Token                      string
	Shared                     bool // it is no installation's: each user has a record of it
	Platform, Name, AppVersion *string
}

// RegisterMobile stores a mobile device of an existing user and returns it. A token that
// the user has registered before keeps its record, and what is not said stays as it is; one
// that another user has is a Conflict with the code taken. Of more than 32 of one user the
// ones heard of longest ago go.
func (tx *Tx) RegisterMobile(r MobileRegistration) (home.MobileDevice, error) {
	if _, err := tx.User(r.User); err != nil {
		return home.MobileDevice{}, err
	}
	d := MobileDevice{MobileDevice: home.MobileDevice{UserID: r.User, Token: r.Token}, Shared: r.Shared}
	known, ok, err := mobiles.by(tx, "mobiles_by_token", tokenKey(d))
	switch {
	case err != nil:
		return d.MobileDevice, err
	case ok && known.UserID != r.User:
		return d.MobileDevice, &fault.Error{Kind: fault.Conflict, Code: "taken",
			Message: "token: another user has registered it; they log out on this device first, or remove it with DELETE /mobile_devices"}
	case ok:
		d = known
	default:
		sequence, err := tx.bucket(mobiles.name).NextSequence()
		if err != nil {
			return d.MobileDevice, err
		}
		d.ID, d.CreatedAt = home.MobileID(sequence), tx.now.Stamp()
	}
	for field, said := range map[*string]*string{&d.Platform: r.Platform, &d.Name: r.Name, &d.AppVersion: r.AppVersion} {
		if said != nil {
			*field = *said
		}
	}
	d.Session, d.UpdatedAt, d.LastError, d.FailedAt = r.Session, tx.now.Stamp(), "", 0
	if err := mobiles.put(tx, d.ID, d); err != nil {
		return d.MobileDevice, err
	}
	return d.MobileDevice, tx.dropMobiles(r.User)
}

// dropMobiles removes the mobile devices that a user has too many.
func (tx *Tx) dropMobiles(user home.UserID) error {
	list, err := tx.MobilesOfUser(user)
	sort.SliceStable(list, func(i, j int) bool { return list[i].UpdatedAt < list[j].UpdatedAt })
	return each(list[:max(0, len(list)-mobilesOfOne)], err, func(d MobileDevice) error { return tx.DeleteMobile(d.ID) })
}

// Mobile returns the mobile device with the id.
func (tx *Tx) Mobile(id home.MobileID) (MobileDevice, error) { return mobiles.must(tx, id) }

// FindMobile returns the mobile device with the id and whether it is there.
func (tx *Tx) FindMobile(id home.MobileID) (MobileDevice, bool, error) { return mobiles.get(tx, id) }

// PutMobile stores d over the mobile device with its id, as given.
func (tx *Tx) PutMobile(d MobileDevice) error {
	return mobiles.replace(tx, d.ID, d)
}

// Mobiles returns all mobile devices, by id.
func (tx *Tx) Mobiles() ([]MobileDevice, error) { return mobiles.all(tx, nil) }

// MobilesOfUser returns the mobile devices of a user, by id.
func (tx *Tx) MobilesOfUser(user home.UserID) ([]MobileDevice, error) {
	return mobiles.allBy(tx, "mobiles_by_user", keyUser(user))
}

// DeleteMobile removes a mobile device, and what it has said of its user's presence: it
// would never say that they left.
func (tx *Tx) DeleteMobile(id home.MobileID) error {
	d, err := mobiles.must(tx, id)
	if err != nil {
		return err
	}
	of, err := tx.MembershipsOfUser(d.UserID)
	err = each(of, err, func(m home.Membership) error {
		without, said := m.Without(id)
		if !said {
			return nil
		}
		without.UpdatedAt = tx.now.Stamp()
		return memberships.put(tx, without.ID, without) // also where the home has gone to another box
	})
	return cmp.Or(err, mobiles.delete(tx, id))
}

// DeleteMobilesOf removes the mobile devices of a user that the session registered last;
// "" is every one of the user. Whoever logs out is not pushed to on that device any more,
// and another user may register it.
func (tx *Tx) DeleteMobilesOf(user home.UserID, session string) error {
	list, err := tx.MobilesOfUser(user)
	return each(list, err, func(d MobileDevice) error {
		if session != "" && d.Session != session {
			return nil
		}
		return tx.DeleteMobile(d.ID)
	})
}
