package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/google/uuid"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// latestEvent is the end of the times that an event can have: UUIDv7 counts
// milliseconds in 48 bits.
const latestEvent = motion.Time(1<<48) / 1000

// eventRecord is an event with what makes a repeated one known.
type eventRecord struct {
	motion.Event
	Dedupe string `json:"_dedupe,omitempty"` // hexadecimal, 16 bytes
	Seq    uint64 `json:"_seq,omitempty"`    // its number for uplinks; 0: none wanted it
}

// eventsBySeq is the index of the numbers of events.
const eventsBySeq = "events_by_seq"

// eventKey orders the events of a network by time.
type eventKey struct {
	network motion.NetworkID
	micros  uint64
	id      uuid.UUID
}

// String returns the id, for messages.
func (k eventKey) String() string { return k.id.String() }

// bytes returns the key in the table.
func (k eventKey) bytes() []byte { return join(key32(k.network), key64(k.micros), k.id[:]) }

// events is the table of events.
var events = table[eventKey, eventRecord]{
	name: "events", noun: "event", key: eventKey.bytes, grows: true, history: true,
	indexes: []index[eventRecord]{
		{
			name: "events_by_id", noun: "id", unique: true, grows: true,
			keys: func(r eventRecord) [][]byte {
				id, err := uuid.Parse(r.ID)
				if err != nil {
					return nil
				}
				return [][]byte{id[:]}
			},
		},
		{
			name: "events_by_dedupe", noun: "origin", unique: true,
			keys: func(r eventRecord) [][]byte {
				sum, err := hex.DecodeString(r.Dedupe)
				if err != nil || len(sum) == 0 {
					return nil
				}
				return [][]byte{join(key32(r.NetworkID), sum)}
			},
		},
		{
			name: eventsBySeq, noun: "number", unique: true, grows: true,
			keys: func(r eventRecord) [][]byte {
				if r.Seq == 0 {
					return nil
				}
				return [][]byte{key64(r.Seq)}
			},
		},
	},
}

// AddEvent stores an event and returns it as stored: with an id (a UUIDv7 of
// the event's own time unless one is given), the category of its kind unless one is given, times rounded to the microsecond
// and the tag padded to 10 characters. No two events of a network share a time,
// so that paging by time loses none: one that comes later is moved on to the next
// free microsecond (payloads.md 6 no. 12).
//
// A dedupe text that is not empty makes adding idempotent: when an event of the
// network was added with the same text, or with the same id, that one is
// returned and isNew is false.
//
// Where the network has more than Options.EventShare, the oldest of its events go before
// (EventCuts), so that it has more than that by one at most.
func (tx *Tx) AddEvent(e motion.Event, dedupe string) (stored motion.Event, isNew bool, err error) {
	if err := tx.requireNetwork(e.NetworkID); err != nil {
		return e, false, err
	}
	if !(e.TS > 0 && e.TS < latestEvent) {
		return e, false, fault.New(fault.Invalid, "ts: want seconds since 1970, have %v", e.TS)
	}
	if e.Category == "" {
		kind, _ := motion.EventKindOf(e.Event)
		e.Category = kind.Category
	}
	record := eventRecord{Event: e, Dedupe: dedupeSum(dedupe)}
	known, ok, err := tx.knownEvent(record)
	if err != nil || ok {
		return known, false, err
	}
	if err := tx.fitEvents(e.NetworkID); err != nil {
		return e, false, err
	}
	if err := tx.number(&record); err != nil {
		return e, false, err
	}
	key, err := record.complete(tx)
	if err != nil {
		return e, false, err
	}
	if err := events.put(tx, key, record); err != nil {
		return e, false, err
	}
	at := key.bytes()
	tx.db.share.counted[e.NetworkID] += int64(len(at) + len(tx.bucket(events.name).Get(at)))
	return record.Event, true, nil
}

// complete gives the record its stored form and returns its key.
func (r *eventRecord) complete(tx *Tx) (eventKey, error) {
	r.TS = tx.freeTime(r.NetworkID, r.TS, r.ID)
	r.DetectedTS = motion.FromMicros(r.DetectedTS.Micros())
	if r.Event.Event == motion.MotionStoppedEvent && !r.DetectedTS.IsZero() {
		if detected, ok := tx.detectedEvent(r.Event); ok {
			r.DetectedTS = detected.TS
		}
	}
	r.Tag = motion.PadTag(r.Tag)
	id, err := r.parseID(tx)
	if err != nil {
		return eventKey{}, err
	}
	r.ID = id.String()
	return eventKey{r.NetworkID, uint64(r.TS.Micros()), id}, nil
}

// freeTime returns the first microsecond from at on that no event of the network has, but
// for the one with the id.
func (tx *Tx) freeTime(network motion.NetworkID, at motion.Time, id string) motion.Time {
	own, err := uuid.Parse(id)
	for key, micros := range tx.eventRun(network, at) {
		if err == nil && bytes.HasSuffix(key, own[:]) {
			return motion.FromMicros(int64(micros))
		}
		at = motion.FromMicros(int64(micros) + 1)
	}
	return motion.FromMicros(at.Micros())
}

// eventRun yields the keys and times of the events of a network that follow each other by
// a microsecond from at on.
func (tx *Tx) eventRun(network motion.NetworkID, at motion.Time) iter.Seq2[[]byte, uint64] {
	owner := key32(network)
	return func(yield func([]byte, uint64) bool) {
		next := keyMicros(at)
		cursor := tx.bucket(events.name).Cursor()
		for key, _ := cursor.Seek(join(owner, key64(next))); bytes.HasPrefix(key, owner); key, _ = cursor.Next() {
			micros := binary.BigEndian.Uint64(key[len(owner):])
			if micros > next || !yield(key, micros) {
				return
			}
			next = micros + 1
		}
	}
}

// parseID returns the id of the event, or a new one of its time.
func (r *eventRecord) parseID(tx *Tx) (uuid.UUID, error) {
	if r.ID != "" {
		id, err := uuid.Parse(r.ID)
		if err != nil {
			return id, fault.New(fault.Invalid, "_id: want a uuid, have %.40q", r.ID)
		}
		return id, nil
	}
	return tx.newTimedID(events.name, key32(r.NetworkID), uint64(r.TS.Micros()))
}

// dedupeSum returns the stored form of a dedupe text.
func dedupeSum(dedupe string) string {
	if dedupe == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(dedupe))
	return hex.EncodeToString(sum[:16])
}

// knownEvent returns the event that was stored before with the same dedupe text
// or the same id.
func (tx *Tx) knownEvent(r eventRecord) (motion.Event, bool, error) {
	if r.Dedupe != "" {
		sum, err := hex.DecodeString(r.Dedupe)
		if err != nil {
			return motion.Event{}, false, fmt.Errorf("decode dedupe: %w", err)
		}
		known, ok, err := tx.knownBy("events_by_dedupe", join(key32(r.NetworkID), sum))
		if err != nil || ok {
			return known.Event, ok, err
		}
	}
	id, err := uuid.Parse(r.ID)
	if err != nil {
		return motion.Event{}, false, nil
	}
	known, ok, err := tx.knownBy("events_by_id", id[:])
	if err == nil && ok && known.NetworkID != r.NetworkID {
		err = fault.New(fault.Conflict, "_id: belongs to an event of another network")
	}
	return known.Event, ok && err == nil, err
}

// knownBy returns the event at a key of a unique index and whether there is one. One that
// cannot be read gives way to the one that is added.
func (tx *Tx) knownBy(index string, key []byte) (eventRecord, bool, error) {
	at := bytes.Clone(tx.bucket(index).Get(key))
	if data := tx.bucket(events.name).Get(at); data != nil {
		if _, ok := events.readable(tx, at, data); !ok {
			_, err := events.untyped().remove(tx, at)
			return eventRecord{}, false, err
		}
	}
	return events.by(tx, index, key)
}

// Event returns the event of a network with the id. An id that is no uuid, or
// is that of another network's event, is not found.
func (tx *Tx) Event(network motion.NetworkID, id string) (motion.Event, error) {
	record, err := tx.eventRecord(network, id)
	return record.Event, err
}

// eventRecord returns the stored record of an event.
func (tx *Tx) eventRecord(network motion.NetworkID, id string) (eventRecord, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return eventRecord{}, eventNotFound(id)
	}
	record, ok, err := events.by(tx, "events_by_id", parsed[:])
	if err != nil {
		return eventRecord{}, err
	}
	if !ok || record.NetworkID != network || record.TS < tx.eventsSince() {
		return eventRecord{}, eventNotFound(id)
	}
	return record, nil
}

func eventNotFound(id string) error { return fault.New(fault.NotFound, "event %.40q: not found", id) }

// TagEvent sets the tag of an event, cut and padded to 10 characters, and
// returns the stored event.
func (tx *Tx) TagEvent(network motion.NetworkID, id, tag string) (motion.Event, error) {
	if err := tx.Here(network); err != nil {
		return motion.Event{}, err
	}
	record, err := tx.eventRecord(network, id)
	if err != nil {
		return motion.Event{}, err
	}
	record.Tag = motion.PadTag(tag)
	key, err := record.complete(tx)
	if err != nil {
		return motion.Event{}, err
	}
	return record.Event, events.put(tx, key, record)
}

// EventsSince returns the time before which events are past their retention.
func (db *DB) EventsSince() motion.Time { return before(motion.TimeOf(db.now()), db.retention.Events) }

// eventsSince returns the time before which events are past their retention and
// not shown.
func (tx *Tx) eventsSince() motion.Time { return before(tx.now, tx.db.retention.Events) }

// DeleteEventsBefore removes events older than cutoff, at most limit of them,
// of each network the oldest first, and returns how many it removed. Fewer than
// limit means that none is left.
func (tx *Tx) DeleteEventsBefore(cutoff motion.Time, limit int) (int, error) {
	var old [][]byte
	for _, network := range networks.keys(tx, nil) {
		end := join(network, key64(keyMicros(cutoff)))
		cursor := tx.bucket(events.name).Cursor()
		key, _ := cursor.Seek(network)
		for ; key != nil && bytes.Compare(key, end) < 0 && len(old) < limit; key, _ = cursor.Next() {
			old = append(old, bytes.Clone(key))
		}
	}
	return len(old), events.removeAll(tx, old)
}
