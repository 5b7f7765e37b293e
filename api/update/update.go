// Package update replaces the program of a box that has no package manager by a newer one that is
// signed, once that has proven itself.
//
// One party decides, the program that is installed, at its start (Begin): while a note in the state directory
// says that a next one is to be tried, which lies beside it, it counts the start and runs that in its place. So
// it stays where it is until the next one was ready; only then the command puts that in its place (Finish). A
// next program that fails notes that and ends: the start after it goes back.
//
// It knows files and signatures. It must not know what makes an appliance ready, or the database.
package update

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"aead.dev/minisign"

	"sensegate/store/durable"
	"sensegate/store/regular"
)

// publicKey is what updates are signed with: a minisign public key in base64, that the linker sets
// (-X sensegate/api/update.publicKey=RW…). "": this build takes none.
var publicKey string

// What goes wrong before anything is replaced.
var (
	ErrNoKey     = errors.New("this program was built without a key for updates: replace it by hand, or with the package that it came from")
	ErrSignature = errors.New("the signature is not that of this file by the makers of this program")
	ErrSame      = errors.New("that is the program that is installed already")
)

// Install puts the signed program at path, whose signature stands beside it as path.minisig, beside program and
// notes in stateDir that it is to be tried from the next start on. Before, try is called with the path of the
// copy, and may refuse it. One that was built before the present one is refused unless older.
//
// While another program is tried, and while another update is being installed, it is refused.
func Install(stateDir, program, path string, older bool, try func(next string) error) (_ *Note, err error) {
	next := Next(program)
	locked, err := claim(next)
	if err != nil {
		return nil, err
	}
	defer locked.Close()
	backup, err := idle(stateDir, program)
	if err != nil {
		removeEmpty(locked)
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(next)
		}
	}()
	n := &Note{stateDir: stateDir, State: Trying, Backup: backup, Carried: backup != ""}
	if n.Former, err = sumOf(program); err != nil {
		return nil, err
	}
	if n.New, err = copySigned(path, next); err != nil {
		return nil, err
	}
	if n.New == n.Former {
		return nil, ErrSame
	}
	version, at, err := built(next)
	if err != nil {
		return nil, fmt.Errorf("the new program does not run on this machine: %w", err)
	}
	if present, before, err := built(program); err == nil && !older && !at.IsZero() && at.Before(before) {
		return nil, fmt.Errorf("%s was built before %s, which is installed: with -older it is taken all the same", version, present)
	}
	if err := try(next); err != nil {
		return nil, err
	}
	n.Version = version
	return n, errors.Join(durable.SyncDirectory(filepath.Dir(next)), n.save())
}

// idle returns why no other program is to be tried now. If one is, but the last one was good and is lost, it returns
// the backup from before that: the database may be changed already.
func idle(stateDir, program string) (backup string, err error) {
	n, err := Last(stateDir)
	switch {
	case err != nil || n == nil || n.over():
		return "", err
	case n.concerns(program) == nil:
		return "", n.open()
	case n.Backup != "" && isProgram(program, n.Former) != nil:
		return "", n.replaced(program)
	}
	return n.Backup, nil
}

// over reports whether nothing is left to be done for the update.
func (n *Note) over() bool { return n.State != Trying && n.State != Failed && n.State != Good }

// replaced says that the update is not about the program at a path.
func (n *Note) replaced(program string) error {
	return fmt.Errorf("%s was replaced by hand while the update to %s was not over: start the appliance first, whose log names the backup %s from before it", program, n.Version, n.Backup)
}

// ErrVoid: the programs of the update are not there any more.
var ErrVoid = errors.New("the update is void: it was given up, or its programs are not there any more: to go back from one that was ready, stop the appliance, sensegate update -cancel")

// concerns returns ErrVoid unless the note is about the program at a path and, where it is to be installed, the
// next one.
func (n *Note) concerns(program string) error {
	switch isNew := func(path string) bool { return isProgram(path, n.New) == nil }; {
	case n.State == Good && isNew(program):
		return nil
	case isProgram(program, n.Former) == nil && (n.State != Good || isNew(Next(program))):
		return nil
	}
	return ErrVoid
}

// Finish installs the program that was good: it takes the place of program, which stays as its Former.
func Finish(stateDir, program string) (*Note, error) {
	n, err := Last(stateDir)
	if err != nil || n == nil || n.State != Good {
		return n, err
	}
	switch err := n.concerns(program); {
	case err != nil && n.Backup != "" && isProgram(program, n.Former) != nil:
		return n, n.replaced(program)
	case err != nil:
		return n, err
	}
	if isProgram(program, n.New) != nil {
		if err := n.replace(program); err != nil {
			return n, err
		}
	}
	n.State = Taken
	return n, n.save()
}

// replace keeps the program as the former one and puts the next one in its place. What was cut off can be done
// again.
func (n *Note) replace(program string) error {
	locked, err := openLocked(Next(program), 0)
	if err != nil {
		return err
	}
	defer locked.Close()
	if err := isProgram(Next(program), n.New); err != nil {
		return err
	}
	if err := os.Remove(FormerOf(program)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the program before the former one: %w", err)
	}
	if err := os.Link(program, FormerOf(program)); err != nil {
		return fmt.Errorf("keep the former program: %w", err)
	}
	if err := os.Rename(Next(program), program); err != nil {
		return fmt.Errorf("replace the program: %w", err)
	}
	return durable.SyncDirectory(filepath.Dir(program))
}

// FormerOf is where the program is kept that the one at a path has replaced.
func FormerOf(program string) string { return program + formerSuffix }

// Cancel gives an update up: one that was not tried yet at once; another one, whose program does not run, at the next
// start, if its former one can have its database back: check looks whether a backup can be used. Where that program is
// installed, the former one is put back. A note that cannot be understood is moved aside; then it returns nil.
func Cancel(stateDir, program string, check func(backup string) error) (*Note, error) {
	if n, err := tried(stateDir, program); errors.Is(err, errDamaged) {
		_, err := durable.MoveAside(filepath.Join(stateDir, noteName), time.Now())
		return nil, err
	} else if err != nil {
		return n, err
	}
	locked, err := openLocked(Next(program), 0)
	if _, lost := os.Lstat(Next(program)); err != nil && !errors.Is(lost, os.ErrNotExist) {
		return nil, err
	}
	defer locked.Close()               // of nil it fails, and does nothing
	n, err := tried(stateDir, program) // a start may have begun meanwhile
	switch pids := Serving(program); {
	case err != nil:
		return nil, err
	case n.State == Trying && n.Attempts == 0 && n.Backup == "":
		err := n.forget()
		if err == nil {
			_ = os.Remove(Next(program)) // else the next start does, or the next update uses it again
		}
		return n, err
	case len(pids) > 0:
		return nil, fmt.Errorf("to give %s up, stop the appliance first: process %d runs", n.Version, pids[0])
	}
	if n.Backup != "" {
		if err := check(n.Backup); err != nil {
			return nil, fmt.Errorf("%s cannot be given up: the former program could not read the database, and its backup from before cannot be used: %w. To go on with it, start the appliance; docs/operation.md says what else there is", n.Version, err)
		}
	}
	if isProgram(program, n.New) == nil { // and stays beside it until the former one runs
		n.State = Good // what is cut off now can be done again
		if err := n.save(); err != nil {
			return nil, err
		}
		_ = os.Remove(Next(program)) // there mostly is none
		err := os.Link(program, Next(program))
		if err == nil {
			err = os.Rename(FormerOf(program), program)
		}
		if err != nil {
			return nil, fmt.Errorf("put the former program back, as who may write there: %w", err)
		}
	}
	n.State, n.Why = Failed, givenUp
	return n, errors.Join(durable.SyncDirectory(filepath.Dir(program)), n.save())
}

// tried returns the note of an update whose program is tried, was good or was taken, when Cancel can give it up.
func tried(stateDir, program string) (*Note, error) {
	n, err := Last(stateDir)
	if err != nil {
		return nil, err
	}
	is := func(path, sum string) bool { return isProgram(path, sum) == nil }
	switch {
	case n == nil || n.State != Trying && n.State != Good && n.State != Taken:
		return nil, errors.New("no program is tried: there is nothing to give up")
	case n.State != Trying && is(program, n.New) && is(FormerOf(program), n.Former), n.State != Taken && is(program, n.Former):
		return n, nil
	case n.State == Taken || is(program, n.New):
		return nil, fmt.Errorf("%s cannot be given up: %s or %s is another program by now; docs/operation.md says how to go back by hand", n.Version, program, FormerOf(program))
	}
	return nil, n.replaced(program)
}

// copySigned copies a program to the file of the next one, from which it can be run, and checks its
// signature by what it has copied, so that nobody can exchange it in between. It returns the SHA-256 of it.
func copySigned(path, to string) (sum string, err error) {
	var key minisign.PublicKey
	if publicKey == "" {
		return "", ErrNoKey
	}
	if err := key.UnmarshalText([]byte(publicKey)); err != nil {
		return "", fmt.Errorf("the key for updates of this program: %w", err)
	}
	signature, err := regular.Read(path + ".minisig")
	if err != nil {
		return "", fmt.Errorf("the signature: %w", err)
	}
	from, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", fmt.Errorf("copy the new program beside the present one: %w", err)
	}
	signed := minisign.NewReader(from)
	_, err = io.Copy(file, signed)
	if err = errors.Join(err, file.Chmod(0o755), file.Sync(), file.Close()); err != nil {
		return "", fmt.Errorf("copy the new program beside the present one: %w", err)
	}
	if !signed.Verify(key, signature) {
		return "", fmt.Errorf("%s: %w", path, ErrSignature)
	}
	return sumOf(to)
}
