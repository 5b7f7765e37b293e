package admin

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
)

// Passphrases of backups (age-encryption.org/v1, scrypt). A work factor of n takes 2^n
// KiB of memory: a small gateway can make a backup, and read what age makes by itself.
const (
	passphraseLeast   = 12 // characters
	passphraseWork    = 16
	passphraseMaxWork = 18
)

// encryptedLine begins what age has encrypted.
const encryptedLine = "age-encryption.org/"

// encrypted returns a writer that encrypts to w. Closing it ends the file: one that was not
// closed cannot be decrypted as complete. w is not closed.
func encrypted(w io.Writer, passphrase string) (io.WriteCloser, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	recipient.SetWorkFactor(passphraseWork)
	writer, err := age.Encrypt(w, recipient)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return writer, nil
}

// decrypted returns a reader of what r holds, which may be encrypted or not.
// passphraseFile is "" when none was named.
func decrypted(r io.Reader, passphraseFile string) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	begin, err := buffered.Peek(len(encryptedLine))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	if !bytes.Equal(begin, []byte(encryptedLine)) {
		return buffered, nil
	}
	if passphraseFile == "" {
		return nil, errors.New("the backup is encrypted: name a file with its passphrase by -passphrase-file")
	}
	passphrase, err := firstLine(passphraseFile)
	if err != nil {
		return nil, err
	}
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	identity.SetMaxWorkFactor(passphraseMaxWork)
	plain, err := age.Decrypt(buffered, identity)
	var wrong *age.NoIdentityMatchError
	switch {
	case errors.As(err, &wrong):
		return nil, errors.New("the passphrase is not that of the backup; nothing was replaced")
	case err != nil:
		return nil, fmt.Errorf("decrypt, nothing was replaced: %w", err)
	}
	return plain, nil
}

// newPassphrase reads the passphrase for a new backup.
func newPassphrase(file string) (string, error) {
	passphrase, err := firstLine(file)
	if err != nil {
		return "", err
	}
	if len([]rune(passphrase)) < passphraseLeast {
		return "", fmt.Errorf("the passphrase has fewer than %d characters: whoever finds the backup could guess it", passphraseLeast)
	}
	return passphrase, nil
}

// firstLine returns the first line of a file, "-" = standard input: a secret that is not part
// of the command line.
func firstLine(file string) (line string, err error) {
	var data []byte
	if file == "-" {
		data, err = io.ReadAll(io.LimitReader(os.Stdin, 4096))
	} else {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	line, _, _ = strings.Cut(string(data), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}
