package store

import "sensegate/motion"

// pushLimit is how many pushes of one network can wait; the oldest go first.
const pushLimit = 256

// Push is a message to the people of a network that waits for a sender
// (payloads.md 6 no. 8).
type Push struct {
	ID        uint64           `json:"id"`
	NetworkID motion.NetworkID `json:"network_id"`
	UserIDs   []int64          `json:"user_ids"` // who receives it; empty: all members
	Payload   motion.Document  `json:"payload"`  // as the push gateway takes it
	Alert     string           `json:"alert"`    // uuid of the alert that it comes from
	Target    motion.Stamp     `json:"target"`   // the occurrence
	Late      motion.Seconds   `json:"late_s"`   // how late the alert fired; 0 up to a minute
	CreatedAt motion.Time      `json:"created_at"`
}

// pushKey orders the pushes of a network by id.
type pushKey struct {
	network motion.NetworkID
	id      uint64
}

// pushes is the table of pushes that wait.
var pushes = table[pushKey, Push]{
	name: "pushes", noun: "push", grows: true,
	key: func(k pushKey) []byte { return join(key32(k.network), key64(k.id)) },
}

// AddPush stores a push under the next id and returns it, with CreatedAt set to
// now. Of more than 256 that wait in one network the oldest go.
func (tx *Tx) AddPush(p Push) (Push, error) {
	if err := tx.requireNetwork(p.NetworkID); err != nil {
		return p, err
	}
	id, err := tx.bucket(pushes.name).NextSequence()
	if err != nil {
		return p, err
	}
	p.ID, p.CreatedAt = id, tx.now
	waiting := pushes.keys(tx, key32(p.NetworkID))
	if err := pushes.removeAll(tx, waiting[:max(0, len(waiting)-pushLimit+1)]); err != nil {
		return p, err
	}
	return p, pushes.put(tx, pushKey{p.NetworkID, id}, p)
}

// Pushes returns the pushes of a network that wait, oldest first.
func (tx *Tx) Pushes(network motion.NetworkID) ([]Push, error) {
	return pushes.all(tx, key32(network))
}

// OldestPush returns the push that comes first in the table of those that wait, and
// whether there is one.
func (tx *Tx) OldestPush() (Push, bool, error) {
	cursor := tx.bucket(pushes.name).Cursor()
	for key, data := cursor.First(); key != nil; key, data = cursor.Next() {
		if p, ok := pushes.readable(tx, key, data); ok {
			return p, true, nil
		}
	}
	return Push{}, false, nil
}

// DeletePush removes a push that waited.
func (tx *Tx) DeletePush(p Push) error {
	return pushes.delete(tx, pushKey{p.NetworkID, p.ID})
}
