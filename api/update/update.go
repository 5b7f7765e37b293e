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
	"strings"
	"time"

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
)

// maxAnswer is more than a minisign signature and what a program says of its version have, in bytes.
const maxAnswer = 4 << 10

// answerTime is how long a program may take to say its version.
const answerTime = 30 * time.Second

// Install puts the signed program at path, whose signature stands beside it as path.minisig, in place
// of program, which stays as program.former, and notes it in stateDir as on trial. It says the version
// that was installed. The running program goes on until it is started anew.
func Install(stateDir, program, path string) (version string, err error) {
	next := program + ".next"
	defer func() {
		if err != nil {
			_ = os.Remove(next) // it may not be there
		}
	}()
	sum, err := copySigned(path, next)
	if err != nil {
		return "", err
	}
	if version, err = ask(next); err != nil {
		return "", fmt.Errorf("the new program does not run on this machine: %w", err)
	}
	t := Trial{stateDir: stateDir, Version: version, Program: program, Sum: sum, State: OnTrial}
	former := t.Former()
	if err := os.Remove(former); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("remove the program before the former one: %w", err)
	}
	if err := os.Link(program, former); err != nil {
		return "", fmt.Errorf("keep the former program: %w", err)
	}
	if err := t.save(); err != nil {
		return "", err
	}
	if err := os.Rename(next, program); err != nil {
		return "", errors.Join(fmt.Errorf("replace the program: %w", err), t.forget())
	}
	return version, durable.SyncDirectory(filepath.Dir(program))
}

// ask has a program say its version. (os/exec alone would add 60 KB to this one.)
func ask(program string) (version string, err error) {
	answer, said, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer answer.Close()
	process, err := os.StartProcess(program, []string{program, "version"}, &os.ProcAttr{Files: []*os.File{nil, said, nil}})
	_ = said.Close() // it has its own
	if err != nil {
		return "", err
	}
	late := time.AfterFunc(answerTime, func() { _ = process.Kill() })
	text, err := readSome(answer, maxAnswer)
	late.Stop()
	_ = process.Kill() // it has said what there is to say, or too much
	if _, waited := process.Wait(); err != nil || waited != nil {
		return "", errors.Join(err, waited)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	version, ok := strings.CutPrefix(first, "sensegate ")
	if !ok {
		return "", fmt.Errorf("asked for its version it says %.80q", first)
	}
	return version, nil
}

// copySigned copies a program to a path from which it can be run, and checks its signature by what it
// has copied, so that nobody can exchange it in between. It returns the SHA-256 of it.
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
	_ = os.Remove(to) // what a former try has left
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
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

// readSome reads at most so many bytes.
func readSome(from io.Reader, most int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader(from, most))
}
