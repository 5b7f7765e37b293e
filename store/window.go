package store

import (
	"encoding/binary"
	"maps"

	"sensegate/motion"
	"sensegate/motion/home"
)

// window is the time in which a network adopts devices that ask.
type window struct {
	Until motion.Time `json:"until"`
	By    home.UserID `json:"by,omitempty"` // the installer who opened it last; 0: nobody, or the household
}

// windows is the table of the adoption windows of single networks.
var windows = table[motion.NetworkID, window]{name: "adoption_windows", noun: "adoption window of network", key: key32[motion.NetworkID]}

// AdoptionUntil returns when the adoption window of a network ends or ended, with
// network 0 that of networks without an owner; set is false when none was ever opened
// or closed. A window that cannot be read counts as closed.
func (tx *Tx) AdoptionUntil(network motion.NetworkID) (until motion.Time, set bool, err error) {
	if network == 0 {
		err = tx.getMeta(adoptionUntilKey, &until)
		return until, !until.IsZero(), err
	}
	w, set, err := windows.get(tx, network)
	return w.Until, set || tx.hasUnreadableWindow(), err
}

// hasUnreadableWindow reports whether any adoption window cannot be read. Its key may be what
// was altered, so it may belong to any network that seems to have none.
func (tx *Tx) hasUnreadableWindow() bool {
	cursor := tx.bucket(windows.name).Cursor()
	for key, data := cursor.First(); key != nil; key, data = cursor.Next() {
		if _, ok := windows.readable(tx, key, data); !ok {
			return true
		}
	}
	return false
}

// closeUnknownWindows closes the adoption window of every network that has none, after one or
// more were lost: they may have been closed.
func (tx *Tx) closeUnknownWindows() error {
	for _, key := range networks.keys(tx, nil) {
		if tx.bucket(windows.name).Get(key) != nil {
			continue
		}
		if err := windows.put(tx, motion.NetworkID(binary.BigEndian.Uint32(key)), window{Until: tx.now}); err != nil {
			return err
		}
	}
	return nil
}

// SetAdoptionUntil opens the adoption window of a network until a time, or closes it
// with one that is past; network 0 is as in AdoptionUntil.
func (tx *Tx) SetAdoptionUntil(network motion.NetworkID, until motion.Time) error {
	if network == 0 {
		return tx.putMeta(adoptionUntilKey, until)
	}
	return windows.putOf(tx, network, network, window{Until: until})
}

// SetAdoptionBy notes that an installer has opened the adoption window of a network; opening or
// closing it anew forgets that.
func (tx *Tx) SetAdoptionBy(network motion.NetworkID, user home.UserID) error {
	w, _, err := windows.get(tx, network)
	if err != nil {
		return err
	}
	w.By = user
	return windows.putOf(tx, network, network, w)
}

// AdoptionBy returns the installer who opened the adoption window of a network, 0 for the household.
func (tx *Tx) AdoptionBy(network motion.NetworkID) (home.UserID, error) {
	w, _, err := windows.get(tx, network)
	return w.By, err
}

// reformKey is the key in the meta bucket of the devices of deleted networks.
const reformKey = "reform_until"

// reform says until when a device of a deleted network may form that network anew, or join
// it, and where it is known from. It is kept under the digest of the id of the device:
// nothing stored tells of a deleted network.
type reform struct {
	Until    motion.Time `json:"until"`
	Guardian digest      `json:"guardian"` // guardian id of the network
	Address  digest      `json:"address"`
	MAC      digest      `json:"mac,omitzero"` // zero: not known
}

// ReformUntil returns until when a device that posts from an address and MAC, zero when that
// is not known, may by itself form or join a network of that guardian id, because it was in
// the one of this id that was deleted; zero: it may not. The MAC is compared where it is
// known of both, or else the address.
func (tx *Tx) ReformUntil(guardian, deviceID, address string, mac motion.MAC) (motion.Time, error) {
	var all map[digest]reform
	err := tx.getMeta(reformKey, &all)
	if r := all[digestOf(deviceID)]; r.Guardian == digestOf(guardian) && r.isOf(address, mac) {
		return r.Until, err
	}
	return 0, err
}

// isOf reports whether a device that posts from an address and MAC is the one of r.
func (r reform) isOf(address string, mac motion.MAC) bool {
	if !mac.IsZero() && r.MAC != (digest{}) {
		return r.MAC == digestOf(mac.String())
	}
	return r.Address == digestOf(address)
}

// Reserved reports whether a device that posts from an address and MAC, as ReformUntil has
// them, must wait because a network was deleted a moment ago: others may form it anew, or
// another device has its id.
func (tx *Tx) Reserved(guardian, deviceID, address string, mac motion.MAC) (bool, error) {
	var all map[digest]reform
	err := tx.getMeta(reformKey, &all)
	for id, r := range all {
		if r.Until > tx.now && (r.Guardian == digestOf(guardian) || id == digestOf(deviceID) && !r.isOf(address, mac)) {
			return true, err
		}
	}
	return false, err
}

// LetReform lets the devices of a network form it anew, or join it, by themselves until a
// time, and forgets those whose time is over.
func (tx *Tx) LetReform(guardian string, devices []motion.Device, until motion.Time) error {
	all := map[digest]reform{}
	if err := tx.getMeta(reformKey, &all); err != nil {
		return err
	}
	maps.DeleteFunc(all, func(_ digest, r reform) bool { return r.Until <= tx.now })
	for _, d := range devices {
		if d.Kind != motion.RadarKind {
			continue
		}
		r := reform{Until: until, Guardian: digestOf(guardian), Address: digestOf(d.Address)}
		if !d.MAC.IsZero() {
			r.MAC = digestOf(d.MAC.String())
		}
		all[digestOf(d.ID)] = r
	}
	return tx.putMeta(reformKey, all)
}
