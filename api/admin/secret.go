package admin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"sensegate/api/box/passphrase"
)

// decrypted returns a reader of what r holds, which may be encrypted or not.
// passphraseFile is "" when none was named.
func decrypted(r io.Reader, passphraseFile string) (io.Reader, error) {
	var words string
	if passphraseFile != "" {
		var err error
		if words, err = firstLine(passphraseFile); err != nil {
			return nil, err
		}
	}
	plain, err := passphrase.Decrypt(r, words, passphrase.MostWork)
	switch {
	case errors.Is(err, passphrase.ErrMissing) && passphraseFile == "":
		return nil, errors.New("the backup is encrypted: name a file with its passphrase by -passphrase-file")
	case err != nil:
		return nil, fmt.Errorf("%w; nothing was replaced", err)
	}
	return plain, nil
}

// newPassphrase reads the passphrase for a new backup.
func newPassphrase(file string) (string, error) {
	words, err := firstLine(file)
	if err != nil {
		return "", err
	}
	return words, passphrase.Check(words)
}

// firstLine returns the first line of a file, "-" = standard input: a secret that is not part
// of the command line.
func firstLine(file string) (line string, err error) {
	from := os.Stdin
	if file != "-" {
		if from, err = os.Open(file); err != nil { // a pipe, too, as who calls the command makes it
			return "", fmt.Errorf("read the secret: %w", err)
		}
		defer from.Close()
	}
	data, err := io.ReadAll(io.LimitReader(from, 4096))
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	line, _, _ = strings.Cut(string(data), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}
