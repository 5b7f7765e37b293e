package update

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// What stands beside a program: the one that it replaced, and one that is being installed.
const (
	formerSuffix = ".former"
	nextSuffix   = ".next"
)

// Program returns the path of the program that runs: where a start finds it, also when this process runs
// the former program beside it.
func Program() (string, error) {
	path, err := os.Executable() // without the system's "(deleted)"
	return strings.TrimSuffix(path, formerSuffix), err
}

// Next is where a program is kept that is being installed in place of program.
func Next(program string) string { return program + nextSuffix }

// ErrBusy: somebody else is installing a program.
var ErrBusy = errors.New("another update is being installed: wait until it has ended")

// claim makes the file of the next program and locks it until it is closed, so that one update is
// installed at a time. What a power cut has left there is used again. The handle cannot write: a file that
// is open for writing cannot be run.
func claim(next string) (*os.File, error) {
	file, err := os.OpenFile(next, os.O_RDONLY|os.O_CREATE|syscall.O_NOFOLLOW, 0o700)
	if err != nil {
		return nil, err
	}
	if err := lock(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// lock locks the file of the next program. It is ErrBusy when another process has done so, or did and has
// moved the file since.
func lock(file *os.File) error {
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrBusy
	case err != nil:
		return fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	locked, err := file.Stat()
	if err != nil {
		return err
	}
	if present, err := os.Lstat(file.Name()); err != nil || !os.SameFile(locked, present) {
		return ErrBusy
	}
	return nil
}

// removeNext removes what an update has left that a power cut ended, where this user may do that.
func removeNext(program string) {
	file, err := os.OpenFile(Next(program), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if lock(file) == nil {
		_ = os.Remove(file.Name()) // the next update uses it again
	}
}

// maxAnswer is more than a minisign signature and what a program says when it is asked have, in bytes.
const maxAnswer = 4 << 10

// answerTime is how long a program may take to answer.
const answerTime = 30 * time.Second

// Ask runs a program with arguments to its end and returns what it says. When it does not end well, what
// it says is the error. (os/exec would add 60 KB to this program.)
func Ask(program string, arguments ...string) (answer string, err error) {
	from, to, err := os.Pipe()
	if err != nil {
		return "", err
	}
	process, err := os.StartProcess(program, append([]string{program}, arguments...), &os.ProcAttr{Files: []*os.File{nil, to, to}})
	_ = to.Close() // it has its own
	if err != nil {
		return "", errors.Join(err, from.Close())
	}
	late := time.AfterFunc(answerTime, func() { _ = process.Kill() })
	text, err := readSome(from, maxAnswer)
	_ = from.Close() // it has said enough
	state, waited := process.Wait()
	late.Stop()
	if err := errors.Join(err, waited); err != nil {
		return "", err
	}
	answer = strings.TrimSpace(string(text))
	if !state.Success() {
		return "", errors.New(strings.TrimSpace(fmt.Sprintf("%s (%s)", answer, state)))
	}
	return answer, nil
}

// version asks a program for its version.
func version(program string) (string, error) {
	answer, err := Ask(program, "version")
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(answer, "\n")
	version, ok := strings.CutPrefix(first, "sensegate ")
	if !ok {
		return "", fmt.Errorf("asked for its version it says %.80q", first)
	}
	return version, nil
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

// readSome reads at most so many bytes.
func readSome(from io.Reader, most int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader(from, most))
}
