package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	berrors "go.etcd.io/bbolt/errors"

	"sensegate/motion/fault"
)

// untyped is what of a table does not depend on the types of its records: the compiler makes
// this code once, and what table has for each kind of record.
type untyped struct {
	name    string
	noun    string
	grows   bool
	vital   bool
	history bool
	indexes []entry // one of each, without a key
	// entries decodes the value at a key and returns its index entries.
	entries func(key, data []byte) ([]entry, error)
}

// untyped returns a table without the types of its records.
func (t table[K, V]) untyped() untyped {
	return untyped{
		name: t.name, noun: t.noun, grows: t.grows, vital: t.vital, history: t.history, indexes: t.indexNames(),
		entries: func(key, data []byte) ([]entry, error) {
			v, err := t.decode(key, data)
			if err != nil {
				return nil, err
			}
			return t.entries(key, v), nil
		},
	}
}

// put stores data in place of before, and its index entries; k is the key for people.
func (t untyped) put(tx *Tx, key, before, data []byte, entries []entry, k any) error {
	if len(key) > maxKeySize {
		return fault.New(fault.Invalid, "%s: its name is longer than %d bytes", t.noun, maxKeySize)
	}
	for _, e := range entries {
		if len(e.key) > maxKeySize {
			return fault.New(fault.Invalid, "%s: its %s is longer than %d bytes", t.noun, e.noun, maxKeySize)
		}
		if holder := tx.bucket(e.index).Get(e.key); holder != nil && !bytes.Equal(holder, key) {
			return fault.New(fault.Conflict, "%s %v: another %s has the same %s", t.noun, k, t.noun, e.noun)
		}
	}
	bucket := tx.bucket(t.name)
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

// remove deletes the record with the encoded key from the table and from its indexes.
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

// stale returns the index entries of the stored data of the record at key; none of nil.
func (t untyped) stale(tx *Tx, key, data []byte) []entry {
	if data == nil || len(t.indexes) == 0 {
		return nil
	}
	entries, err := t.entries(key, data)
	if err != nil { // it goes, or is replaced
		tx.db.leaveOut(t.name, key, err)
		return entriesNaming(tx, t.indexes, key)
	}
	return entries
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
	if err := reindex(tx, key, entriesNaming(tx, t.indexes, key), nil); err != nil {
		return err
	}
	return tx.bucket(t.name).Delete(key)
}

// rebuild makes the indexes of a table anew. A unique key that two records claim is an
// error; records of history that cannot be decoded get no entry.
func (t untyped) rebuild(tx *Tx) error {
	for _, e := range t.indexes {
		name := []byte(e.index)
		if err := tx.bolt.DeleteBucket(name); err != nil && !errors.Is(err, berrors.ErrBucketNotFound) {
			return fmt.Errorf("drop %s: %w", e.index, err)
		}
		if _, err := tx.bolt.CreateBucket(name); err != nil {
			return fmt.Errorf("create %s: %w", e.index, err)
		}
	}
	if len(t.indexes) == 0 {
		return nil
	}
	return tx.bucket(t.name).ForEach(func(key, data []byte) error {
		entries, err := t.entries(key, data)
		if err != nil && t.history {
			tx.db.leaveOut(t.name, key, err)
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if holder := tx.bucket(e.index).Get(e.key); holder != nil {
				return fmt.Errorf("%s: records %x and %x have the same %s", t.name, holder, key, e.noun)
			}
		}
		return reindex(tx, key, nil, entries)
	})
}

// check verifies that the indexes hold exactly the entries of the records, until
// ctx ends. Of history, records that cannot be decoded are counted (Health), with
// whatever entries name them.
func (t untyped) check(ctx context.Context, tx *Tx) error {
	expected, unreadable := map[string]int{}, map[string]bool{}
	err := tx.bucket(t.name).ForEach(func(key, data []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := t.entries(key, data)
		if err != nil && t.history {
			tx.db.leaveOut(t.name, key, err)
			unreadable[string(key)] = true
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			expected[e.index]++
			if primary := tx.bucket(e.index).Get(e.key); !bytes.Equal(primary, key) {
				return fmt.Errorf("%w %s: entry %x names %x, want %x", errIndex, e.index, e.key, primary, key)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range t.indexes {
		n := 0
		cursor := tx.bucket(e.index).Cursor()
		for key, primary := cursor.First(); key != nil; key, primary = cursor.Next() {
			if !unreadable[string(primary)] {
				n++
			}
		}
		if n != expected[e.index] {
			return fmt.Errorf("%w %s: %d entries, want %d", errIndex, e.index, n, expected[e.index])
		}
	}
	return nil
}
