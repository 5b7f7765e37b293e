package store

import (
	"bytes"
	"fmt"
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
)

// ForgetInEvents takes a person out of the history of every network, before their
// deletion: events about them as a member are removed; of those that they have caused,
// such as a change of the scene, the mark of who did is emptied (data.user, payloads.md
// 4.8 and 5.3).
func (tx *Tx) ForgetInEvents(u home.User) error {
	about := []byte(u.Sub)
	by := fmt.Appendf(nil, `"user":{"id":%d`, u.ID)
	var found [][]byte
	cursor := tx.bucket(events.name).Cursor()
	for key, data := cursor.First(); key != nil; key, data = cursor.Next() {
		if u.Sub != "" && bytes.Contains(data, about) || bytes.Contains(data, by) {
			found = append(found, bytes.Clone(key))
		}
	}
	for _, key := range found {
		if err := tx.forgetInEvent(key, u); err != nil {
			return err
		}
	}
	return nil
}

// forgetInEvent takes a person out of one event. One that cannot be read is removed.
func (tx *Tx) forgetInEvent(key []byte, u home.User) error {
	record, ok := events.readable(tx, key, tx.bucket(events.name).Get(key))
	if sub, _ := record.Data["sub"].(string); !ok || sub == u.Sub && sub != "" {
		_, err := events.untyped().remove(tx, key)
		return err
	}
	user, _ := record.Data["user"].(map[string]any)
	if id, _ := user["id"].(float64); id != float64(u.ID) {
		return nil
	}
	record.Data = record.Data.Clone()
	forgetDoer(record.Data)
	at, err := record.complete(tx)
	if err != nil {
		return err
	}
	return events.put(tx, at, record)
}

// forgetDoer empties the mark of who has caused an event (home.DoneBy).
func forgetDoer(data motion.Document) {
	data["user"] = map[string]any{}
	delete(data, "first_name")
	delete(data, "last_name")
}

// deletePendingOf takes the devices off the waiting list that asked to join a network.
func (tx *Tx) deletePendingOf(network motion.NetworkID) error {
	n, err := tx.Network(network)
	if err != nil {
		return err
	}
	list, err := tx.PendingDevices()
	if err != nil {
		return err
	}
	return tx.SetPending(slices.DeleteFunc(list, func(p motion.PendingDevice) bool {
		return p.LocationID == n.GuardianID || p.NetworkID == network
	}))
}
