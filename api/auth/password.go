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

// Validate returns the rules that the cost breaks. Less than 7 MiB is no protection
// (OWASP), and a gateway has not more than 256 MiB to give.
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

	atOnce       = 1 // hashes: each needs its memory, and a processor that sensing can use
	strangerLine = 8 // callers who wait
	familiarLine = 4 // further callers who wait, who have logged in from their address before
	lineRetry    = 2 * time.Second
)

// Passwords hashes and verifies passwords, one at a time, and frees the memory of one
// before the next begins, so that a flood of logins cannot exhaust it. Few may wait for their turn: so the wait is short, and
// whoever finds the line full is Throttled. Familiar callers have a line of their own,
// which a crowd of strangers cannot fill. The methods may be called concurrently.
type Passwords struct {
	cost  Argon
	turns chan struct{}
	lines map[bool]chan struct{} // by whether the caller is familiar
	dummy string                 // a hash that no password is known to have
}

// NewPasswords returns the hashing of a cost.
func NewPasswords(cost Argon) *Passwords {
	p := &Passwords{
		cost: cost, turns: make(chan struct{}, atOnce),
		lines: map[bool]chan struct{}{
			false: make(chan struct{}, strangerLine+atOnce), true: make(chan struct{}, familiarLine+atOnce),
		},
	}
	p.dummy = encode(cost, random(saltSize), random(hashSize))
	return p
}

// turn waits for a turn to hash. The caller calls leave when done.
func (p *Passwords) turn(ctx context.Context, familiar bool) (leave func(), err error) {
	line := p.lines[familiar]
	select {
	case line <- struct{}{}:
	default:
		return nil, &fault.Error{Kind: fault.Throttled, Message: "too many log in at once: try again in a moment", RetryAfter: lineRetry}
	}
	select {
	case p.turns <- struct{}{}:
		return func() {
			p.free()
			<-p.turns
			<-line
		}, nil
	case <-ctx.Done():
		<-line
		return nil, ctx.Err()
	}
}

// free gives back the memory of the hash that has ended, which would wait for the collector
// else while the next one takes as much. Where callers wait it goes back to the system,
// because small things soon lie in the midst of what the collector alone has freed.
func (p *Passwords) free() {
	if len(p.lines[false])+len(p.lines[true]) > 1 {
		debug.FreeOSMemory()
		return
	}
	runtime.GC()
}

// hash returns the hash of a password in PHC form, with a salt of its own. The caller
// has a turn.
func (p *Passwords) hash(password string) string {
	salt := random(saltSize)
	return encode(p.cost, salt, derive(password, salt, p.cost, hashSize))
}

// Hash returns the hash of a new password in PHC form. Its errors are those of a full
// line and of the context.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	leave, err := p.turn(ctx, false)
	if err != nil {
		return "", err
	}
	defer leave()
	return p.hash(password), nil
}

// verify reports whether the password is the one of a stored hash, and whether it is to
// be hashed anew, because the cost has changed. A stored "" (no password, no account)
// takes as long and is never right. The caller has a turn.
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

// errHash tells of a stored hash, without showing it.
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
