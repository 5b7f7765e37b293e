package store

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// DefaultEventLast is how many events a query returns unless it says how many.
const DefaultEventLast = 10

// EventQuery selects events of one network (payloads.md 6 no. 12). With
// From alone it takes the oldest Last events after it, so that a client that
// pages forward loses nothing; otherwise the newest Last ones.
type EventQuery struct {
	Network    motion.NetworkID
	From, To   *motion.Time      // both exclusive, rounded to the microsecond; nil: no bound
	After      string            // the id of an event, or of a pair of them, behind which to go on towards the other end; empty: at the end
	NotBefore  motion.Time       // older events do not exist for the caller; does not change which end is taken
	Last       int               // 0: DefaultEventLast
	Categories []motion.Category // any of these; none: all
	Kinds      []string          // any of these; none: all
	Ascending  bool              // oldest first; else newest first
}

// pageBytes is how much of stored events one answer has at most, but for one that is
// larger alone.
const pageBytes = 1 << 20

// Events returns the events that q selects, never nil, up to as many as an answer has. It
// reads only the selected network and stops when it has enough. An event that cannot be
// read is left out and counted (Health).
func (tx *Tx) Events(q EventQuery) ([]motion.Event, error) {
	list, _, err := tx.EventPage(q)
	return list, err
}

// EventPage is Events; full says that it stopped because it has enough.
func (tx *Tx) EventPage(q EventQuery) (list []motion.Event, full bool, err error) {
	list = []motion.Event{}
	full, err = tx.eachSelected(q, func(e motion.Event) bool {
		list = append(list, e)
		return true
	})
	return turned(q, list), full, err
}

// PairPage returns the pairs of a MotionDetectedEvent and its MotionStoppedEvent whose
// stopped event q selects, never nil; full says that it stopped because it has enough.
// Categories and Kinds are not used. A stopped event names its detected event by
// DetectedTS; one whose detected event is not stored makes no pair.
func (tx *Tx) PairPage(q EventQuery) (list []motion.EventPair, full bool, err error) {
	q.Categories, q.Kinds = nil, []string{motion.MotionStoppedEvent}
	list = []motion.EventPair{}
	full, err = tx.eachSelected(q, func(stopped motion.Event) bool {
		detected, ok := tx.detectedEvent(stopped)
		if ok {
			list = append(list, motion.Pair(detected, stopped, tx.now))
		}
		return ok
	})
	return turned(q, list), full, err
}

// eachSelected calls take with the events that q selects, from the end that it wants, until
// enough were taken, which it reports.
func (tx *Tx) eachSelected(q EventQuery, take func(motion.Event) bool) (enough bool, err error) {
	if q, err = tx.goOn(q); err != nil {
		return false, err
	}
	taken, size := 0, 0
	for key, data := range tx.scanEvents(q) {
		if !q.selects(data) {
			continue
		}
		if record, ok := events.readable(tx, key, data); !ok || !take(record.Event) {
			continue
		}
		taken, size = taken+1, size+len(data)
		if taken == q.last() || size >= pageBytes {
			return true, nil
		}
	}
	return false, nil
}

// turned returns records that were found from the end that q wants in the order that it
// wants.
func turned[T any](q EventQuery, list []T) []T {
	if q.forward() != q.Ascending {
		slices.Reverse(list)
	}
	return list
}

// goOn returns q with After as one of its bounds. Invalid: there is no such event.
func (tx *Tx) goOn(q EventQuery) (EventQuery, error) {
	if q.After == "" {
		return q, nil
	}
	id, _, _ := strings.Cut(q.After, ".")
	after, err := tx.eventRecord(q.Network, id)
	if fault.KindOf(err) == fault.NotFound || err == nil && after.TS < q.NotBefore {
		return q, fault.Mistakes(fault.Detail{Location: "query.after", Message: "no event with this id is kept: page from the start", Value: q.After})
	}
	switch {
	case q.forward():
		q.From = new(max(*q.From, after.TS))
	case q.To == nil || *q.To > after.TS:
		q.To = &after.TS
	}
	return q, err
}

// detectedEvent returns the MotionDetectedEvent that stopped ends: that of its
// DetectedTS, or one that was moved on from there because others had that time; of
// several the one of the same link.
func (tx *Tx) detectedEvent(stopped motion.Event) (found motion.Event, ok bool) {
	if stopped.DetectedTS < tx.eventsSince() {
		return motion.Event{}, false
	}
	for key := range tx.eventRun(stopped.NetworkID, stopped.DetectedTS) {
		record, readable := events.readable(tx, key, tx.bucket(events.name).Get(key))
		if !readable || record.Event.Event != motion.MotionDetectedEvent {
			continue
		}
		if record.LinkID == stopped.LinkID {
			return record.Event, true
		}
		if !ok {
			found, ok = record.Event, true
		}
	}
	return found, ok
}

// last returns how many records are wanted.
func (q EventQuery) last() int {
	if q.Last <= 0 {
		return DefaultEventLast
	}
	return q.Last
}

// forward reports whether the oldest records are wanted.
func (q EventQuery) forward() bool { return q.From != nil && q.To == nil }

// bounds returns the first key that q can select and the first after it that q
// cannot.
func (q EventQuery) bounds() (first, end []byte) {
	low := keyMicros(q.NotBefore)
	if q.From != nil {
		low = max(low, keyMicros(*q.From)+1)
	}
	first = join(key32(q.Network), key64(low))
	if q.To != nil {
		return first, join(key32(q.Network), key64(keyMicros(*q.To)))
	}
	return first, join(key32(q.Network), bytes.Repeat([]byte{0xff}, 8))
}

// scanEvents yields the events between the bounds of q as they are stored, from
// the end that q wants.
func (tx *Tx) scanEvents(q EventQuery) iter.Seq2[[]byte, []byte] {
	q.NotBefore = max(q.NotBefore, tx.eventsSince())
	first, end := q.bounds()
	cursor := tx.bucket(events.name).Cursor()
	return func(yield func(key, data []byte) bool) {
		if q.forward() {
			for key, data := cursor.Seek(first); key != nil && bytes.Compare(key, end) < 0; key, data = cursor.Next() {
				if !yield(key, data) {
					return
				}
			}
			return
		}
		key, data := lastBefore(cursor, end)
		for ; key != nil && bytes.Compare(key, first) >= 0; key, data = cursor.Prev() {
			if !yield(key, data) {
				return
			}
		}
	}
}

// selects reports whether the stored event has one of the wanted categories and
// kinds. It does so without decoding, which costs fifty times as much.
func (q EventQuery) selects(data []byte) bool {
	if len(q.Categories) == 0 && len(q.Kinds) == 0 {
		return true
	}
	category, kind := eventHead(data)
	isCategory := func(c motion.Category) bool { return string(c) == string(category) }
	isKind := func(k string) bool { return k == string(kind) }
	return (len(q.Categories) == 0 || slices.ContainsFunc(q.Categories, isCategory)) &&
		(len(q.Kinds) == 0 || slices.ContainsFunc(q.Kinds, isKind))
}

// eventHead returns the category and the kind of a stored event. They stand
// behind the id, whose length is fixed, at the start of the value; an unusual
// one is decoded.
func eventHead(data []byte) (category, kind []byte) {
	const idEnd = len(`{"_id":"`) + 36
	if len(data) > idEnd && bytes.HasPrefix(data, []byte(`{"_id":"`)) {
		rest, ok := bytes.CutPrefix(data[idEnd:], []byte(`","category":"`))
		head, rest, found := bytes.Cut(rest, []byte(`","event":"`))
		tail, _, closed := bytes.Cut(rest, []byte(`"`))
		if ok && found && closed && !bytes.ContainsAny(head, `"\\`) && !bytes.Contains(tail, []byte(`\`)) {
			return head, tail
		}
	}
	var event motion.Event
	if len(data) < checksumSize || json.Unmarshal(data[:len(data)-checksumSize], &event) != nil {
		return nil, nil
	}
	return []byte(event.Category), []byte(event.Event)
}
