package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"sensegate/motion/fault"
)

// untyped is what of a table does not depend on the types of its records: the compiler makes
// this code once, and what table has for each kind of record. A record is a pointer to one.
type untyped struct {
	name    string
	noun    string
	grows   bool
	vital   bool
	history bool
	kind    recordKind
}

// recordKind is what a table knows about the type of its records.
type recordKind interface {
	// fresh returns an empty record.
	fresh() any
	// index returns the index with a number from 0 as an entry without a key; false: there are fewer.
	index(i int) (entry, bool)
	// indexKeys returns the keys of a record in that index.
	indexKeys(i int, record any) [][]byte
}

// untyped returns a table without the types of its records.
func (t *table[K, V]) untyped() untyped {
	return untyped{name: t.name, noun: t.noun, grows: t.grows, vital: t.vital, history: t.history, kind: t}
}

func (t *table[K, V]) fresh() any { return new(V) }

func (t *table[K, V]) index(i int) (entry, bool) {
	if i == len(t.indexes) {
		return entry{}, false
	}
	index := &t.indexes[i]
	return entry{index: index.name, noun: index.noun, unique: index.unique, grows: index.grows}, true
}

func (t *table[K, V]) indexKeys(i int, record any) [][]byte { return t.indexes[i].keys(*record.(*V)) }

// typed returns a record as what it is, and whether there is one.
func typed[V any](record any, err error) (v V, ok bool, _ error) {
	if record != nil {
		v, ok = *record.(*V), true
	}
	return v, ok, err
}

// appender returns a function that appends a record to a list.
func appender[V any](list *[]V) func(record any) {
	return func(record any) { *list = append(*list, *record.(*V)) }
}

// missing is the fault that there is no record at a key.
func (t untyped) missing(k any) error {
	return fault.New(fault.NotFound, "%s %v: not found", t.noun, k)
}

// read returns the record with the encoded key; nil: there is none. One that cannot be read
// is left out, as if it were not there, unless it is vital.
func (t untyped) read(tx *Tx, key []byte) (any, error) {
	if len(key) == 0 {
		return nil, nil
	}
	data := tx.bucket(t.name).Get(key)
	if data == nil {
		return nil, nil
	}
	if t.vital {
		record, err := t.decode(key, data)
		return record, tx.metDamage(err)
	}
	return t.readable(tx, key, data), nil
}

// readable returns the stored record at key; nil: it cannot be decoded, and is left out and
// counted.
func (t untyped) readable(tx *Tx, key, data []byte) any {
	record, err := t.decode(key, data)
	if err != nil {
		tx.db.leaveOut(t.name, key, err)
	}
	return record
}

// decode verifies and reads the value at a key. Its errors are a *recordError, with no record.
func (t untyped) decode(key, data []byte) (any, error) {
	record := t.kind.fresh()
	text, err := verified(key, data)
	if err == nil {
		err = json.Unmarshal(text, record)
	}
	if err != nil {
		return nil, &recordError{table: t.name, key: bytes.Clone(key), err: err}
	}
	return record, nil
}

// each calls fn with the records whose key starts with prefix, as table.all returns them.
func (t untyped) each(tx *Tx, prefix []byte, fn func(record any)) error {
	var unread [][]byte
	cursor := tx.bucket(t.name).Cursor()
	for key, data := cursor.Seek(prefix); bytes.HasPrefix(key, prefix) && key != nil; key, data = cursor.Next() {
		record, err := t.decode(key, data)
		if err != nil && t.vital {
			return tx.metDamage(err)
		}
		if err != nil {
			tx.db.leaveOut(t.name, key, err)
			unread = append(unread, bytes.Clone(key))
			continue
		}
		fn(record)
	}
	return t.dropUnread(tx, unread)
}

// by returns the record at a key of a unique index; nil: there is none.
func (t untyped) by(tx *Tx, index string, key []byte) (any, error) {
	if len(key) == 0 {
		return nil, nil
	}
	primary := tx.bucket(index).Get(key)
	if primary == nil {
		return nil, nil
	}
	return t.indexed(tx, index, key, primary)
}

// eachBy calls fn with the records whose key in an index starts with prefix, as table.allBy
// returns them.
func (t untyped) eachBy(tx *Tx, index string, prefix []byte, fn func(record any)) error {
	var unread [][]byte
	cursor := tx.bucket(index).Cursor()
	for key, primary := cursor.Seek(prefix); bytes.HasPrefix(key, prefix) && key != nil; key, primary = cursor.Next() {
		record, err := t.indexed(tx, index, key, primary)
		if err != nil {
			return err
		}
		if record == nil {
			unread = append(unread, bytes.Clone(primary))
			continue
		}
		fn(record)
	}
	return t.dropUnread(tx, unread)
}

// indexed returns the record that an index entry names, as table.indexed does; nil: it is
// left out.
func (t untyped) indexed(tx *Tx, index string, key, primary []byte) (any, error) {
	record, err := t.read(tx, primary)
	switch {
	case err != nil:
		return nil, err
	case record == nil && len(primary) > 0 && tx.bucket(t.name).Get(primary) != nil:
		return nil, nil
	case record == nil:
		err = fmt.Errorf("read %s: entry %x names record %x, which is missing", index, key, primary)
	case !slices.ContainsFunc(t.entries(primary, record), entry{index: index, key: key}.equal):
		err = fmt.Errorf("read %s: entry %x names record %x, which does not have it", index, key, primary)
	default:
		return record, nil
	}
	if t.vital {
		err = tx.metDamage(err)
	}
	return nil, err
}

// put stores a record at key, and its index entries, as table.put does; k is the key for
// people.
func (t untyped) put(tx *Tx, key []byte, record, k any) error {
	data, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode %s %v: %w", t.noun, k, err)
	}
	data = summed(key, data)
	bucket := tx.bucket(t.name)
	before := bucket.Get(key)
	if before != nil && bytes.Equal(before, data) {
		return nil
	}
	if len(key) > maxKeySize {
		return fault.New(fault.Invalid, "%s: its name is longer than %d bytes", t.noun, maxKeySize)
	}
	entries := t.entries(key, record)
	for _, e := range entries {
		if len(e.key) > maxKeySize {
			return fault.New(fault.Invalid, "%s: its %s is longer than %d bytes", t.noun, e.noun, maxKeySize)
		}
		if holder := tx.bucket(e.index).Get(e.key); holder != nil && !bytes.Equal(holder, key) {
			return fault.New(fault.Conflict, "%s %v: another %s has the same %s", t.noun, k, t.noun, e.noun)
		}
	}
	if err := reindex(tx, key, t.stale(tx, key, before), entries); err != nil {
		return err
	}
	if t.grows {
		bucket.FillPercent = growingFill
	}
	if err := bucket.Put(key, data); err != nil {
		return fmt.Errorf("put %s %v: %w", t.noun, k, err)
	}
	return nil
}

// keys returns the encoded keys of the records that start with prefix; nil is all of them.
func (t untyped) keys(tx *Tx, prefix []byte) (keys [][]byte) {
	cursor := tx.bucket(t.name).Cursor()
	for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix) && key != nil; key, _ = cursor.Next() {
		keys = append(keys, bytes.Clone(key))
	}
	return keys
}

// removeAll deletes the records with the encoded keys.
func (t untyped) removeAll(tx *Tx, keys [][]byte) error {
	return each(keys, nil, func(key []byte) error {
		_, err := t.remove(tx, key)
		return err
	})
}

// remove deletes the record with the encoded key from the table and from its indexes, and
// reports whether there was one.
func (t untyped) remove(tx *Tx, key []byte) (bool, error) {
	if len(key) == 0 {
		return false, nil
	}
	bucket := tx.bucket(t.name)
	before := bucket.Get(key)
	if before == nil {
		return false, nil
	}
	if err := reindex(tx, key, t.stale(tx, key, before), nil); err != nil {
		return false, err
	}
	if err := bucket.Delete(key); err != nil {
		return false, fmt.Errorf("delete %s %x: %w", t.noun, key, err)
	}
	return true, nil
}

// dropUnread drops records that cannot be read where the transaction writes. Those of
// history stay until they are past their retention.
func (t untyped) dropUnread(tx *Tx, keys [][]byte) error {
	if !tx.bolt.Writable() || t.history {
		return nil
	}
	for _, key := range keys {
		if err := t.drop(tx, key); err != nil {
			return err
		}
	}
	return nil
}

// drop deletes a record that cannot be read, and whatever names it. A vital one stays.
func (t untyped) drop(tx *Tx, key []byte) error {
	if t.vital {
		return errVital
	}
	if err := reindex(tx, key, entriesNaming(tx, t.indexes(), key), nil); err != nil {
		return err
	}
	return tx.bucket(t.name).Delete(key)
}
