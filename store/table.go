package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// maxKeySize keeps keys far below the 32 KiB of bbolt and several to a page.
// Only text that a device or a person chose can be longer.
const maxKeySize = 512

// growingFill is how full a page becomes before it is split when keys grow.
const growingFill = 0.9

// table is one kind of record: a bucket of JSON values, and the indexes that
// are kept with every put and delete. Tables are values that never change.
type table[K, V any] struct {
	name    string         // of the bucket
	noun    string         // what a record is called in messages
	key     func(K) []byte // key in the bucket; not empty
	grows   bool           // new keys come after most others, or seldom: pages are filled up instead of halved
	vital   bool           // who owns what and who may enter: without one of these records no other can be trusted
	history bool           // a record that cannot be decoded is left out, and may go, instead of failing what meets it
	indexes []index[V]
}

// index finds records by something else than their key: a bucket from index
// keys to keys of the table. Of an index that is not unique the key of the
// record follows the index key, so that several records can share it.
type index[V any] struct {
	name   string // of the bucket
	noun   string // what it finds by, in messages
	unique bool
	grows  bool             // as of a table
	keys   func(V) [][]byte // none, one or several; empty keys are left out
}

// get returns the record at k and whether there is one.
func (t table[K, V]) get(tx *Tx, k K) (V, bool, error) {
	return t.read(tx, t.key(k))
}

// must returns the record at k, or a NotFound fault.
func (t table[K, V]) must(tx *Tx, k K) (V, error) {
	v, ok, err := t.get(tx, k)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "%s %v: not found", t.noun, k)
	}
	return v, err
}

// read returns the record with the encoded key. One that cannot be read is left out, as if
// it were not there, unless it is vital.
func (t table[K, V]) read(tx *Tx, key []byte) (V, bool, error) {
	var none V
	if len(key) == 0 {
		return none, false, nil
	}
	data := tx.bucket(t.name).Get(key)
	if data == nil {
		return none, false, nil
	}
	v, err := t.decode(key, data)
	if err != nil && !t.vital {
		tx.db.leaveOut(t.name, key, err)
		return none, false, nil
	}
	return v, err == nil, err
}

// decode verifies and reads the value at a key. Its errors are a *recordError.
func (t table[K, V]) decode(key, data []byte) (V, error) {
	var v V
	text, err := verified(key, data)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return v, &recordError{table: t.name, key: bytes.Clone(key), err: err}
	}
	return v, nil
}

// put stores v at k, replaces what was there and keeps the indexes. A unique
// index key that another record holds is a Conflict fault, and nothing has
// changed then. Storing what is already there changes no page.
func (t table[K, V]) put(tx *Tx, k K, v V) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s %v: %w", t.noun, k, err)
	}
	key := t.key(k)
	data = summed(key, data)
	before := tx.bucket(t.name).Get(key)
	if before != nil && bytes.Equal(before, data) {
		return nil
	}
	return t.untyped().put(tx, key, before, data, t.entries(key, v), k)
}

// change stores the record at k as fn leaves it. Without one it is a NotFound fault.
func (t table[K, V]) change(tx *Tx, k K, fn func(*V)) error {
	v, err := t.must(tx, k)
	if err != nil {
		return err
	}
	fn(&v)
	return t.put(tx, k, v)
}

// replace stores v over the record at k. Without one it is a NotFound fault.
func (t table[K, V]) replace(tx *Tx, k K, v V) error {
	return t.change(tx, k, func(stored *V) { *stored = v })
}

// putOf is put of a record that belongs to a network. Without that it is a NotFound fault.
func (t table[K, V]) putOf(tx *Tx, network motion.NetworkID, k K, v V) error {
	if err := tx.requireNetwork(network); err != nil {
		return err
	}
	return t.put(tx, k, v)
}

// mustDelete removes the record at k. Without one it is a NotFound fault.
func (t table[K, V]) mustDelete(tx *Tx, k K) error {
	ok, err := t.remove(tx, t.key(k))
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "%s %v: not found", t.noun, k)
	}
	return err
}

// each calls fn with every element of a list until it fails. err is the error of reading
// the list.
func each[V any](list []V, err error, fn func(V) error) error {
	for i := 0; err == nil && i < len(list); i++ {
		err = fn(list[i])
	}
	return err
}

// mapped returns a list of what f returns for the elements of one. err is the error of
// reading that.
func mapped[V, W any](list []V, err error, f func(V) (W, error)) ([]W, error) {
	result := make([]W, len(list))
	for i := 0; err == nil && i < len(list); i++ {
		result[i], err = f(list[i])
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// delete removes the record at k; that there is none is no error.
func (t table[K, V]) delete(tx *Tx, k K) error {
	_, err := t.remove(tx, t.key(k))
	return err
}

// remove deletes the record with the encoded key from the table and from its
// indexes, and reports whether there was one.
func (t table[K, V]) remove(tx *Tx, key []byte) (bool, error) { return t.untyped().remove(tx, key) }

// removePrefix deletes every record whose key starts with prefix.
func (t table[K, V]) removePrefix(tx *Tx, prefix []byte) error {
	return t.removeAll(tx, t.keys(tx, prefix))
}

// removeAll deletes the records with the encoded keys.
func (t table[K, V]) removeAll(tx *Tx, keys [][]byte) error {
	return each(keys, nil, func(key []byte) error {
		_, err := t.remove(tx, key)
		return err
	})
}

// keys returns the encoded keys of the records that start with prefix; nil is all of them.
func (t table[K, V]) keys(tx *Tx, prefix []byte) (keys [][]byte) {
	cursor := tx.bucket(t.name).Cursor()
	for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix) && key != nil; key, _ = cursor.Next() {
		keys = append(keys, bytes.Clone(key))
	}
	return keys
}

// countKeys returns how many keys a bucket has.
func countKeys(tx *Tx, bucket string) (n int) {
	cursor := tx.bucket(bucket).Cursor()
	for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
		n++
	}
	return n
}

// all returns the records whose key starts with prefix, in the order of keys;
// nil is all of them. The slice is never nil. Records that cannot be read are left out,
// but for vital ones; a transaction that writes drops them, so that what deletes all that
// belongs to something leaves none behind.
func (t table[K, V]) all(tx *Tx, prefix []byte) ([]V, error) {
	records := []V{}
	var unread [][]byte
	cursor := tx.bucket(t.name).Cursor()
	for key, data := cursor.Seek(prefix); bytes.HasPrefix(key, prefix) && key != nil; key, data = cursor.Next() {
		v, err := t.decode(key, data)
		if err != nil && t.vital {
			return nil, err
		}
		if err != nil {
			tx.db.leaveOut(t.name, key, err)
			unread = append(unread, bytes.Clone(key))
			continue
		}
		records = append(records, v)
	}
	return records, t.untyped().dropUnread(tx, unread)
}

// by returns the record at a key of a unique index and whether there is one.
func (t table[K, V]) by(tx *Tx, index string, key []byte) (V, bool, error) {
	var none V
	if len(key) == 0 {
		return none, false, nil
	}
	primary := tx.bucket(index).Get(key)
	if primary == nil {
		return none, false, nil
	}
	return t.indexed(tx, index, key, primary)
}

// allBy returns the records whose key in an index starts with prefix, in the
// order of the index, as all does. The slice is never nil.
func (t table[K, V]) allBy(tx *Tx, index string, prefix []byte) ([]V, error) {
	records := []V{}
	var unread [][]byte
	cursor := tx.bucket(index).Cursor()
	for key, primary := cursor.Seek(prefix); bytes.HasPrefix(key, prefix) && key != nil; key, primary = cursor.Next() {
		v, ok, err := t.indexed(tx, index, key, primary)
		if err != nil {
			return nil, err
		}
		if !ok {
			unread = append(unread, bytes.Clone(primary))
			continue
		}
		records = append(records, v)
	}
	return records, t.untyped().dropUnread(tx, unread)
}

// indexed returns the record that an index entry names; ok is false when it cannot be read
// and is left out. An entry that the record does not have is an error: a damaged one must
// not lead to another record.
func (t table[K, V]) indexed(tx *Tx, index string, key, primary []byte) (v V, ok bool, err error) {
	v, ok, err = t.read(tx, primary)
	switch {
	case err != nil:
		return v, false, err
	case !ok && len(primary) > 0 && tx.bucket(t.name).Get(primary) != nil:
		return v, false, nil
	case !ok:
		return v, false, fmt.Errorf("read %s: entry %x names record %x, which is missing", index, key, primary)
	case !slices.ContainsFunc(t.entries(primary, v), entry{index: index, key: key}.equal):
		var none V
		return none, false, fmt.Errorf("read %s: entry %x names record %x, which does not have it", index, key, primary)
	}
	return v, true, nil
}

// entry is one key of one index.
type entry struct {
	index string
	noun  string
	grows bool
	key   []byte
}

// entries returns the index entries of the record v at key.
func (t table[K, V]) entries(key []byte, v V) []entry {
	var entries []entry
	for _, index := range t.indexes {
		for _, k := range index.keys(v) {
			if len(k) == 0 {
				continue
			}
			if !index.unique {
				k = join(k, key)
			}
			e := entry{index.name, index.noun, index.grows, k}
			if !slices.ContainsFunc(entries, e.equal) {
				entries = append(entries, e)
			}
		}
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

// equal reports whether both are the same key of the same index.
func (e entry) equal(other entry) bool {
	return e.index == other.index && bytes.Equal(e.key, other.key)
}
