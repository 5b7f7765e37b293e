// Package passphrase encrypts backups with a passphrase and decrypts them again, as files of
// age (age-encryption.org/v1, scrypt). Whoever keeps a backup can so read it without this
// program.
//
// It knows the format and how much memory a key may take. It must not know what is encrypted,
// or who asks.
package passphrase

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"

	"filippo.io/age"

	"sensegate/motion/fault"
)

// Least is how many characters the passphrase of a new backup has at least.
const Least = 12

// Work factors of scrypt: making the key of a factor n takes 2^n KiB of memory.
const (
	leastWork = 14 // 16 MiB, less than a log-in takes
	usualWork = 16 // 64 MiB
	MostWork  = 18 // 256 MiB: what age makes by itself
)

// Why a backup cannot be decrypted, for errors.Is.
var (
	ErrMissing = errors.New("the backup is encrypted: a passphrase is needed")
	ErrWrong   = errors.New("the passphrase is not that of the backup")
	ErrNoWords = errors.New("the backup is encrypted for a key, not with a passphrase: decrypt it with age first")
	ErrMemory  = errors.New("decrypting the backup takes more memory than there is")
	ErrDamaged = errors.New("the encrypted backup is damaged")
)

// Check returns an Invalid fault when a passphrase is too short for a new backup.
func Check(words string) error {
	if len([]rune(words)) < Least {
		return fault.New(fault.Invalid, "passphrase: has fewer than %d characters: whoever finds the backup could guess it", Least)
	}
	return nil
}

// Encrypt returns a writer that encrypts to w. Making the key takes 64 MiB for a moment, less
// where there is less; the header is written to w before Encrypt returns. Closing the writer
// ends the file: one that was not closed cannot be decrypted as complete. w is not closed.
func Encrypt(w io.Writer, words string) (io.WriteCloser, error) {
	recipient, err := age.NewScryptRecipient(words)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	recipient.SetWorkFactor(min(usualWork, Affordable()))
	defer debug.FreeOSMemory() // what the key took
	writer, err := age.Encrypt(w, recipient)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return writer, nil
}

// EncryptedSize returns how many bytes what Encrypt makes has behind its header, of a plain
// text of size bytes: a tag for each chunk, and there is always one.
func EncryptedSize(size int64) int64 {
	const chunk, tag = 64 << 10, 16
	return size + tag*max(1, (size+chunk-1)/chunk)
}

// encryptedLine begins what age has encrypted.
const encryptedLine = "age-encryption.org/"

// Decrypt returns a reader of what r holds, which may be encrypted or not. mostWork bounds the
// memory for the key, see Affordable. The errors wrap one of those above; what is cut off or
// changed is found when it is read, and that error wraps ErrDamaged.
func Decrypt(r io.Reader, words string, mostWork int) (io.Reader, error) {
	const header = 512 // bytes: the work factor stands among them
	buffered := bufio.NewReaderSize(r, 64<<10)
	begin, err := buffered.Peek(header)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	if !bytes.HasPrefix(begin, []byte(encryptedLine)) {
		return buffered, nil
	}
	switch work, byWords := workOf(begin); {
	case !byWords:
		return nil, ErrNoWords
	case words == "":
		return nil, ErrMissing
	case work > mostWork:
		return nil, fmt.Errorf("%w: %d MiB (scrypt, work factor %d)", ErrMemory, uint64(1)<<min(work, 63)>>10, work)
	}
	identity, err := age.NewScryptIdentity(words)
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	identity.SetMaxWorkFactor(mostWork)
	defer debug.FreeOSMemory()
	plain, err := age.Decrypt(buffered, identity)
	var wrong *age.NoIdentityMatchError
	switch {
	case errors.As(err, &wrong):
		return nil, ErrWrong
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return decrypting{plain}, nil
}

// workOf returns the work factor in the header of an encrypted file. byWords is false when it
// was not encrypted with a passphrase. One that cannot be read is 0: age says what is wrong.
func workOf(header []byte) (work int, byWords bool) {
	lines := bytes.SplitN(header, []byte("\n"), 3)
	if len(lines) < 3 {
		return 0, true // cut off
	}
	words := bytes.Fields(lines[1]) // -> scrypt SALT FACTOR
	if len(words) < 2 || string(words[1]) != "scrypt" {
		return 0, len(words) < 2
	}
	if len(words) > 3 {
		work, _ = strconv.Atoi(string(words[3]))
	}
	return work, true
}

// decrypting reads what is decrypted.
type decrypting struct{ plain io.Reader }

func (d decrypting) Read(p []byte) (int, error) {
	n, err := d.plain.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return n, err
}
