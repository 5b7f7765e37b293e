package store

import (
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
	Shared    bool         `json:"shared,omitempty"` // its token is that of load tests, a record of each user
	LastError string       `json:"last_error"`       // why the last push to it was given up
	FailedAt  motion.Stamp `json:"failed_at"`        // when that was; 0: none was
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

// RegisterMobile stores a mobile device of an existing user and returns it. A token
// that is known keeps its record, which moves to the user when it was another's: an
// installation belongs to whoever is logged in on it. A shared token is no installation's:
// each user has a record of it. Of more than 32 of one user the
// ones heard of longest ago go.
func (tx *Tx) RegisterMobile(d home.MobileDevice, shared bool) (home.MobileDevice, error) {
	if _, err := tx.User(d.UserID); err != nil {
		return d, err
	}
	known, ok, err := mobiles.by(tx, "mobiles_by_token", tokenKey(MobileDevice{MobileDevice: d, Shared: shared}))
	if err != nil {
		return d, err
	}
	d.ID, d.CreatedAt, d.UpdatedAt = known.ID, known.CreatedAt, tx.now.Stamp()
	if !ok {
		sequence, err := tx.bucket(mobiles.name).NextSequence()
		if err != nil {
			return d, err
		}
		d.ID, d.CreatedAt = home.MobileID(sequence), tx.now.Stamp()
	}
	if err := mobiles.put(tx, d.ID, MobileDevice{MobileDevice: d, Shared: shared}); err != nil {
		return d, err
	}
	return d, tx.dropMobiles(d.UserID)
}

// dropMobiles removes the mobile devices that a user has too many.
func (tx *Tx) dropMobiles(user home.UserID) error {
	list, err := tx.MobilesOfUser(user)
	for err == nil && len(list) > mobilesOfOne {
		oldest := 0
		for i := range list {
			if list[i].UpdatedAt < list[oldest].UpdatedAt {
				oldest = i
			}
		}
		err = tx.DeleteMobile(list[oldest].ID)
		list = append(list[:oldest], list[oldest+1:]...)
	}
	return err
}

// Mobile returns the mobile device with the id.
func (tx *Tx) Mobile(id home.MobileID) (MobileDevice, error) { return mobiles.must(tx, id) }

// FindMobile returns the mobile device with the id and whether it is there.
func (tx *Tx) FindMobile(id home.MobileID) (MobileDevice, bool, error) { return mobiles.get(tx, id) }

// PutMobile stores d over the mobile device with its id, as given.
func (tx *Tx) PutMobile(d MobileDevice) error {
	if _, err := mobiles.must(tx, d.ID); err != nil {
		return err
	}
	return mobiles.put(tx, d.ID, d)
}

// Mobiles returns all mobile devices, by id.
func (tx *Tx) Mobiles() ([]MobileDevice, error) { return mobiles.all(tx, nil) }

// MobilesOfUser returns the mobile devices of a user, by id.
func (tx *Tx) MobilesOfUser(user home.UserID) ([]MobileDevice, error) {
	return mobiles.allBy(tx, "mobiles_by_user", keyUser(user))
}

// DeleteMobile removes a mobile device.
func (tx *Tx) DeleteMobile(id home.MobileID) error {
	existed, err := mobiles.delete(tx, id)
	if err == nil && !existed {
		err = fault.New(fault.NotFound, "mobile device %d: not found", id)
	}
	return err
}

// deleteMobilesOfUser removes the mobile devices of a user.
func (tx *Tx) deleteMobilesOfUser(user home.UserID) error {
	list, err := tx.MobilesOfUser(user)
	if err != nil {
		return err
	}
	for _, d := range list {
		if _, err := mobiles.delete(tx, d.ID); err != nil {
			return err
		}
	}
	return nil
}
