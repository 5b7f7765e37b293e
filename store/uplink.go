package store

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"sensegate/motion"
)

// instanceKey is the key in the meta bucket of the instance id.
const instanceKey = "instance"

// makeInstance gives the database its instance id.
func (tx *Tx) makeInstance() error {
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return fmt.Errorf("make instance id: %w", err)
	}
	return tx.putMeta(instanceKey, hex.EncodeToString(id[:]))
}

// Instance returns the instance id of this database: 8 hexadecimal digits by which brokers outside,
// and those who read there, tell one appliance from another.
func (tx *Tx) Instance() (id string, err error) {
	err = tx.getMeta(instanceKey, &id)
	return id, err
}

// Uplink is an uplink that was made in the app; package uplink knows its configuration.
type Uplink struct {
	Name   string          `json:"name"`
	Config json.RawMessage `json:"config"` // with its password
}

// uplinks is the table of the uplinks that were made in the app.
var uplinks = table[string, Uplink]{name: "uplinks", noun: "uplink", key: keyText}

// Uplinks returns the uplinks that were made in the app, by name.
func (tx *Tx) Uplinks() ([]Uplink, error) { return uplinks.all(tx, nil) }

// PutUplink stores an uplink, and replaces that of its name.
func (tx *Tx) PutUplink(u Uplink) error { return uplinks.put(tx, u.Name, u) }

// DeleteUplink removes an uplink with its cursor.
func (tx *Tx) DeleteUplink(name string) error {
	if err := uplinkCursors.delete(tx, name); err != nil {
		return err
	}
	return uplinks.mustDelete(tx, name)
}

// UplinkCursor is how far an uplink has come. Everything up to there was acknowledged, or was not for
// it.
type UplinkCursor struct {
	Name    string      `json:"name"`
	Events  *uint64     `json:"events,omitempty"`  // number of the last event; nil: it wants none
	Minutes motion.Time `json:"minutes,omitempty"` // end of the last minute of history; 0: it wants none
}

// uplinkCursors is the table of the cursors of all uplinks.
var uplinkCursors = table[string, UplinkCursor]{name: "uplink_cursors", noun: "cursor of an uplink", key: keyText}

// UplinkCursor returns the cursor of an uplink, and whether it has one.
func (tx *Tx) UplinkCursor(name string) (UplinkCursor, bool, error) { return uplinkCursors.get(tx, name) }

// PutUplinkCursor stores a cursor. From the first that wants events on, events are numbered.
func (tx *Tx) PutUplinkCursor(c UplinkCursor) error { return uplinkCursors.put(tx, c.Name, c) }

// KeepUplinkCursors removes the cursors of all other uplinks.
func (tx *Tx) KeepUplinkCursors(names map[string]bool) error {
	for _, key := range uplinkCursors.keys(tx, nil) {
		if names[string(key)] {
			continue
		}
		if err := uplinkCursors.removeAll(tx, [][]byte{key}); err != nil {
			return err
		}
	}
	return nil
}

// LastEventNumber returns the number of the event that was numbered last; 0: none was.
func (tx *Tx) LastEventNumber() (uint64, error) {
	last := tx.bucket(eventsBySeq).Sequence()
	if key, _ := tx.bucket(eventsBySeq).Cursor().Last(); len(key) == 8 { // a rebuilt index has lost its sequence
		last = max(last, binary.BigEndian.Uint64(key))
	}
	cursors, err := uplinkCursors.all(tx, nil)
	for _, c := range cursors {
		if c.Events != nil {
			last = max(last, *c.Events)
		}
	}
	return last, err
}

// number gives a new event the next number while an uplink wants events, so that late events and those
// stamped anew are found by when they were stored; nobody else pays for it. It has the watchers woken.
func (tx *Tx) number(record *eventRecord) error {
	cursors, err := uplinkCursors.all(tx, nil)
	wanted := false
	for _, c := range cursors {
		wanted = wanted || c.Events != nil
	}
	if err != nil || !wanted {
		return err
	}
	last, err := tx.LastEventNumber()
	if err != nil {
		return err
	}
	record.Seq = last + 1
	tx.OnCommit(tx.db.numbered.wake)
	return tx.bucket(eventsBySeq).SetSequence(record.Seq)
}

// NumberedEvent is an event with its number.
type NumberedEvent struct {
	Number uint64
	motion.Event
}

// EventsAfter returns up to limit events whose number is above after, in the order in which they were
// stored, and the number up to which there are no others. Numbers that are missing in between belonged
// to events that are no longer kept. Events past their retention are left out.
func (tx *Tx) EventsAfter(after uint64, limit int) (found []NumberedEvent, last uint64, err error) {
	last = after
	cursor := tx.bucket(eventsBySeq).Cursor()
	for key, primary := cursor.Seek(key64(after + 1)); key != nil; key, primary = cursor.Next() {
		if len(found) == limit {
			return found, last, nil
		}
		if len(key) != 8 {
			continue // damaged
		}
		last = binary.BigEndian.Uint64(key)
		data := tx.bucket(events.name).Get(primary)
		if data == nil {
			continue
		}
		if record, ok := events.readable(tx, primary, data); ok && record.Seq == last && record.TS >= tx.eventsSince() {
			found = append(found, NumberedEvent{last, record.Event})
		}
	}
	end, err := tx.LastEventNumber()
	return found, max(last, end), err
}

// CountEventsAfter returns how many events have a number above after.
func (tx *Tx) CountEventsAfter(after uint64) (n int) {
	cursor := tx.bucket(eventsBySeq).Cursor()
	for key, _ := cursor.Seek(key64(after + 1)); key != nil; key, _ = cursor.Next() {
		n++
	}
	return n
}
