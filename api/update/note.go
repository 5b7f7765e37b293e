package update

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/sys/unix"
)

// State is how far an update is.
type State string

// States of an update. While it is trying or failed, the program writes the note, else the command.
const (
	Trying   State = "trying"   // the next starts try the new program, which has not been ready yet
	Failed   State = "failed"   // it was not ready: the next start goes back
	Returned State = "returned" // the former program runs again
	Good     State = "good"     // the new program was ready: it runs, and is to be installed
	Taken    State = "taken"    // and is installed
)

// known reports whether it is a state; those of the earlier way of updating are, too.
func (s State) known() bool { return s == "on trial" || s == "back" || s.present() }

// present reports whether it is a state of this way of updating.
func (s State) present() bool {
	switch s {
	case Trying, Failed, Returned, Good, Taken:
		return true
	}
	return false
}

// Note is the last update of a box, as it stands in its state directory. It concerns the two programs
// that it names by their SHA-256, in hex, and no other.
type Note struct {
	Version  string `json:"version"`           // of the new program
	New      string `json:"sha256"`            // of the new program
	Former   string `json:"former_sha256"`     // of the program that it replaces
	State    State  `json:"state"`             //
	Attempts int    `json:"attempts"`          // starts of the new program, while it is tried
	Why      string `json:"why,omitempty"`     // it failed
	Backup   string `json:"backup,omitempty"`  // name of the backup that the new program made before it migrated the database, which the former one gets back if that fails
	Carried  bool   `json:"carried,omitempty"` // the backup is from before another update, which was lost, and the new program has made none yet

	stateDir string
}

// The note in a state directory, and its name while it is written.
const (
	noteName   = "update.json"
	unfinished = noteName + ".new"
)

// noteSize is what a note has at least, in bytes, so that a later state of it takes its place on a full disk.
const noteSize = 2 << 10

// errDamaged: what stands there is no note.
var errDamaged = errors.New("it is damaged")

// maxNote is more than a note has, in bytes.
const maxNote = 64 << 10

// Last returns the last update of a box; nil: there was none. Its texts have no control characters.
func Last(stateDir string) (*Note, error) {
	n := &Note{stateDir: stateDir}
	raw, err := n.read()
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, n)
	}
	if err == nil && !n.State.known() {
		err = errors.New("it says " + strconv.Quote(string(n.State)))
	}
	switch {
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("read the last update, %w: as root, chown it to the owner of %s", err, stateDir)
	case err != nil: // it is cut, a link, a directory, or cannot be read from the disk
		return nil, fmt.Errorf("read the last update, %s: %w: %w (sensegate update -cancel moves it aside)", filepath.Join(stateDir, noteName), errDamaged, err)
	}
	n.Version, n.Why, n.Backup = printable(n.Version), printable(n.Why), printable(filepath.Base(n.Backup))
	if n.Backup == "." {
		n.Backup = ""
	}
	return n, nil
}

// printable returns a text of the owner of the state directory, who may be another user than the reader at a
// terminal, without control characters.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// read returns the note. The owner of the directory, who may be another user, cannot keep it waiting.
func (n *Note) read() ([]byte, error) {
	file, err := os.OpenFile(filepath.Join(n.stateDir, noteName), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readSome(file, maxNote)
}

// save writes the note for the owner of the state directory. That may be another user, who must not
// lead root to another file: so the file is a new one, in the directory as it was opened, and it is
// given away by its descriptor.
func (n *Note) save() error {
	if err := n.write(); err != nil {
		return fmt.Errorf("note the update: %w", err)
	}
	return nil
}

func (n *Note) write() error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	raw = append(raw, bytes.Repeat([]byte{' '}, max(0, noteSize-len(raw)))...)
	dir, err := os.Open(n.stateDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	err = replace(dir, raw)
	for tries := 0; errors.Is(err, os.ErrNotExist) && tries < 3; tries++ { // another process has just written its own
		err = replace(dir, raw)
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		_ = unix.Unlinkat(int(dir.Fd()), unfinished, 0) // what stays is removed by the next one
		return overwrite(int(dir.Fd()), raw)
	}
	return err
}

// overwrite writes the note in the room that the last one has. A link of the owner leads to no other file.
func overwrite(at int, raw []byte) error {
	fd, err := unix.Openat(at, noteName, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), noteName)
	defer file.Close()
	var had unix.Stat_t
	if err := unix.Fstat(fd, &had); err != nil {
		return err
	}
	if had.Mode&unix.S_IFMT != unix.S_IFREG || had.Nlink != 1 || had.Size != int64(len(raw)) {
		return syscall.ENOSPC
	}
	_, err = file.WriteAt(raw, 0)
	return errors.Join(err, file.Sync())
}

// replace writes a new file and gives it the name of the note.
func replace(dir *os.File, raw []byte) error {
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

// KeptBackup returns the name of the backup that an update which is not over may need; "": none.
func KeptBackup(stateDir string) string {
	n, err := Last(stateDir)
	if err != nil || n == nil || n.over() {
		return ""
	}
	return n.Backup
}

// forget removes the note.
func (n *Note) forget() error { return os.Remove(filepath.Join(n.stateDir, noteName)) }

// Tell says how far the update is, and what is to be done; "" and "": nothing.
func (n *Note) Tell() (says, fix string) {
	switch n.State {
	case Trying:
		if n.Attempts == 0 {
			return n.Version + " is tried at the next start", "start the appliance anew, or give the update up: sensegate update -cancel"
		}
		return fmt.Sprintf("%s is on trial, start %d of %d", n.Version, n.Attempts, starts), "start the appliance, if it is off; the program is taken once it is ready and that can be noted"
	case Failed:
		return n.failed() + ": the next start goes back to the former program", "start the appliance; if it does not run then, its log says what to do"
	case Returned:
		if n.Why == givenUp {
			return n.Version + " was given up: the former program is back", "update again when there is a newer program"
		}
		return n.failed() + ": the former program is back", "see its log; put right what it says and update again, or ask for a newer program"
	case Good:
		return n.Version + " was ready and is not installed yet", "if it runs, as root: sensegate update; if not: stop the appliance, sensegate update -cancel"
	}
	return "", ""
}

// open returns, in words, that the update is not over.
func (n *Note) open() error {
	says, fix := n.Tell()
	return fmt.Errorf("%s: %s", says, fix)
}

// givenUp is why a program failed that somebody gave up.
const givenUp = "it was given up"

// failed says that the new program has failed, and why.
func (n *Note) failed() string { return fmt.Sprintf("%s does not work here (%s)", n.Version, n.Why) }
