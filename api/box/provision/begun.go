package provision

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sensegate/store/durable"
	"sensegate/store/regular"
)

// begunName is the note in the state directory of a first start that has not carried its file out.
const begunName = "provision.begun"

// unfinished begins the names of files with secrets while they are written.
const unfinished = ".provision-"

// Begun is the note of a first start that has not carried its file out, with what it may have written. It stands
// beside the database, in which only the service can look.
type Begun struct {
	Files []written `json:"files"`
}

// written is a file with a new secret, which opens nothing before the first start has come to its end.
type written struct {
	Path      string `json:"path"`
	Temporary string `json:"temporary"` // by way of which it is written: a name that nobody else gives
	SHA256    string `json:"sha256"`    // of what it holds, hexadecimal

	key  string // of the document
	text []byte
}

// ReadBegun returns the note in a state directory; nil: there is none.
func ReadBegun(stateDir string) (*Begun, error) {
	path := filepath.Join(stateDir, begunName)
	raw, err := regular.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	b := new(Begun)
	if err == nil {
		err = json.Unmarshal(raw, b)
	}
	if err != nil {
		return nil, fmt.Errorf("read the note of a first start, %s: %w", path, err)
	}
	return b, nil
}

// Begin notes that a first start has begun, unless that is noted.
func Begin(stateDir string) error {
	if b, err := ReadBegun(stateDir); b != nil || err != nil {
		return err
	}
	return new(Begun).save(stateDir)
}

// End removes the note: what was written is in force, or there is no first start any more.
func End(stateDir string) error {
	err := os.Remove(filepath.Join(stateDir, begunName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, durable.SyncDirectory(stateDir))
}

func (b *Begun) save(stateDir string) error {
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(stateDir, begunName), raw)
}

// wrote reports whether an earlier try has written the file at an absolute path, and nobody another one since.
func (b *Begun) wrote(path string) bool {
	if b == nil {
		return false
	}
	for _, f := range b.Files {
		if meet(f.Path, path) && f.isThere() {
			return true
		}
	}
	return false
}

// write writes new secrets into their files. They are noted before, so that the next try knows by their content those
// that a power cut leaves, and makes them anew; those of earlier tries are removed.
func write(stateDir string, secrets []written) error {
	former, err := ReadBegun(stateDir)
	if err != nil {
		return err
	}
	var now Begun
	if former != nil {
		for _, f := range former.Files {
			if err := f.remove(); err != nil {
				now.Files = append(now.Files, f)
			}
		}
	}
	for i := range secrets {
		s := &secrets[i]
		sum := sha256.Sum256(s.text)
		s.Temporary, s.SHA256 = filepath.Join(filepath.Dir(s.Path), unfinished+rand.Text()), hex.EncodeToString(sum[:])
	}
	now.Files = append(now.Files, secrets...)
	if err := now.save(stateDir); err != nil {
		return err
	}
	for _, s := range secrets {
		if err := durable.CreateFile(s.Path, s.Temporary, s.text); err != nil {
			return fmt.Errorf("%s: %w", s.key, err)
		}
	}
	return nil
}

// isThere reports whether the file holds what was written.
func (w written) isThere() bool {
	if info, err := os.Lstat(w.Path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	raw, err := regular.Read(w.Path)
	sum := sha256.Sum256(raw)
	return err == nil && hex.EncodeToString(sum[:]) == w.SHA256
}

// remove removes what was written of a secret that opens nothing.
func (w written) remove() error {
	var wrong error
	if strings.HasPrefix(filepath.Base(w.Temporary), unfinished) {
		wrong = os.Remove(w.Temporary)
	}
	if errors.Is(wrong, fs.ErrNotExist) {
		wrong = nil
	}
	if w.isThere() {
		wrong = errors.Join(wrong, os.Remove(w.Path))
	}
	return wrong
}

// meet reports whether two absolute paths lead to one file, which need not be there: by a link to its directory, too.
func meet(a, b string) bool {
	if a == "" || filepath.Base(a) != filepath.Base(b) {
		return false
	}
	one, err := os.Stat(filepath.Dir(a))
	other, err2 := os.Stat(filepath.Dir(b))
	return a == b || err == nil && err2 == nil && os.SameFile(one, other)
}
