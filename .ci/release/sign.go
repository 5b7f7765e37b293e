package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
)

// passwordVariable has the password of the secret key; empty: the key has none.
const passwordVariable = "SENSEGATE_RELEASE_PASSWORD"

const sumsFile = "SHA256SUMS"

// signer signs files as minisign does.
type signer struct {
	secret minisign.PrivateKey
	public string // base64
}

// makeKey writes a new secret key, and FILE.pub, unless that would be in the clone or over a file.
func makeKey(root, path string) error {
	whole, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if inside, err := filepath.Rel(root, whole); err != nil || filepath.IsLocal(inside) {
		return errors.Join(err, fmt.Errorf("%s is in the repository: a key must not be", path))
	}
	file, err := os.OpenFile(whole, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	public, secret, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	text, err := secret.MarshalText()
	if password := os.Getenv(passwordVariable); password != "" {
		text, err = minisign.EncryptKey(password, secret)
	}
	if err != nil {
		return err
	}
	shown, err := public.MarshalText()
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.WriteFile(whole+".pub", append(shown, '\n'), 0o644)
}

// readKey reads a secret key of minisign.
func readKey(path string) (*signer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(text)
	var key signer
	if minisign.IsEncrypted(text) {
		key.secret, err = minisign.DecryptKey(os.Getenv(passwordVariable), text)
	} else {
		err = key.secret.UnmarshalText(text)
	}
	if err != nil {
		return nil, fmt.Errorf("key %s (its password is read from %s): %w", path, passwordVariable, err)
	}
	public, ok := key.secret.Public().(minisign.PublicKey)
	if !ok {
		return nil, fmt.Errorf("key %s: not one of minisign", path)
	}
	shown, err := public.MarshalText()
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(string(shown))
	key.public = lines[len(lines)-1]
	return &key, nil
}

// sign writes path.minisig. The signature tells the time of the commit, so that it can be repeated.
func (k *signer) sign(s source, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	hashed := minisign.NewReader(file)
	if _, err := io.Copy(io.Discard, hashed); err != nil {
		return err
	}
	trusted := fmt.Sprintf("timestamp:%d\tfile:%s\thashed", s.date.Unix(), filepath.Base(path))
	return os.WriteFile(path+".minisig", hashed.SignWithComments(k.secret, trusted, "signature of sensegate "+s.version), 0o644)
}

// writeSums writes the SHA-256 sums of all files of a directory, as sha256sum -c reads them.
func writeSums(dir string) error {
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, sumsFile), []byte(lines.String()), 0o644)
}
