package update

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aead.dev/minisign"
)

// stateVariable names the state directory of this program as one that is updated. What it does
// stands at the end of its file, behind the program: see program.
const stateVariable = "UPDATE_TEST_STATE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(stateVariable); dir != "" {
		os.Exit(serve(dir))
	}
	os.Exit(m.Run())
}

// serve is what a program does that is updated, or is the update.
func serve(dir string) int {
	raw, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return 9
	}
	behaviour := string(raw[bytes.LastIndexByte(raw, '\n')+1:])
	switch {
	case os.Args[1] == "version":
		built := map[string]string{"older": "2026-01-01T00:00:00Z", "newer": "2026-03-01T00:00:00Z", "present": "2026-02-01T00:00:00Z"}
		fmt.Println("sensegate of "+behaviour+"\nbuilt", built[behaviour])
		return 0
	case os.Args[1] == "cancel":
		program, _ := Program()
		_, err := Cancel(dir, program, whole)
		fmt.Println(behaviour, "gives up:", err)
		return 0
	case os.Args[1] == "offline":
		fmt.Println(behaviour, "opens:", Offline(dir))
		return 0
	case behaviour == "dies": // before it reads anything
		return 3
	}
	for _, err := os.Stat(filepath.Join(dir, "hold")); err == nil; _, err = os.Stat(filepath.Join(dir, "hold")) {
		time.Sleep(time.Millisecond)
	}
	readyTime, migrationTime, saveAgain = 300*time.Millisecond, time.Minute, time.Millisecond
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: messageAlone}))
	trial, err := Begin(dir, func() bool { return false }, log)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if trial.OnTrial() && os.Getenv("GOTRACEBACK") != "crash" { // a panic would end with 2
		return 9
	}
	fmt.Println(behaviour, "runs")
	if backup := trial.Backup(); backup != "" {
		fmt.Println("gets back", backup, trial.Opened())
	}
	check := func(string) error {
		if _, err := os.Stat(filepath.Join(dir, "used up")); err == nil {
			return os.ErrNotExist
		}
		return nil
	}
	backUp := func() (string, error) {
		fmt.Println("backs up")
		return filepath.Join(dir, "first.backup"), nil
	}
	switch behaviour {
	case "waits":
		for _, err := os.Stat(filepath.Join(dir, "go")); err != nil; _, err = os.Stat(filepath.Join(dir, "go")) {
			time.Sleep(time.Millisecond)
		}
	case "hangs":
		select {}
	case "fails":
		trial.Fail("it \x1b[2Jfailed")
		return 1
	case "crashes":
		return 3
	case "crashes in its migration":
		_ = trial.Migrate(check, backUp, func() error { os.Exit(3); return nil })
	case "migrates": // which takes longer than it may take to be ready
		if err := trial.Migrate(check, backUp, func() error { time.Sleep(2 * readyTime); return nil }); err != nil {
			return 1
		}
	case "hangs after its migration":
		_ = trial.Migrate(check, backUp, func() error { return nil })
		select {}
	case "finds no room":
		if !trial.OnTrial() {
			return 0
		}
		blocked := filepath.Join(dir, unfinished)
		_ = os.Mkdir(blocked, 0o700)
		time.AfterFunc(50*time.Millisecond, func() { _ = os.Remove(blocked) })
	}
	trial.Ready()
	return 0
}

// messageAlone leaves the message and the reasons of a line of the log.
func messageAlone(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.MessageKey || a.Key == "why" || a.Key == "err" {
		return a
	}
	return slog.Attr{}
}

// accept tries no program.
func accept(string) error { return nil }

// whole takes every backup for one that can be used.
func whole(string) error { return nil }

// program makes one that behaves so, and returns its path.
func program(t *testing.T, behaviour string) string {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/exe")
	path := filepath.Join(t.TempDir(), "sensegate")
	if err == nil {
		err = os.WriteFile(path, append(raw, "\n"+behaviour...), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sign signs a file.
func sign(t *testing.T, key minisign.PrivateKey, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := minisign.NewReader(file)
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".minisig", r.Sign(key), 0o600); err != nil {
		t.Fatal(err)
	}
}

// keys makes a pair; the public one is built in. Tests that call it are not parallel.
func keys(t *testing.T) minisign.PrivateKey {
	t.Helper()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	publicKey = public.String()
	t.Cleanup(func() { publicKey = "" })
	return private
}

// startOf runs a program to its end and returns what it and its successors say, but for their log.
func startOf(t *testing.T, path, dir string) string {
	t.Helper()
	said, _ := run(t, exec.CommandContext(t.Context(), path, "serve"), dir)
	return said
}

// run is startOf a command, and returns its log as well.
func run(t *testing.T, cmd *exec.Cmd, dir string) (said, log string) {
	t.Helper()
	cmd.Env = append(os.Environ(), stateVariable+"="+dir)
	out, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "msg=") {
			log += line + "\n"
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ", "), log
}

// toBeTried makes a program that is present and another one beside it that is to be tried.
func toBeTried(t *testing.T, key minisign.PrivateKey, behaviour string) (dir, present string) {
	t.Helper()
	dir, present = t.TempDir(), program(t, "present")
	if _, err := install(t, key, dir, present, behaviour); err != nil {
		t.Fatal(err)
	}
	return dir, present
}

// install lets a program be tried that behaves so.
func install(t *testing.T, key minisign.PrivateKey, dir, present, behaviour string) (*Note, error) {
	t.Helper()
	next := program(t, behaviour)
	sign(t, key, next)
	t.Setenv(stateVariable, dir) // for the question for its version
	return Install(dir, present, next, false, accept)
}

// behaviourOf returns what a program does.
func behaviourOf(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw[bytes.LastIndexByte(raw, '\n')+1:])
}

// stateOf returns how far the last update is.
func stateOf(t *testing.T, dir string) State {
	t.Helper()
	last, err := Last(dir)
	if err != nil {
		t.Fatal(err)
	}
	if last == nil {
		return ""
	}
	return last.State
}

func TestWhatIsNotSignedIsNotInstalled(t *testing.T) {
	key := keys(t)
	dir, present, next := t.TempDir(), program(t, "present"), program(t, "works")
	t.Setenv(stateVariable, dir)
	try := accept
	refused := func(name, path string, want string) {
		t.Helper()
		if _, err := Install(dir, present, path, false, func(next string) error { return try(next) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := filepath.Glob(present + ".*"); behaviourOf(t, present) != "present" || len(left) > 0 {
			t.Errorf("%s: the program changed, or %v is left", name, left)
		}
		if state := stateOf(t, dir); state != "" {
			t.Errorf("%s: noted %s", name, state)
		}
	}
	refused("no signature", next, "no such file")
	if err := syscall.Mkfifo(next+".minisig", 0o600); err != nil {
		t.Fatal(err)
	}
	refused("a pipe for a signature", next, "is a pipe")
	if err := os.Remove(next + ".minisig"); err != nil {
		t.Fatal(err)
	}
	sign(t, key, next)
	changed := program(t, "changed")
	if err := os.Rename(next+".minisig", changed+".minisig"); err != nil {
		t.Fatal(err)
	}
	refused("signature of another file", changed, ErrSignature.Error())
	_, other, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sign(t, other, next)
	refused("signature of somebody else", next, ErrSignature.Error())
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	sign(t, key, text)
	refused("no program", text, "does not run on this machine")
	same := program(t, "present")
	sign(t, key, same)
	refused("the present program", same, ErrSame.Error())
	sign(t, key, next)
	try = func(path string) error { return fmt.Errorf("tried to see what %s does", behaviourOf(t, path)) }
	refused("one that the present program refuses", next, "tried to see what works does")
	old := program(t, "older")
	sign(t, key, old)
	try = accept
	refused("an older program", old, "-older")
	if _, err := Install(dir, present, old, true, accept); err != nil || stateOf(t, dir) != Trying {
		t.Errorf("an older program that is wanted: %v", err)
	}
	if _, err := Cancel(dir, present, whole); err != nil {
		t.Error(err)
	}
	newer := program(t, "newer")
	sign(t, key, newer)
	try = func(string) error { return errors.New("it is not older") }
	refused("a newer program", newer, "it is not older")
	publicKey = ""
	refused("a build without a key", next, ErrNoKey.Error())
}

// TestProgramsSayWhyTheyRefuse: a program that does not end well says so in its own words.
func TestProgramsSayWhyTheyRefuse(t *testing.T) {
	t.Setenv(stateVariable, t.TempDir())
	if answer, err := Ask(program(t, "works"), "version"); answer != "sensegate of works\nbuilt" || err != nil {
		t.Errorf("%q %v", answer, err)
	}
	if _, err := Ask(program(t, "crashes"), "serve"); err == nil || err.Error() != "crashes runs (exit status 3)" {
		t.Error(err)
	}
}
