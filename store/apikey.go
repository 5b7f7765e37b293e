package store

import (
	"context"
	"crypto/sha256"
	"maps"
	"sync"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// apiKeyPrefix starts the secret of every API key, so that a leaked one is
// recognised.
const apiKeyPrefix = "sg_"

// APIKey is a key to the Core interface. Its secret is not kept.
type APIKey struct {
	ID        uint32           `json:"id"`
	Name      string           `json:"name"` // unique
	Scopes    []string         `json:"scopes"`
	NetworkID motion.NetworkID `json:"network_id"` // the only network it opens; 0: all
	CreatedAt motion.Time      `json:"created_at"`
	ExpiresAt motion.Time      `json:"expires_at"` // 0: never
	LastUsed  motion.Time      `json:"last_used"`  // 0: never, or not written yet
}

// apiKeyRecord is an API key with the digest of its secret.
type apiKeyRecord struct {
	APIKey
	Secret digest `json:"secret"`
}

// apiKeys is the table of API keys.
var apiKeys = table[uint32, apiKeyRecord]{
	name: "api_keys", vital: true, noun: "API key", key: key32[uint32],
	indexes: []index[apiKeyRecord]{
		{
			name: "api_keys_by_hash", noun: "secret", unique: true,
			keys: func(r apiKeyRecord) [][]byte { return [][]byte{r.Secret[:]} },
		},
		{
			name: "api_keys_by_name", noun: "name", unique: true,
			keys: func(r apiKeyRecord) [][]byte { return [][]byte{keyText(r.Name)} },
		},
	},
}

// keyUses collects the last uses of API keys in memory, so that a request costs
// no commit.
type keyUses struct {
	mu   sync.Mutex
	last map[uint32]motion.Time
}

// note records a use.
func (u *keyUses) note(id uint32, at motion.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[uint32]motion.Time{}
	}
	u.last[id] = max(u.last[id], at)
}

// snapshot returns the uses noted so far.
func (u *keyUses) snapshot() map[uint32]motion.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.last)
}

// drop forgets those uses of written that were not followed by a later one.
func (u *keyUses) drop(written map[uint32]motion.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.last, func(id uint32, at motion.Time) bool { return at == written[id] })
}

// CreateAPIKey stores a new key under the next id and returns it with its
// secret, which nothing can show again. A name that another key has is a
// Conflict, an empty one Invalid.
func (tx *Tx) CreateAPIKey(k APIKey) (key APIKey, secret string, err error) {
	secret, sum := newSecret(apiKeyPrefix)
	key, err = tx.KeepAPIKey(k, sum)
	return key, secret, err
}

// KeepAPIKey is CreateAPIKey of a key whose secret somebody else has: sum is its SHA-256. A secret
// that another key has is a Conflict.
func (tx *Tx) KeepAPIKey(k APIKey, sum [sha256.Size]byte) (APIKey, error) {
	if err := checkName(k.Name); err != nil {
		return k, err
	}
	if k.NetworkID != 0 {
		if err := tx.requireNetwork(k.NetworkID); err != nil {
			return k, err
		}
	}
	sequence, err := tx.bucket(apiKeys.name).NextSequence()
	if err != nil {
		return k, err
	}
	k.ID, k.CreatedAt, k.LastUsed = uint32(sequence), tx.now, 0
	return k, apiKeys.put(tx, k.ID, apiKeyRecord{APIKey: k, Secret: sum})
}

// checkName returns an Invalid fault for a name that a person could not read in a list.
func checkName(name string) error {
	if name == "" {
		return fault.New(fault.Invalid, "name: must not be empty")
	}
	if wrong := motion.NameMistake(name); wrong != "" {
		return fault.New(fault.Invalid, "name: %s", wrong)
	}
	return nil
}

// CheckAPIKey returns the key with the secret, or an Unauthorized fault when it
// is unknown, revoked or expired. The use is noted in memory and written with
// the next WriteKeyUses.
//
// The key is found by the SHA-256 of the secret: what the time of the search
// could tell is of a digest of 256 random bits, which helps nobody.
func (db *DB) CheckAPIKey(ctx context.Context, secret string) (APIKey, error) {
	key, err := Read(ctx, db, func(tx *Tx) (APIKey, error) {
		sum := digestOf(secret)
		record, ok, err := apiKeys.by(tx, "api_keys_by_hash", sum[:])
		switch {
		case err != nil:
			return APIKey{}, err
		case !ok:
			return APIKey{}, fault.New(fault.Unauthorized, "API key: not valid")
		case !record.ExpiresAt.IsZero() && tx.now >= record.ExpiresAt:
			return APIKey{}, fault.New(fault.Unauthorized, "API key: expired")
		}
		record.LastUsed = tx.now
		return record.APIKey, nil
	})
	if err != nil {
		return key, err
	}
	db.uses.note(key.ID, key.LastUsed)
	return key, nil
}

// APIKeys returns all keys, by id, with their last uses, written or not.
func (tx *Tx) APIKeys() ([]APIKey, error) {
	records, err := apiKeys.all(tx, nil)
	uses := tx.db.uses.snapshot()
	return mapped(records, err, func(r apiKeyRecord) (APIKey, error) {
		r.LastUsed = max(r.LastUsed, uses[r.ID])
		return r.APIKey, nil
	})
}

// RevokeAPIKey removes a key: its secret is not valid any more.
func (tx *Tx) RevokeAPIKey(id uint32) error {
	return apiKeys.mustDelete(tx, id)
}

// revokeAPIKeys removes the keys that open one network only.
func (tx *Tx) revokeAPIKeys(network motion.NetworkID) error {
	records, err := apiKeys.all(tx, nil)
	if err != nil {
		return err
	}
	for _, record := range records {
		if record.NetworkID != network {
			continue
		}
		if err := tx.RevokeAPIKey(record.ID); err != nil {
			return err
		}
		tx.OnCommit(func() {
			tx.db.logger.Info("API key revoked with the household of its network", "key", record.ID, "name", record.Name, "network", network)
		})
	}
	return nil
}

// WriteKeyUses writes the last uses that were noted since. It belongs into the
// transaction that is made every minute anyway; Close calls it too.
func (tx *Tx) WriteKeyUses() error {
	uses := tx.db.uses.snapshot()
	for id, at := range uses {
		record, ok, err := apiKeys.get(tx, id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		record.LastUsed = max(record.LastUsed, at)
		if err := apiKeys.put(tx, id, record); err != nil {
			return err
		}
	}
	tx.OnCommit(func() { tx.db.uses.drop(uses) })
	return nil
}
