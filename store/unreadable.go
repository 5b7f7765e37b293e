package store

import (
	"bytes"
	"encoding/hex"
	"sync"
)

// unreadableKept bounds how many records that cannot be read are told apart.
const unreadableKept = 1000

// unreadable are the records that were met and cannot be decoded. They are left out of
// lists, so that one of them does not take the others along. Those of history are deleted
// with what they belong to, and when they are past their retention, as others are.
type unreadable struct {
	mu   sync.Mutex
	keys map[string]bool
}

// leaveOut counts the record at a key of a bucket and says so, once.
func (db *DB) leaveOut(bucket string, key []byte, err error) {
	u := &db.unreadable
	u.mu.Lock()
	name := bucket + "/" + string(key)
	known := u.keys[name] || len(u.keys) == unreadableKept
	if !known {
		if u.keys == nil {
			u.keys = map[string]bool{}
		}
		u.keys[name] = true
	}
	u.mu.Unlock()
	if !known {
		db.logger.Error("a record cannot be read and is left out", "bucket", bucket, "key", hex.EncodeToString(key), "err", err)
	}
}

// entriesNaming returns the entries of indexes that name the record at key. It reads the
// whole indexes: it is for a record that cannot tell its entries.
func entriesNaming(tx *Tx, indexes []entry, key []byte) (entries []entry) {
	for _, index := range indexes {
		cursor := tx.bucket(index.index).Cursor()
		for k, primary := cursor.First(); k != nil; k, primary = cursor.Next() {
			if bytes.Equal(primary, key) {
				index.key = bytes.Clone(k)
				entries = append(entries, index)
			}
		}
	}
	return entries
}

// count returns how many records were left out, each once.
func (u *unreadable) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.keys)
}
