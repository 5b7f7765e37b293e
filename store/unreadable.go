package store

import (
	"encoding/hex"
	"sync"
)

// unreadableKept bounds how many records that cannot be read are told apart.
const unreadableKept = 1000

// unreadable are the records that were met and cannot be decoded. They are left out of
// lists, so that one of them does not take the others along.
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

// count returns how many records were left out, each once.
func (u *unreadable) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.keys)
}
