package update

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// State is how far an update is.
type State string

// States of an update.
const (
	OnTrial  State = "on trial" // the new program has not been ready yet
	Taken    State = "taken"    // it was ready
	Back     State = "back"     // it was not: the former one is to run again
	Returned State = "returned" // and was ready
)

// Trial is the last update of a box, as it is noted in its state directory. It concerns the two
// programs that it names by their SHA-256, in hex, and no other.
type Trial struct {
	Version string `json:"version"`          // of the new program
	New     string `json:"sha256"`           // of the new program
	Former  string `json:"former_sha256"`    // of the program that it replaced
	State   State  `json:"state"`            //
	Starts  int    `json:"starts"`           // of the new program, while it is on trial
	Why     string `json:"why,omitempty"`    // it went back
	Backup  string `json:"backup,omitempty"` // name of the backup that the new program made before it migrated the database, and that the former one has not got back

	stateDir, program string // paths
	isFormer          bool   // this process runs the former program

	mu sync.Mutex // guards what is noted, once Wait runs
}

// The note in a state directory, and its name while it is written.
const (
	noteName   = "update.json"
	unfinished = noteName + ".new"
)

// maxNote is more than a note has, in bytes.
const maxNote = 64 << 10

// Last returns the last update of a box; nil: there was none.
func Last(stateDir string) (*Trial, error) {
	t := &Trial{stateDir: stateDir}
	raw, err := t.read()
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, t)
	}
	if err == nil {
		t.program, err = Program()
	}
	if err != nil {
		return nil, fmt.Errorf("read the last update, %s: %w", filepath.Join(stateDir, noteName), err)
	}
	return t, nil
}

// read returns the note. The owner of the directory, who may be another user, cannot keep it waiting.
func (t *Trial) read() ([]byte, error) {
	file, err := os.OpenFile(filepath.Join(t.stateDir, noteName), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readSome(file, maxNote)
}

// save writes the note for the owner of the state directory. That may be another user, who must not
// lead root to another file: so the file is a new one, in the directory as it was opened, and it is
// given away by its descriptor.
func (t *Trial) save() error {
	if err := t.write(); err != nil {
		return fmt.Errorf("note the update: %w", err)
	}
	return nil
}

func (t *Trial) write() error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	dir, err := os.Open(t.stateDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	at := int(dir.Fd())
	if err := unix.Unlinkat(at, unfinished, 0); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	fd, err := unix.Openat(at, unfinished, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), unfinished)
	_, err = file.Write(raw)
	if err := errors.Join(err, giveToOwner(file, dir), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := unix.Renameat(at, unfinished, at, noteName); err != nil {
		return err
	}
	return dir.Sync()
}

// giveToOwner gives a file of root to the owner of the directory.
func giveToOwner(file, dir *os.File) error {
	info, err := dir.Stat()
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return file.Chown(int(owner.Uid), int(owner.Gid))
}

// forget removes the note.
func (t *Trial) forget() error { return os.Remove(filepath.Join(t.stateDir, noteName)) }
