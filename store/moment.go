package store

import (
	"bytes"

	"sensegate/motion"
)

// Moment is a MotionDetectedEvent with the MotionStoppedEvent that ended it.
type Moment struct {
	Detected motion.Event
	Stopped  *motion.Event // nil: none is stored, because the motion goes on or because it was lost
}

// MomentPage returns the moments whose detected event q selects and want takes, never nil; full
// says that it stopped because it has enough. A nil want takes all; Categories and Kinds are not
// used. Unlike PairPage it goes by the time of the detected event and has moments without an end.
func (tx *Tx) MomentPage(q EventQuery, want func(motion.Event) bool) (list []Moment, full bool, err error) {
	q.Categories, q.Kinds = nil, []string{motion.MotionDetectedEvent}
	list = []Moment{}
	full, err = tx.eachSelected(q, func(detected motion.Event) bool {
		if want != nil && !want(detected) {
			return false
		}
		list = append(list, tx.momentOf(detected))
		return true
	})
	return turned(q, list), full, err
}

// Moment returns the moment of a MotionDetectedEvent of a network. That there is none is NotFound.
func (tx *Tx) Moment(network motion.NetworkID, id string) (Moment, error) {
	record, err := tx.eventRecord(network, id)
	if err == nil && record.Event.Event != motion.MotionDetectedEvent {
		err = eventNotFound(id)
	}
	if err != nil {
		return Moment{}, err
	}
	return tx.momentOf(record.Event), nil
}

// momentOf finds what ended a detection: the first MotionStoppedEvent that names it, before the
// next detection.
func (tx *Tx) momentOf(detected motion.Event) Moment {
	m := Moment{Detected: detected}
	owner := key32(detected.NetworkID)
	cursor := tx.bucket(events.name).Cursor()
	key, data := cursor.Seek(join(owner, key64(keyMicros(detected.TS)+1)))
	for ; bytes.HasPrefix(key, owner); key, data = cursor.Next() {
		_, kind := eventHead(data)
		if string(kind) == motion.MotionDetectedEvent {
			break
		}
		if string(kind) != motion.MotionStoppedEvent {
			continue
		}
		if record, ok := events.readable(tx, key, data); ok && record.DetectedTS == detected.TS {
			m.Stopped = &record.Event
			break
		}
	}
	return m
}
