package store

import (
	"bytes"
	"math"

	"github.com/google/uuid"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
)

// detectionRecord is a detection with the sensor that it comes from.
type detectionRecord struct {
	sensor.Detection
	Sensor sensor.DeviceID `json:"_sensor"`
}

// detectionKey orders the detections of a home by time.
type detectionKey struct {
	home   home.ID
	micros uint64
	id     uuid.UUID
}

// String returns the id, for messages.
func (k detectionKey) String() string { return k.id.String() }

func (k detectionKey) bytes() []byte { return join(key32(k.home), key64(k.micros), k.id[:]) }

// detections is the table of what sensors have told.
var detections = table[detectionKey, detectionRecord]{
	name: "detections", noun: "detection", key: detectionKey.bytes, grows: true, history: true,
	indexes: []index[detectionRecord]{{
		name: "detections_by_sensor", noun: "sensor",
		keys: func(r detectionRecord) [][]byte { return [][]byte{key32(r.Sensor)} },
	}},
}

// AddDetection stores a detection of a device under a new id, a UUIDv7 of its time, and
// returns it.
func (tx *Tx) AddDetection(d sensor.Device, found sensor.Detection) (sensor.Detection, error) {
	found.TS = motion.FromMicros(found.TS.Micros())
	id, err := tx.newTimedID(detections.name, key32(d.Home), keyMicros(found.TS))
	if err != nil {
		return found, err
	}
	found.ID = id.String()
	key := detectionKey{d.Home, keyMicros(found.TS), id}
	return found, detections.put(tx, key, detectionRecord{found, d.ID})
}

// DetectionQuery selects detections of a home, newest first.
type DetectionQuery struct {
	Home     home.ID
	Sensor   sensor.DeviceID // 0: all
	From, To motion.Time     // inclusive, rounded to the microsecond; To 0: no end
	Last     int             // at most so many
}

// Detections returns the detections that q selects, newest first, never nil, without
// what is past its retention and what cannot be read. It reads only those.
func (tx *Tx) Detections(q DetectionQuery) ([]sensor.Detection, error) {
	list := []sensor.Detection{}
	q.From = max(q.From, before(tx.now, tx.db.retention.Detections))
	prefix, cursor := key32(q.Home), tx.bucket(detections.name).Cursor()
	if q.Sensor != 0 {
		prefix, cursor = join(key32(q.Sensor), prefix), tx.bucket("detections_by_sensor").Cursor()
	}
	first := join(prefix, key64(keyMicros(q.From)))
	end := join(prefix, bytes.Repeat([]byte{0xff}, 8))
	if q.To != 0 {
		end = join(prefix, key64(keyMicros(q.To)+1))
	}
	key, value := lastBefore(cursor, end)
	for ; key != nil && bytes.Compare(key, first) >= 0 && len(list) < q.Last; key, value = cursor.Prev() {
		if q.Sensor != 0 {
			key, value = value, tx.bucket(detections.name).Get(value)
		}
		if record, ok := detections.readable(tx, key, value); ok {
			list = append(list, record.Detection)
		}
	}
	return list, nil
}

// deleteDetections removes the detections of a sensor.
func (tx *Tx) deleteDetections(id sensor.DeviceID) error {
	return tx.removeDetections(tx.excessDetections(key32(id), 0, math.MaxInt))
}

// TrimDetections removes the oldest detections of every sensor that has more than
// most, unless that is 0, and those older than cutoff, at most limit of them, and returns
// how many it removed. Fewer than limit means that none is left to remove. It reads keys
// alone, of a sensor no more than most and limit together.
func (tx *Tx) TrimDetections(cutoff motion.Time, most, limit int) (removed int, err error) {
	for _, id := range sensors.keys(tx, nil) {
		if removed == limit {
			break
		}
		keys := tx.agedDetections(id, cutoff, limit-removed)
		if err := tx.removeDetections(keys); err != nil {
			return removed, err
		}
		removed += len(keys)
		if most == 0 {
			continue
		}
		keys = tx.excessDetections(id, most, limit-removed)
		if err := tx.removeDetections(keys); err != nil {
			return removed, err
		}
		removed += len(keys)
	}
	return removed, nil
}

// excessDetections returns the keys of the oldest detections of a sensor, with the
// encoded id, beyond the newest most, at most limit of them.
func (tx *Tx) excessDetections(id []byte, most, limit int) (keys [][]byte) {
	over := -most // how many there are beyond most, as far as is read
	cursor := tx.bucket("detections_by_sensor").Cursor()
	for key, primary := cursor.Seek(id); bytes.HasPrefix(key, id) && over < limit; key, primary = cursor.Next() {
		if len(keys) < limit {
			keys = append(keys, primary)
		}
		over++
	}
	return keys[:max(0, over)]
}

// agedDetections returns the keys of detections of a sensor, with the encoded id, from
// before cutoff, at most limit of them.
func (tx *Tx) agedDetections(id []byte, cutoff motion.Time, limit int) (keys [][]byte) {
	end := key64(keyMicros(cutoff))
	cursor := tx.bucket("detections_by_sensor").Cursor()
	for key, primary := cursor.Seek(id); bytes.HasPrefix(key, id) && len(keys) < limit; key, primary = cursor.Next() {
		if bytes.Compare(key[8:], end) >= 0 { // behind the sensor and its home
			break
		}
		keys = append(keys, primary)
	}
	return keys
}

// removeDetections removes detections by their keys, which may be the file's own.
func (tx *Tx) removeDetections(keys [][]byte) error {
	for i := range keys {
		keys[i] = bytes.Clone(keys[i]) // removing changes the pages they lie on
	}
	return detections.removeAll(tx, keys)
}
