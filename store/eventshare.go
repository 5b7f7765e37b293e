package store

import (
	"bytes"
	"encoding/binary"
	"syscall"

	"sensegate/motion"
)

// eventShare bounds the events of each network, so that none fills the disk. Only the
// transaction that writes uses it.
type eventShare struct {
	most    int64                      // bytes of keys and records; 0: any number
	counted map[motion.NetworkID]int64 // at least what a network has, but for longer tags; missing: not counted yet
}

// diskShares is how many networks with all the events that they may have a disk has room for
// at least.
const diskShares = 16

// newEventShare returns what Options.EventShare asks for, a sixteenth of the file system of
// a directory at most: its size is used because it does not change when others fill it.
func newEventShare(directory string, most int64) eventShare {
	share := eventShare{most: most, counted: map[motion.NetworkID]int64{}}
	var system syscall.Statfs_t
	if most > 0 && syscall.Statfs(directory, &system) == nil {
		share.most = min(most, int64(system.Blocks)*int64(system.Bsize)/diskShares)
	}
	return share
}

// EventCut tells which events of a network went because it had more than it may have.
type EventCut struct {
	Network motion.NetworkID
	Events  int         // how many
	Until   motion.Time // of the newest of them: the history begins after it
}

// EventCuts returns what adding events in this transaction has removed of the history.
func (tx *Tx) EventCuts() []EventCut { return tx.cuts }

// fitEvents removes the oldest events of a network that has more than its share, until a
// 128th of that is free, or as many as one transaction removes. What is counted without
// looking at the file can be too much, as other deletions are not taken off: then it is
// counted anew.
func (tx *Tx) fitEvents(network motion.NetworkID) error {
	share := &tx.db.share
	if share.most == 0 {
		return nil
	}
	size, known := share.counted[network]
	if known && size <= share.most {
		return nil
	}
	size = tx.eventBytes(network)
	if size > share.most {
		gone, err := tx.cutEvents(network, size-share.most+share.most/128)
		if err != nil {
			return err
		}
		size -= gone
	}
	share.counted[network] = size
	return nil
}

// eventBytes returns the bytes of the keys and records of a network's events.
func (tx *Tx) eventBytes(network motion.NetworkID) (size int64) {
	owner := key32(network)
	cursor := tx.bucket(events.name).Cursor()
	for key, data := cursor.Seek(owner); bytes.HasPrefix(key, owner); key, data = cursor.Next() {
		size += int64(len(key) + len(data))
	}
	return size
}

// cutEvents removes the oldest events of a network, of so many bytes together, and returns
// how many bytes it removed.
func (tx *Tx) cutEvents(network motion.NetworkID, excess int64) (gone int64, err error) {
	owner := key32(network)
	var old [][]byte
	cursor := tx.bucket(events.name).Cursor()
	for key, data := cursor.Seek(owner); bytes.HasPrefix(key, owner) && gone < excess && len(old) < expireRecordLimit; key, data = cursor.Next() {
		gone += int64(len(key) + len(data))
		old = append(old, bytes.Clone(key))
	}
	if err := events.removeAll(tx, old); err != nil {
		return 0, err
	}
	if len(old) > 0 {
		micros := binary.BigEndian.Uint64(old[len(old)-1][len(owner):])
		tx.cuts = append(tx.cuts, EventCut{Network: network, Events: len(old), Until: motion.FromMicros(int64(micros))})
	}
	return gone, nil
}
