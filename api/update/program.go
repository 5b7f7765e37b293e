package update

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What stands beside a program: the one that it replaced, and one that is tried or being installed.
const (
	formerSuffix = ".former"
	nextSuffix   = ".next"
)

// runningProgram is the program of this process, also when its file was removed.
const runningProgram = "/proc/self/exe"

// Program returns the path of the program that is installed: where a start finds it, also when this process
// runs one beside it.
func Program() (string, error) {
	path, err := os.Executable() // without the system's "(deleted)"
	return strings.TrimSuffix(strings.TrimSuffix(path, formerSuffix), nextSuffix), err
}

// Next is where a program is kept that is tried or being installed in place of program.
func Next(program string) string { return program + nextSuffix }

// ErrBusy: somebody else is installing a program.
var ErrBusy = errors.New("another update is being installed: wait until it has ended")

// claim makes the file of the next program and locks it until it is closed, so that one update is
// installed at a time. What a power cut has left there is used again. The handle cannot write: a file that
// is open for writing cannot be run.
func claim(next string) (*os.File, error) { return openLocked(next, os.O_CREATE) }

// openLocked opens the file of the next program and locks it. It is ErrBusy when another process has done so,
// or did and has moved the file since.
func openLocked(next string, flags int) (*os.File, error) {
	file, err := os.OpenFile(next, os.O_RDONLY|syscall.O_NOFOLLOW|flags, 0o700)
	if err != nil {
		return nil, err
	}
	if err := lock(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// removeEmpty removes the file of the next program that claim has made.
func removeEmpty(locked *os.File) {
	if info, err := locked.Stat(); err == nil && info.Size() == 0 && names(locked.Name(), info) {
		_ = os.Remove(locked.Name()) // else the next update uses it again
	}
}

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

// RemoveNext removes what an update has left that was cut off or has failed, where this user may do that.
func RemoveNext(program string) {
	file, err := openLocked(Next(program), 0)
	if err != nil {
		return
	}
	_ = errors.Join(os.Remove(file.Name()), file.Close()) // the next update uses it again
}

// Serving returns the process ids of the appliances that run the program at a path, or the next one beside it,
// as far as this user sees them.
func Serving(program string) (pids []int) {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, process := range processes {
		pid, err := strconv.Atoi(process.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		exe := fmt.Sprintf("/proc/%d/exe", pid)
		runs, err := os.Stat(exe)
		path, _ := os.Readlink(exe) // of one that was removed, where it was
		if err != nil || !names(program, runs) && !names(Next(program), runs) && path != Next(program)+" (deleted)" {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if words := strings.Split(string(line)+"\x00", "\x00"); err == nil && (words[1] == "" || words[1][0] == '-' || words[1] == "serve") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isAt reports whether the program of this process is still the file at a path.
func isAt(path string) bool {
	own, err := os.Stat(runningProgram)
	return err == nil && names(path, own)
}

// names reports whether a path names that file.
func names(path string, file os.FileInfo) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, file)
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

// built asks a program for its version, and when it was built, zero: it does not say.
func built(program string) (version string, at time.Time, err error) {
	answer, err := Ask(program, "version")
	if err != nil {
		return "", at, err
	}
	lines := strings.Split(answer, "\n")
	version, ok := strings.CutPrefix(lines[0], "sensegate ")
	if !ok {
		return "", at, fmt.Errorf("asked for its version it says %.80q", lines[0])
	}
	for _, line := range lines {
		if date, ok := strings.CutPrefix(line, "built "); ok {
			at, _ = time.Parse(time.RFC3339, date) // zero for "unknown"
		}
	}
	return version, at, nil
}

// isProgram returns why the file at a path is not the program with that SHA-256.
func isProgram(path, sum string) error {
	found, err := sumOf(path)
	if err == nil && found != sum {
		err = fmt.Errorf("%s is another program", path)
	}
	return err
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
