// Package update replaces the program of a box that has no package manager by a newer one that is
// signed, and goes back to the former one when the new one does not get ready. It knows files and
// signatures. It must not know what makes an appliance ready, or the database.
package update

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"aead.dev/minisign"

	"sensegate/store/durable"
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

// Install puts the signed program at path, whose signature stands beside it as path.minisig, in place
// of program, which stays as program.former, and notes it in stateDir as on trial. Before, try is called
// with the path of a copy of the new program, and may refuse it. The running program goes on until it is
// started anew.
//
// While another program is on trial, and while another update is being installed, it is refused.
func Install(stateDir, program, path string, try func(next string) error) (_ *Trial, err error) {
	next := Next(program)
	locked, err := claim(next)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(next) // it is not there when the last step failed
		}
		_ = locked.Close() // it is read-only
	}()
	t := &Trial{stateDir: stateDir, program: program, State: OnTrial}
	if t.Former, err = settle(stateDir, program); err != nil {
		return nil, err
	}
	if t.New, err = copySigned(path, next); err != nil {
		return nil, err
	}
	if t.New == t.Former {
		return nil, ErrSame
	}
	if t.Version, err = version(next); err != nil {
		return nil, fmt.Errorf("the new program does not run on this machine: %w", err)
	}
	if err := try(next); err != nil {
		return nil, err
	}
	return t, t.replace(next)
}

// settle returns the SHA-256 of the program that is to be replaced. One that has failed, where nobody has
// put the former one in its place yet, gives way to that first.
func settle(stateDir, program string) (sum string, err error) {
	if sum, err = sumOf(program); err != nil {
		return "", err
	}
	last, err := Last(stateDir)
	if err != nil || last == nil || last.New != sum {
		return sum, err
	}
	last.program = program
	switch last.State {
	case OnTrial:
		return "", fmt.Errorf("%s is on trial and has not been ready yet: wait some minutes, until it is or the former program runs again (start the appliance, if it is off; or put %s in its place by hand)",
			last.Version, last.FormerPath())
	case Back, Returned:
		if err := last.PutBack(); err == nil {
			return last.Former, nil
		}
	}
	return sum, nil
}

// replace keeps the present program as the former one, notes the trial and puts the next one in its place.
func (t *Trial) replace(next string) error {
	former := t.FormerPath()
	if err := os.Remove(former); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the program before the former one: %w", err)
	}
	if err := os.Link(t.program, former); err != nil {
		return fmt.Errorf("keep the former program: %w", err)
	}
	if err := t.save(); err != nil {
		return err
	}
	if err := os.Rename(next, t.program); err != nil {
		return errors.Join(fmt.Errorf("replace the program: %w", err), t.forget())
	}
	return durable.SyncDirectory(filepath.Dir(t.program))
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
	beside, err := os.Open(path + ".minisig")
	if err != nil {
		return "", fmt.Errorf("the signature: %w", err)
	}
	defer beside.Close()
	signature, err := readSome(beside, maxAnswer)
	if err != nil {
		return "", fmt.Errorf("the signature: %w", err)
	}
	from, err := os.Open(path)
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
