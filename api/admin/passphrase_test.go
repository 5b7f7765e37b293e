package admin

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// words writes a passphrase to a file and returns its path.
func words(t *testing.T, passphrase string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(path, []byte(passphrase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEncryptedBackupIsReadWithItsPassphraseOnly(t *testing.T) {
	t.Parallel()
	const passphrase = "correct horse battery staple"
	plain := bytes.Repeat([]byte("pages of a database"), 10_000)
	var file bytes.Buffer
	if _, err := writeBackup(&file, bytes.NewReader(plain), passphrase); err != nil {
		t.Fatal(err)
	}
	right := words(t, passphrase)
	read := func(data []byte, passphraseFile string) ([]byte, error) {
		r, err := decrypted(bytes.NewReader(data), passphraseFile)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	if got, err := read(file.Bytes(), right); err != nil || !bytes.Equal(got, plain) {
		t.Fatalf("read %d bytes of %d, %v", len(got), len(plain), err)
	}
	if _, err := read(file.Bytes(), words(t, "wrong horse battery staple")); err == nil || !strings.Contains(err.Error(), "not that of the backup") {
		t.Errorf("wrong passphrase: %v", err)
	}
	if _, err := read(file.Bytes(), ""); err == nil || !strings.Contains(err.Error(), "-passphrase-file") {
		t.Errorf("no passphrase: %v", err)
	}
	const chunk = 64<<10 + 16 // as age encrypts: with its tag
	begin := file.Len() - len(plain) - 3*16
	for _, end := range []int{begin + 2*chunk, file.Len() - 1} {
		if _, err := read(file.Bytes()[:end], right); err == nil {
			t.Errorf("cut off at %d of %d bytes, and not noticed", end, file.Len())
		}
	}
}

func TestBackupWithoutPassphraseIsReadAsItIs(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{"", "short", "pages of a database, longer than the line"} {
		r, err := decrypted(strings.NewReader(plain), "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != plain {
			t.Errorf("read %q, %v; want %q", got, err, plain)
		}
	}
}
