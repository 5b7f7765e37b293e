package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"sensegate/motion/fault"
)

// Argon is the cost of a password hash: Argon2id (RFC 9106). The defaults are those of
// OWASP's password storage cheat sheet for 19 MiB.
type Argon struct {
	Memory  uint32 `yaml:"memory_kib" env:"MEMORY_KIB"` // KiB
	Passes  uint32 `yaml:"passes" env:"PASSES"`
	Threads uint8  `yaml:"threads" env:"THREADS"`
}

// DefaultArgon is the cost when nothing is configured.
func DefaultArgon() Argon { return Argon{Memory: 19456, Passes: 2, Threads: 1} }

// Validate returns the rules that the cost breaks. OWASP recommends at least 7 MiB, and a
// gateway can spare at most 256 MiB.
func (a Argon) Validate() error {
	var wrong []error
	if a.Memory < 7168 || a.Memory > 262144 {
		wrong = append(wrong, errors.New("memory_kib: want 7168 to 262144"))
	}
	if a.Passes < 1 || a.Passes > 16 {
		wrong = append(wrong, errors.New("passes: want 1 to 16"))
	}
	if a.Threads < 1 || a.Threads > 8 {
		wrong = append(wrong, errors.New("threads: want 1 to 8"))
	}
	return errors.Join(wrong...)
}

const (
	saltSize = 16 // bytes (RFC 9106 3.1)
	hashSize = 32

	atOnce        = 1 // hashes: each takes memory, and a processor that sensing needs
	strangerQueue = 8 // callers who wait
	familiarQueue = 4 // further callers who wait, who have logged in from their address before
	queueRetry    = 2 * time.Second
)

// Passwords hashes and verifies passwords, one at a time, and frees the memory of one before
// the next begins, so that a flood of log-ins cannot exhaust it. The queue is short, so that
// nobody waits long, and a caller who finds it full is Throttled. Familiar callers have a
// queue of their own, which strangers cannot fill. The methods may be called concurrently.
type Passwords struct {
	cost   Argon
	slots  chan struct{}
	queues map[bool]chan struct{} // by whether the caller is familiar
	dummy  string                 // a hash that no password is known to have
}

// NewPasswords returns Passwords that hash at a cost.
func NewPasswords(cost Argon) *Passwords {
	p := &Passwords{
		cost: cost, slots: make(chan struct{}, atOnce),
		queues: map[bool]chan struct{}{
			false: make(chan struct{}, strangerQueue+atOnce), true: make(chan struct{}, familiarQueue+atOnce),
		},
	}
	p.dummy = encode(cost, random(saltSize), random(hashSize))
	return p
}

// acquire waits for the slot to hash. The caller calls release when done.
func (p *Passwords) acquire(ctx context.Context, familiar bool) (release func(), err error) {
	queue := p.queues[familiar]
	select {
	case queue <- struct{}{}:
	default:
		return nil, &fault.Error{Kind: fault.Throttled, Message: "too many log in at once: try again in a moment", RetryAfter: queueRetry}
	}
	select {
	case p.slots <- struct{}{}:
		return func() {
			p.free()
			<-p.slots
			<-queue
		}, nil
	case <-ctx.Done():
		<-queue
		return nil, ctx.Err()
	}
}

// free frees the memory of the hash that has ended, before the next one allocates as much.
// While callers wait it returns the memory to the system, because small allocations soon
// fragment what the collector alone has freed.
func (p *Passwords) free() {
	if len(p.queues[false])+len(p.queues[true]) > 1 {
		debug.FreeOSMemory()
		return
	}
	runtime.GC()
}

// hash returns the hash of a password in PHC form, with a new salt. The caller holds the slot.
func (p *Passwords) hash(password string) string {
	salt := random(saltSize)
	return encode(p.cost, salt, derive(password, salt, p.cost, hashSize))
}

// Hash returns the hash of a new password in PHC form. The error is Throttled when the queue
// is full, or that of the context.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	release, err := p.acquire(ctx, false)
	if err != nil {
		return "", err
	}
	defer release()
	return p.hash(password), nil
}

// verify reports whether the password is the one of a stored hash, and whether to hash it
// again because the cost has changed. A stored "" (no password, no account) takes as long and
// is never right. The caller holds the slot.
func (p *Passwords) verify(password, stored string) (right, stale bool, err error) {
	known := stored != ""
	if !known {
		stored = p.dummy
	}
	cost, salt, hash, err := decode(stored)
	if err != nil {
		return false, false, err
	}
	equal := subtle.ConstantTimeCompare(derive(password, salt, cost, len(hash)), hash) == 1
	return equal && known, cost != p.cost, nil
}

func random(size int) []byte {
	b := make([]byte, size)
	rand.Read(b) // never fails: it ends the program instead
	return b
}

func derive(password string, salt []byte, a Argon, size int) []byte {
	return argon2.IDKey([]byte(password), salt, a.Passes, a.Memory, a.Threads, uint32(size))
}

// encode writes the PHC form: $argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>.
func encode(a Argon, salt, hash []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, a.Memory, a.Passes, a.Threads, b64.EncodeToString(salt), b64.EncodeToString(hash))
}

// errHash is the error of a stored hash that cannot be read. It does not show the hash.
var errHash = errors.New("decode password hash: it is not argon2id in PHC form")

// decode reads the PHC form.
func decode(phc string) (a Argon, salt, hash []byte, err error) {
	parts := strings.Split(phc, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return a, nil, nil, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &a.Memory, &a.Passes, &a.Threads); err != nil || a.Validate() != nil {
		return a, nil, nil, errHash
	}
	b64 := base64.RawStdEncoding.Strict()
	salt, saltErr := b64.DecodeString(parts[4])
	hash, hashErr := b64.DecodeString(parts[5])
	if saltErr != nil || hashErr != nil || len(salt) < 8 || len(hash) < 16 || len(hash) > 64 || encode(a, salt, hash) != phc {
		return a, nil, nil, errHash
	}
	return a, salt, hash, nil
}
