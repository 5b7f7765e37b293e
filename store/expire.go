package store

import (
	"bytes"

	"sensegate/motion"
	"sensegate/motion/command"
)

// expireRecordLimit bounds the records of a kind that one transaction deletes.
const expireRecordLimit = 5000

// expireRecords deletes the oldest events, detections, finished commands and empty
// batches that are past their retention when it is now, in seconds.
func (tx *Tx) expireRecords(now int64) error {
	keep := tx.db.retention
	if _, err := tx.TrimDetections(before(motion.Time(now), keep.Detections), keep.DetectionsOfSensor, expireRecordLimit); err != nil {
		return err
	}
	if cutoff := before(motion.Time(now), tx.db.retention.Events); cutoff > 0 {
		if _, err := tx.DeleteEventsBefore(cutoff, expireRecordLimit); err != nil {
			return err
		}
	}
	cutoff := before(motion.Time(now), tx.db.retention.Commands)
	if cutoff == 0 {
		return nil
	}
	over := func(c command.Command) bool { return c.State.Final() && c.UpdatedAt < cutoff }
	made := func(c command.Command) motion.Time { return c.CreatedAt }
	if err := expireTable(tx, commands, cutoff, made, over); err != nil {
		return err
	}
	empty := func(b command.Batch) bool {
		key, _ := tx.bucket("commands_by_batch").Cursor().Seek(key64ID(b.ID))
		return !bytes.HasPrefix(key, key64ID(b.ID))
	}
	return expireTable(tx, batches, cutoff, func(b command.Batch) motion.Time { return b.CreatedAt }, empty)
}

// expireTable deletes the first records of a table, whose keys are in the order in
// which they were made, that were made before cutoff and that may go.
func expireTable[K, V any](tx *Tx, t table[K, V], cutoff motion.Time, made func(V) motion.Time, mayGo func(V) bool) error {
	var old [][]byte
	cursor := tx.bucket(t.name).Cursor()
	for key, data := cursor.First(); key != nil && len(old) < expireRecordLimit; key, data = cursor.Next() {
		v, err := t.decode(key, data)
		if err != nil {
			return err
		}
		if made(v) >= cutoff {
			break
		}
		if mayGo(v) {
			old = append(old, bytes.Clone(key))
		}
	}
	for _, key := range old {
		if _, err := t.remove(tx, key); err != nil {
			return err
		}
	}
	return nil
}
