package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"sensegate/motion"
	"sensegate/store/durable"
	"sensegate/store/regular"
)

// keyLife is how long a key signs. After that it verifies for the life of the longest token,
// so that a rotation ends no session.
const keyLife = 30 * 24 * time.Hour

// keySize is the length of a key in bytes: that of the digest (RFC 7518 3.2).
const keySize = 32

// maxKeys bounds the keys in the file, however the clock was set.
const maxKeys = 16

// Keyring holds the keys that sign tokens, newest last, in a file that only its owner
// can read. Its methods may be called concurrently.
type Keyring struct {
	path     string
	log      *slog.Logger
	names    []byte             // the key of account digests in the log; never changes
	rotating singleflight.Group // one rotation at a time

	mu   sync.Mutex
	keys []signingKey
}

// signingKey is one key for HMAC-SHA256 (RFC 7518 3.2).
type signingKey struct {
	ID     string      `json:"kid"`
	Secret []byte      `json:"secret"` // keySize bytes, base64
	Since  motion.Time `json:"since"`  // when it was added
}

// keyFile is what the file holds.
type keyFile struct {
	Keys  []signingKey `json:"keys"`
	Names []byte       `json:"names"` // keySize bytes, base64; files of former versions have none
}

// OpenKeyring reads the keys from the file at path and makes it when it is not there. A
// damaged file is moved aside and replaced: everybody has to log in again, but the appliance
// starts and senses.
func OpenKeyring(path string, now motion.Time, log *slog.Logger) (*Keyring, error) {
	k := &Keyring{path: path, log: log, names: random(keySize)}
	data, err := regular.Read(path)
	var file keyFile
	switch {
	case errors.Is(err, os.ErrNotExist):
		return k, k.rotate(now)
	case err == nil:
		file, err = parseKeys(data)
	case !errors.Is(err, syscall.EIO):
		return nil, fmt.Errorf("read signing keys: %w", err)
	}
	if err != nil {
		aside, moved := durable.MoveAside(path, now.Std())
		if moved != nil {
			return nil, fmt.Errorf("signing keys %s are damaged (%w): %w", path, err, moved)
		}
		log.Error("signing keys are damaged and have been moved aside, new ones are made: everybody has to log in again",
			"file", path, "aside", aside, "err", err)
		return k, k.rotate(now)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("protect signing keys: %w", err)
	}
	k.keys = file.Keys
	if len(file.Names) > 0 {
		k.names = file.Names
		return k, nil
	}
	if err := k.write(k.keys); err != nil {
		log.Error("key of account digests not written: it changes at the next start", "err", err)
	}
	return k, nil
}

// parseKeys reads what the file holds.
func parseKeys(data []byte) (file keyFile, err error) {
	if err := json.Unmarshal(data, &file); err != nil {
		return file, err
	}
	if len(file.Keys) == 0 {
		return file, errors.New("it holds no key")
	}
	for _, key := range file.Keys {
		if key.ID == "" || len(key.Secret) != keySize {
			return file, errors.New("a key of it is not whole")
		}
	}
	return file, nil
}

// rotateIfDue rotates the keys when the newest has signed for keyLife. When a new one cannot
// be written, the old one goes on signing.
func (k *Keyring) rotateIfDue(now motion.Time) {
	served := func() bool { return now.Since(k.newest().Since) >= keyLife.Seconds() }
	if !served() {
		return
	}
	_, err, _ := k.rotating.Do("", func() (any, error) {
		if !served() {
			return nil, nil // another request has rotated them
		}
		return nil, k.rotate(now)
	})
	if err != nil {
		k.log.Error("signing key not rotated: the old one goes on", "err", err)
	}
}

// newest returns the key that signs.
func (k *Keyring) newest() signingKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[len(k.keys)-1]
}

// find returns the secret with the id, nil when there is none.
func (k *Keyring) find(id string) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.keys {
		if key.ID == id {
			return key.Secret
		}
	}
	return nil
}

// rotate adds a new key, and drops those whose tokens have all expired. One call runs at a
// time.
func (k *Keyring) rotate(now motion.Time) error {
	key := signingKey{ID: uuid.NewString(), Secret: random(keySize), Since: now}
	k.mu.Lock()
	keys := append(living(k.keys, now), key)
	k.mu.Unlock()
	keys = keys[max(0, len(keys)-maxKeys):]
	if err := k.write(keys); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = keys
	return nil
}

// write puts keys into the file.
func (k *Keyring) write(keys []signingKey) error {
	data, err := json.MarshalIndent(keyFile{keys, k.names}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode signing keys: %w", err)
	}
	if err := durable.WriteFile(k.path, append(data, '\n')); err != nil {
		return fmt.Errorf("keep signing keys: %w", err)
	}
	return nil
}

// living returns the keys whose tokens may still be valid: a key signed until the next one was
// added.
func living(keys []signingKey, now motion.Time) []signingKey {
	var kept []signingKey
	for i, key := range keys {
		last := i == len(keys)-1
		if last || now.Since(keys[i+1].Since) <= refreshLife.Seconds() {
			kept = append(kept, key)
		}
	}
	return kept
}
