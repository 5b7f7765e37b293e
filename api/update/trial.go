package update

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"sensegate/store/durable"
)

// State is how far an update is.
type State string

// States of an update.
const (
	OnTrial State = "on trial" // the new program has not been ready yet
	Taken   State = "taken"    // it was ready
	Back    State = "back"     // it was not: the former one runs
)

// Limits of a new program on trial: from its start until it is ready, and starts that it may use.
// Tests have less time.
var readyTime = time.Minute

const starts = 3

// Trial is the last update of a box, as it is kept in its state directory.
type Trial struct {
	Version string `json:"version"` // of the new program
	Program string `json:"program"` // its path
	Sum     string `json:"sha256"`  // of it, in hex
	State   State  `json:"state"`
	Starts  int    `json:"starts"`        // of the new program, while it is on trial
	Why     string `json:"why,omitempty"` // it went back

	stateDir string
}

// file is where the last update of a state directory is noted.
func file(stateDir string) string { return filepath.Join(stateDir, "update.json") }

// Last returns the last update of a box; nil: there was none.
func Last(stateDir string) (*Trial, error) {
	raw, err := os.ReadFile(file(stateDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	t := Trial{stateDir: stateDir}
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	if err != nil {
		return nil, fmt.Errorf("read the last update: %w", err)
	}
	return &t, nil
}

// Former is where the program is kept that was replaced.
func (t *Trial) Former() string { return t.Program + ".former" }

// save notes an update for whoever owns the state directory, who may be another user.
func (t *Trial) save() error {
	raw, err := json.Marshal(t)
	if err == nil {
		err = durable.WriteFile(file(t.stateDir), raw)
	}
	if err != nil {
		return fmt.Errorf("note the update: %w", err)
	}
	if info, err := os.Stat(t.stateDir); err == nil && os.Geteuid() == 0 {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			return os.Chown(file(t.stateDir), int(owner.Uid), int(owner.Gid))
		}
	}
	return nil
}

// forget removes the note.
func (t *Trial) forget() error { return os.Remove(file(t.stateDir)) }

// Begin is called by a program that starts to serve. While it is on trial, it returns a Trial and
// counts the start. When it has failed before, by its starts or as an update that went back, it
// does not return but runs the former program. Otherwise, as in the former program, it returns nil.
func Begin(stateDir string) (*Trial, error) {
	t, err := Last(stateDir)
	if err != nil || t == nil || t.State == Taken {
		return nil, err
	}
	if sum, err := sumOf("/proc/self/exe"); err != nil || sum != t.Sum {
		return nil, err
	}
	if t.State == Back {
		return nil, t.runFormer()
	}
	if t.Starts++; t.Starts > starts {
		return nil, t.GoBack(fmt.Sprintf("it ended %d times before it was ready", starts))
	}
	return t, t.save()
}

// Wait notes the update as taken once the program is ready, and goes back when the program it is not so in a minute; nil
// is not on trial. It returns at once. What it could not do is given to failed.
func (t *Trial) Wait(ready <-chan struct{}, failed func(error)) {
	if t == nil {
		return
	}
	go func() {
		limit := time.NewTimer(readyTime)
		defer limit.Stop()
		var err error
		select {
		case <-ready:
			t.State = Taken
			err = t.save()
		case <-limit.C:
			err = t.GoBack("it was not ready in a minute")
		}
		if err != nil {
			failed(err)
		}
	}()
}

// GoBack notes that the new program failed, and why, and runs the former one in its place. It
// returns only an error.
func (t *Trial) GoBack(why string) error {
	t.State, t.Why = Back, why
	if err := t.save(); err != nil {
		return err
	}
	return t.runFormer()
}

// GiveUp notes for a new program that runs no more that it failed, and why, and puts the former one
// in its place.
func (t *Trial) GiveUp(why string) error {
	t.State, t.Why = Back, why
	return errors.Join(t.save(), t.Return())
}

// Return puts the former program in the new one's place, for the next start.
func (t *Trial) Return() error {
	if err := os.Rename(t.Former(), t.Program); err != nil {
		return fmt.Errorf("put the former program back: %w", err)
	}
	return durable.SyncDirectory(filepath.Dir(t.Program))
}

// runFormer replaces the process by the former program, which takes its place on the disk where this
// user may do that.
func (t *Trial) runFormer() error {
	former := t.Former()
	if t.Return() == nil {
		former = t.Program
	}
	err := syscall.Exec(former, append([]string{former}, os.Args[1:]...), os.Environ())
	return fmt.Errorf("run the former program: %w", err)
}

// sumOf returns the SHA-256 of a file, in hex.
func sumOf(path string) (string, error) {
	content, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer content.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, content); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
