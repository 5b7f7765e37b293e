package update

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println("sensegate of " + behaviour)
		return 0
	}
	readyTime = 300 * time.Millisecond
	ready := make(chan struct{})
	trial, err := Begin(dir)
	if err != nil {
		fmt.Println(err)
		return 9
	}
	fmt.Println(behaviour, "runs")
	trial.Wait(ready, func(err error) { fmt.Println(err) })
	switch behaviour {
	case "hangs":
		select {}
	case "fails":
		fmt.Println(trial.GoBack("it failed"))
	case "crashes":
		return 3
	case "works":
		close(ready)
		for {
			if last, err := Last(dir); err != nil || last.State == Taken {
				return 0
			}
			time.Sleep(time.Millisecond)
		}
	}
	return 0
}

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

// start runs a program to its end and returns what it and its successors say.
func start(t *testing.T, path, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), path, "serve")
	cmd.Env = append(os.Environ(), stateVariable+"="+dir)
	out, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", ", ")
}

// TestProgramThatDoesNotGetReadyGoesBack plays good and bad updates with real programs.
func TestProgramThatDoesNotGetReadyGoesBack(t *testing.T) {
	key := keys(t)
	for behaviour, want := range map[string]struct {
		says  string
		state State
		why   string
	}{
		"works":   {"works runs", Taken, ""},
		"hangs":   {"hangs runs, present runs", Back, "not ready in a minute"},
		"fails":   {"fails runs, present runs", Back, "it failed"},
		"crashes": {"crashes runs, crashes runs, crashes runs, present runs", Back, "ended 3 times"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			dir, present, next := t.TempDir(), program(t, "present"), program(t, behaviour)
			sign(t, key, next)
			t.Setenv(stateVariable, dir) // for the question for its version
			version, err := Install(dir, present, next)
			if err != nil || version != "of "+behaviour {
				t.Fatal(version, err)
			}
			var said []string
			for range 1 + strings.Count(want.says, "crashes runs, crashes")*3 { // a supervisor starts it again
				said = append(said, start(t, present, dir))
			}
			if got := strings.Join(said, ", "); got != want.says {
				t.Errorf("said %q, want %q", got, want.says)
			}
			last, err := Last(dir)
			if err != nil || last.State != want.state || !strings.Contains(last.Why, want.why) {
				t.Errorf("%+v %v", last, err)
			}
			if again := start(t, present, dir); want.state == Back && again != "present runs" {
				t.Errorf("at the next start: %q", again)
			}
		})
	}
}

// TestFormerProgramRunsWhereItCannotBePutBack: a service that may not write where its program is.
func TestFormerProgramRunsWhereItCannotBePutBack(t *testing.T) {
	key := keys(t)
	dir, present, next := t.TempDir(), program(t, "present"), program(t, "fails")
	sign(t, key, next)
	t.Setenv(stateVariable, dir)
	if _, err := Install(dir, present, next); err != nil {
		t.Fatal(err)
	}
	former := present + ".former"
	for range 2 {
		if err := os.Rename(former, former+".away"); err != nil { // the new one finds nothing to put back
			t.Fatal(err)
		}
		if said := start(t, present, dir); !strings.Contains(said, "run the former program") {
			t.Errorf("without a former one: %q", said)
		}
		if err := os.Rename(former+".away", former); err != nil {
			t.Fatal(err)
		}
	}
	if said := start(t, present, dir); said != "present runs" {
		t.Errorf("said %q", said)
	}
}

func TestWhatIsNotSignedIsNotInstalled(t *testing.T) {
	key := keys(t)
	dir, present, next := t.TempDir(), program(t, "present"), program(t, "works")
	before, err := sumOf(present)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(stateVariable, dir)
	refused := func(name, path string, want string) {
		t.Helper()
		if _, err := Install(dir, present, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		after, err := sumOf(present)
		if left, _ := filepath.Glob(present + ".*"); err != nil || after != before || len(left) > 0 {
			t.Errorf("%s: the program changed, or %v is left", name, left)
		}
		if last, err := Last(dir); last != nil || err != nil {
			t.Errorf("%s: noted %+v, %v", name, last, err)
		}
	}
	refused("no signature", next, "no such file")
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
	sign(t, key, next)
	publicKey = ""
	refused("a build without a key", next, ErrNoKey.Error())
}
