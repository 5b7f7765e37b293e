package store

import (
	"bytes"

	"sensegate/motion"
	"sensegate/motion/home"
)

// Bounds of what is remembered of a network's arming: as long as the coarsest motion,
// and no more than about six changes a day for that time.
const (
	armedKept  = 2 * 365 * 24 * 3600 // seconds
	armedLimit = 4096                // changes
)

// armedKey orders the changes of a network by time.
type armedKey struct {
	network motion.NetworkID
	micros  uint64
}

func (k armedKey) bytes() []byte { return join(key32(k.network), key64(k.micros)) }

// armedRecord is a change with its number among those of its network.
type armedRecord struct {
	motion.ArmedChange
	Number uint64 `json:"_number"`
}

// armed is the table of when households began and ceased to be away with motion armed.
var armed = table[armedKey, armedRecord]{name: "armed", noun: "arming", key: armedKey.bytes, grows: true}

// noteArmed remembers whether the household of a network is away with motion armed,
// where that has changed. A network without a home has none.
func (tx *Tx) noteArmed(network motion.NetworkID) error {
	h, found, err := tx.HomeOfNetwork(network)
	if err != nil || !found {
		return err
	}
	n, err := networks.must(tx, network)
	if err != nil {
		return err
	}
	last, known := tx.lastArmed(network, latestEvent)
	change := armedRecord{motion.ArmedChange{NetworkID: network, At: tx.now, Armed: home.ArmedAway(h, n)}, last.Number + 1}
	switch {
	case known && last.Armed == change.Armed:
		return nil
	case known && last.At >= change.At: // the clock went back
		change.At = motion.FromMicros(last.At.Micros() + 1)
	}
	if err := armed.put(tx, armedKey{network, keyMicros(change.At)}, change); err != nil {
		return err
	}
	return tx.trimArmed(network, change.Number)
}

// lastArmed returns the last change of a network at or before a time.
func (tx *Tx) lastArmed(network motion.NetworkID, at motion.Time) (c armedRecord, found bool) {
	cursor := tx.bucket(armed.name).Cursor()
	key, data := lastBefore(cursor, armedKey{network, keyMicros(at) + 1}.bytes())
	for ; bytes.HasPrefix(key, key32(network)) && !found; key, data = cursor.Prev() {
		c, found = armed.readable(tx, key, data)
	}
	return c, found
}

// trimArmed forgets what is beyond the bounds, the oldest first; the last change before
// the time that is kept stays, as it says how that began. last is the newest number.
func (tx *Tx) trimArmed(network motion.NetworkID, last uint64) error {
	prefix := key32(network)
	kept := armedKey{network, keyMicros(tx.now.Add(-armedKept))}.bytes()
	for {
		cursor := tx.bucket(armed.name).Cursor()
		key, data := cursor.Seek(prefix)
		first, readable := armed.readable(tx, key, data)
		next, _ := cursor.Next()
		past := !readable || bytes.HasPrefix(next, prefix) && bytes.Compare(next, kept) <= 0
		if !past && last-first.Number < armedLimit {
			return nil
		}
		if _, err := armed.untyped().remove(tx, bytes.Clone(key)); err != nil {
			return err
		}
	}
}

// ArmedChanges returns, in order of time, the changes of a network that tell of
// [from, to): those within, and before them the last one at or before from. Before the
// first one it is not known whether the household was away with motion armed.
func (tx *Tx) ArmedChanges(network motion.NetworkID, from, to motion.Time) ([]motion.ArmedChange, error) {
	changes := []motion.ArmedChange{}
	if first, found := tx.lastArmed(network, from); found {
		changes = append(changes, first.ArmedChange)
	}
	end := armedKey{network, keyMicros(to)}.bytes()
	cursor := tx.bucket(armed.name).Cursor()
	for key, data := cursor.Seek(armedKey{network, keyMicros(from) + 1}.bytes()); key != nil && bytes.Compare(key, end) < 0; key, data = cursor.Next() {
		if c, ok := armed.readable(tx, key, data); ok {
			changes = append(changes, c.ArmedChange)
		}
	}
	return changes, nil
}
