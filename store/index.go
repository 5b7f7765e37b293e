package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	berrors "go.etcd.io/bbolt/errors"
)

// entry is one key of one index.
type entry struct {
	index  string
	noun   string
	unique bool
	grows  bool
	key    []byte
}

// equal reports whether both are the same key of the same index.
func (e entry) equal(other entry) bool {
	return e.index == other.index && bytes.Equal(e.key, other.key)
}

// indexes returns an entry without a key for each index.
func (t untyped) indexes() (indexes []entry) {
	for i := 0; ; i++ {
		e, ok := t.kind.index(i)
		if !ok {
			return indexes
		}
		indexes = append(indexes, e)
	}
}

// entries returns the index entries of a record at key.
func (t untyped) entries(key []byte, record any) (entries []entry) {
	for i := 0; ; i++ {
		e, ok := t.kind.index(i)
		if !ok {
			return entries
		}
		for _, e.key = range t.kind.indexKeys(i, record) {
			if len(e.key) == 0 {
				continue
			}
			if !e.unique {
				e.key = join(e.key, key)
			}
			if !slices.ContainsFunc(entries, e.equal) {
				entries = append(entries, e)
			}
		}
	}
}

// stored returns the index entries of the value at key.
func (t untyped) stored(key, data []byte) ([]entry, error) {
	record, err := t.decode(key, data)
	if err != nil {
		return nil, err
	}
	return t.entries(key, record), nil
}

// stale returns the index entries of the stored data of the record at key; none of nil.
func (t untyped) stale(tx *Tx, key, data []byte) []entry {
	if _, indexed := t.kind.index(0); data == nil || !indexed {
		return nil
	}
	entries, err := t.stored(key, data)
	if err != nil { // it goes, or is replaced
		tx.db.leaveOut(t.name, key, err)
		return entriesNaming(tx, t.indexes(), key)
	}
	return entries
}

// reindex replaces the index entries of the record at key.
func reindex(tx *Tx, key []byte, stale, fresh []entry) error {
	for _, e := range stale {
		if slices.ContainsFunc(fresh, e.equal) {
			continue
		}
		if err := tx.bucket(e.index).Delete(e.key); err != nil {
			return fmt.Errorf("delete from %s: %w", e.index, err)
		}
	}
	for _, e := range fresh {
		if slices.ContainsFunc(stale, e.equal) {
			continue
		}
		bucket := tx.bucket(e.index)
		if e.grows {
			bucket.FillPercent = growingFill
		}
		if err := bucket.Put(e.key, key); err != nil {
			return fmt.Errorf("put into %s: %w", e.index, err)
		}
	}
	return nil
}

// rebuild makes the indexes of a table anew. A unique key that two records claim is an
// error; records of history that cannot be decoded get no entry.
func (t untyped) rebuild(tx *Tx) error {
	indexes := t.indexes()
	for _, e := range indexes {
		name := []byte(e.index)
		if err := tx.bolt.DeleteBucket(name); err != nil && !errors.Is(err, berrors.ErrBucketNotFound) {
			return fmt.Errorf("drop %s: %w", e.index, err)
		}
		if _, err := tx.bolt.CreateBucket(name); err != nil {
			return fmt.Errorf("create %s: %w", e.index, err)
		}
	}
	if len(indexes) == 0 {
		return nil
	}
	return tx.bucket(t.name).ForEach(func(key, data []byte) error {
		entries, err := t.stored(key, data)
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
		entries, err := t.stored(key, data)
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
	for _, e := range t.indexes() {
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
