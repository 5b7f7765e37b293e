package store

import "sensegate/motion"

// maxKeySize keeps keys far below the 32 KiB of bbolt and several to a page.
// Only text that a device or a person chose can be longer.
const maxKeySize = 512

// growingFill is how full a page becomes before it is split when keys grow.
const growingFill = 0.9

// table is one kind of record: a bucket of JSON values, and the indexes that
// are kept with every put and delete. Tables never change. What they do stands in untyped,
// which the compiler makes once; here it gets its types.
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

// get returns the record at k and whether there is one. One that cannot be read is left out,
// as if it were not there, unless it is vital.
func (t *table[K, V]) get(tx *Tx, k K) (V, bool, error) {
	return typed[V](t.untyped().read(tx, t.key(k)))
}

// must returns the record at k, or a NotFound fault.
func (t *table[K, V]) must(tx *Tx, k K) (V, error) {
	v, ok, err := t.get(tx, k)
	if err == nil && !ok {
		err = t.untyped().missing(k)
	}
	return v, err
}

// put stores v at k, replaces what was there and keeps the indexes. A unique
// index key that another record holds is a Conflict fault, and nothing has
// changed then. Storing what is already there changes no page.
func (t *table[K, V]) put(tx *Tx, k K, v V) error {
	return t.untyped().put(tx, t.key(k), &v, k)
}

// change stores the record at k as fn leaves it. Without one it is a NotFound fault.
func (t *table[K, V]) change(tx *Tx, k K, fn func(*V)) error {
	v, err := t.must(tx, k)
	if err != nil {
		return err
	}
	fn(&v)
	return t.put(tx, k, v)
}

// replace stores v over the record at k. Without one it is a NotFound fault.
func (t *table[K, V]) replace(tx *Tx, k K, v V) error {
	return t.change(tx, k, func(stored *V) { *stored = v })
}

// putOf is put of a record that belongs to a network. Without that it is a NotFound fault.
func (t *table[K, V]) putOf(tx *Tx, network motion.NetworkID, k K, v V) error {
	if err := tx.requireNetwork(network); err != nil {
		return err
	}
	return t.put(tx, k, v)
}

// mustDelete removes the record at k. Without one it is a NotFound fault.
func (t *table[K, V]) mustDelete(tx *Tx, k K) error {
	ok, err := t.untyped().remove(tx, t.key(k))
	if err == nil && !ok {
		err = t.untyped().missing(k)
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
func (t *table[K, V]) delete(tx *Tx, k K) error {
	_, err := t.untyped().remove(tx, t.key(k))
	return err
}

// removePrefix deletes every record whose key starts with prefix.
func (t *table[K, V]) removePrefix(tx *Tx, prefix []byte) error {
	return t.removeAll(tx, t.keys(tx, prefix))
}

// removeAll deletes the records with the encoded keys.
func (t *table[K, V]) removeAll(tx *Tx, keys [][]byte) error {
	return t.untyped().removeAll(tx, keys)
}

// keys returns the encoded keys of the records that start with prefix; nil is all of them.
func (t *table[K, V]) keys(tx *Tx, prefix []byte) [][]byte { return t.untyped().keys(tx, prefix) }

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
func (t *table[K, V]) all(tx *Tx, prefix []byte) ([]V, error) {
	records := []V{}
	err := t.untyped().each(tx, prefix, appender(&records))
	return records, err
}

// by returns the record at a key of a unique index and whether there is one.
func (t *table[K, V]) by(tx *Tx, index string, key []byte) (V, bool, error) {
	return typed[V](t.untyped().by(tx, index, key))
}

// allBy returns the records whose key in an index starts with prefix, in the
// order of the index, as all does. The slice is never nil.
func (t *table[K, V]) allBy(tx *Tx, index string, prefix []byte) ([]V, error) {
	records := []V{}
	err := t.untyped().eachBy(tx, index, prefix, appender(&records))
	return records, err
}

// indexed returns the record that an index entry names; ok is false when it cannot be read
// and is left out. An entry that the record does not have is an error: a damaged one must
// not lead to another record.
func (t *table[K, V]) indexed(tx *Tx, index string, key, primary []byte) (v V, ok bool, err error) {
	return typed[V](t.untyped().indexed(tx, index, key, primary))
}

// readable returns the stored record at key, unless it cannot be decoded: it is left out
// and counted then.
func (t *table[K, V]) readable(tx *Tx, key, data []byte) (V, bool) {
	v, ok, _ := typed[V](t.untyped().readable(tx, key, data), nil)
	return v, ok
}
