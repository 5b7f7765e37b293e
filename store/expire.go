package store

import (
	"bytes"

	"sensegate/motion"
	"sensegate/motion/command"
)

// expireRecordLimit bounds the records of a kind that one transaction deletes; the
// following ones go on.
const expireRecordLimit = 5000

// expireRecords deletes the oldest events, detections, finished commands, empty batches
// and lines of the audit log that are past their retention when it is now, in seconds, and reports whether
// there are more of them. A kind that cannot be deleted is logged and waits: the samples
// of the same flush, and the others, do not.
func (tx *Tx) expireRecords(now int64) (more bool) {
	keep := tx.db.retention
	for _, kind := range []struct {
		table  string
		cutoff motion.Time
		expire func(cutoff motion.Time) (int, error)
	}{
		{detections.name, before(motion.Time(now), keep.Detections), func(cutoff motion.Time) (int, error) {
			return tx.TrimDetections(cutoff, keep.DetectionsOfSensor, expireRecordLimit)
		}},
		{events.name, before(motion.Time(now), keep.Events), func(cutoff motion.Time) (int, error) {
			return tx.DeleteEventsBefore(cutoff, expireRecordLimit)
		}},
		{commands.name, before(motion.Time(now), keep.Commands), tx.expireCommands},
		{batches.name, before(motion.Time(now), keep.Commands), tx.expireBatches},
		{audit.name, before(motion.Time(now), keep.Events), tx.expireAudit},
	} {
		n, err := kind.expire(kind.cutoff)
		if err != nil {
			tx.db.logger.Error("what is past its retention is not deleted", "bucket", kind.table, "err", err)
			continue
		}
		more = more || n == expireRecordLimit
	}
	return more
}

func (tx *Tx) expireCommands(cutoff motion.Time) (int, error) {
	over := func(c command.Command) bool { return c.State.Final() && c.UpdatedAt < cutoff }
	return expireTable(tx, &commands, cutoff, func(c command.Command) motion.Time { return c.CreatedAt }, over)
}

func (tx *Tx) expireBatches(cutoff motion.Time) (int, error) {
	empty := func(b command.Batch) bool {
		key, _ := tx.bucket("commands_by_batch").Cursor().Seek(key64ID(b.ID))
		return !bytes.HasPrefix(key, key64ID(b.ID))
	}
	return expireTable(tx, &batches, cutoff, func(b command.Batch) motion.Time { return b.CreatedAt }, empty)
}

// expireTable deletes the first records of a table, whose keys are in the order in
// which they were made, that were made before cutoff and that may go, and returns how
// many. One that cannot be read stays.
func expireTable[K, V any](tx *Tx, t *table[K, V], cutoff motion.Time, made func(V) motion.Time, mayGo func(V) bool) (int, error) {
	var old [][]byte
	cursor := tx.bucket(t.name).Cursor()
	for key, data := cursor.First(); key != nil && len(old) < expireRecordLimit; key, data = cursor.Next() {
		v, ok := t.readable(tx, key, data)
		if !ok {
			continue
		}
		if made(v) >= cutoff {
			break
		}
		if mayGo(v) {
			old = append(old, bytes.Clone(key))
		}
	}
	return len(old), t.removeAll(tx, old)
}
