package update

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestProgramThatDoesNotGetReadyGoesBack plays good and bad updates with real programs.
func TestProgramThatDoesNotGetReadyGoesBack(t *testing.T) {
	key := keys(t)
	for behaviour, want := range map[string]struct {
		says  string
		state State
		why   string
	}{
		"works":   {"works runs", Taken, ""},
		"hangs":   {"hangs runs, present runs", Returned, "not ready in a minute"},
		"fails":   {"fails runs, present runs", Returned, "it failed"},
		"crashes": {"crashes runs, crashes runs, crashes runs, present runs", Returned, "ended 3 times"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			dir, present, trial := installed(t, key, behaviour)
			if trial.Version != "of "+behaviour {
				t.Error(trial.Version)
			}
			var said []string
			log := ""
			for range 1 + strings.Count(want.says, "crashes runs, crashes")*3 { // a supervisor starts it again
				says, logs := run(t, exec.CommandContext(t.Context(), present, "serve"), dir)
				said, log = append(said, says), log+logs
			}
			if got := strings.Join(said, ", "); got != want.says {
				t.Errorf("said %q, want %q", got, want.says)
			}
			last, err := Last(dir)
			if err != nil || last.State != want.state || !strings.Contains(last.Why, want.why) {
				t.Errorf("%+v %v", last, err)
			}
			if want.state == Returned && !(strings.Contains(log, "the update failed") && strings.Contains(log, want.why)) {
				t.Errorf("the log has %q", log)
			}
			if again := start(t, present, dir); want.state == Returned && again != "present runs" {
				t.Errorf("at the next start: %q", again)
			}
		})
	}
}

// asService lets a program run as a service whose user may not write where the program is.
func asService(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	at := filepath.Dir(cmd.Path)
	if os.Geteuid() != 0 {
		if err := os.Chmod(at, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(at, 0o755) })
		return
	}
	const nobody = 65534
	for _, path := range []string{dir, at} {
		if err := errors.Join(os.Chmod(filepath.Dir(path), 0o755), os.Chmod(path, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chown(dir, nobody, nobody), os.Chown(filepath.Join(dir, noteName), nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// TestFormerProgramRunsWhereItCannotBePutBack: a service that may not write where its program is. A further
// update does not take the failed program for the one to go back to.
func TestFormerProgramRunsWhereItCannotBePutBack(t *testing.T) {
	key := keys(t)
	dir, present, _ := installed(t, key, "fails")
	former := present + formerSuffix
	if err := os.Rename(former, former+".away"); err != nil { // the new one finds nothing to go back to
		t.Fatal(err)
	}
	if said := start(t, present, dir); !strings.Contains(said, ErrNoFormer.Error()) || stateOf(t, dir) != OnTrial {
		t.Errorf("without a former one: %q", said)
	}
	if err := os.Rename(former+".away", former); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fails runs, present runs", "present runs"} {
		cmd := exec.CommandContext(t.Context(), present, "serve")
		asService(t, cmd, dir)
		said, _ := run(t, cmd, dir)
		if said != want || behaviourOf(t, present) != "fails" || stateOf(t, dir) != Returned {
			t.Errorf("said %q, want %q", said, want)
		}
	}
	_ = os.Chmod(filepath.Dir(present), 0o755) // the administrator may write there
	if _, err := install(t, key, dir, present, "crashes"); err != nil {
		t.Fatal(err)
	}
	if behaviourOf(t, former) != "present" || behaviourOf(t, present) != "crashes" {
		t.Errorf("%s is to go back to %s", behaviourOf(t, present), behaviourOf(t, former))
	}
}

// TestUpdateDuringATrialIsRefused: the program that works stays the one to go back to.
func TestUpdateDuringATrialIsRefused(t *testing.T) {
	key := keys(t)
	dir, present, _ := installed(t, key, "hangs")
	if _, err := install(t, key, dir, present, "works"); err == nil || !strings.Contains(err.Error(), "of hangs is on trial") {
		t.Fatal(err)
	}
	if said := start(t, present, dir); said != "hangs runs, present runs" {
		t.Errorf("said %q", said)
	}
	if _, err := install(t, key, dir, present, "works"); err != nil {
		t.Fatal(err)
	}
	if said := start(t, present, dir); said != "works runs" || behaviourOf(t, present+formerSuffix) != "present" {
		t.Errorf("said %q", said)
	}
}

// TestGoingBackTouchesNoOtherProgram: somebody has put other programs there while one was on trial.
func TestGoingBackTouchesNoOtherProgram(t *testing.T) {
	key := keys(t)
	for name, c := range map[string]struct{ program, former, says string }{
		"another program":                {"other", "present", "waits runs, present runs"},
		"another former program":         {"waits", "other", "waits runs, " + ErrNoFormer.Error()},
		"the failed one as the former":   {"other", "waits", "waits runs, " + ErrNoFormer.Error()},
		"put back by hand":               {"present", "", "waits runs, present runs"},
		"put back by hand, with another": {"present", "other", "waits runs, present runs"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, present, _ := installed(t, key, "waits")
			original := map[string][]byte{"other": nil}
			for _, path := range []string{present, present + formerSuffix, program(t, "other")} {
				raw, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				original[behaviourOf(t, path)] = raw
			}
			cmd := exec.CommandContext(t.Context(), present, "serve")
			cmd.Env = append(os.Environ(), stateVariable+"="+dir)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			said := make([]byte, 1<<10)
			n, err := out.Read(said) // it runs
			if err != nil {
				t.Fatal(err)
			}
			for path, behaviour := range map[string]string{present: c.program, present + formerSuffix: c.former} {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				if behaviour == "" {
					continue
				}
				if err := os.WriteFile(path, original[behaviour], 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for {
				more, err := out.Read(said[n:])
				if n += more; err != nil {
					break
				}
			}
			_ = cmd.Wait() // what it says tells how it ended
			var lines []string
			for line := range strings.Lines(string(said[:n])) {
				if line = strings.TrimPrefix(strings.TrimSpace(line), present+formerSuffix+": "); !strings.HasPrefix(line, "msg=") {
					lines = append(lines, line)
				}
			}
			if got := strings.Join(lines, ", "); got != c.says {
				t.Errorf("said %q, want %q", got, c.says)
			}
			if behaviourOf(t, present) != c.program {
				t.Errorf("the program is %s, was %s", behaviourOf(t, present), c.program)
			}
		})
	}
}

// TestNoteActsForItsProgramsAlone: a note that another program finds goes, and what was taken or is over
// stays as it is.
func TestNoteActsForItsProgramsAlone(t *testing.T) {
	dir, present := t.TempDir(), program(t, "present")
	sum, err := sumOf(present)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		note  *Trial
		after State
		log   string
	}{
		"on trial, of others":             {&Trial{New: "1", Former: "2", State: OnTrial}, "", ""},
		"gone back, of others":            {&Trial{New: "1", Former: "2", State: Back}, "", ""},
		"returned, of others":             {&Trial{New: "1", Former: "2", State: Returned}, "", ""},
		"taken":                           {&Trial{New: sum, Former: "2", State: Taken}, Taken, ""},
		"the former, not replaced yet":    {&Trial{New: "1", Former: sum, State: OnTrial}, OnTrial, ""},
		"the former, put back by hand":    {&Trial{New: "1", Former: sum, State: OnTrial, Starts: 1}, Returned, "by hand"},
		"the former, first time":          {&Trial{New: "1", Former: sum, State: Back, Why: "it hung"}, Returned, "it hung"},
		"the former, later":               {&Trial{New: "1", Former: sum, State: Returned, Why: "it hung"}, Returned, ""},
		"the new, without a way back":     {&Trial{New: sum, Former: "2", State: Returned}, "", ""},
		"the new, starts and no way back": {&Trial{New: sum, Former: "2", State: OnTrial, Starts: starts}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(c.note)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, noteName), raw, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			said, log := run(t, exec.CommandContext(t.Context(), present, "serve"), dir)
			if !strings.HasSuffix(said, "present runs") || stateOf(t, dir) != c.after {
				t.Errorf("said %q, state %q, want %q", said, stateOf(t, dir), c.after)
			}
			if c.log == "" && log != "" || !strings.Contains(log, c.log) {
				t.Errorf("log %q, want %q", log, c.log)
			}
		})
	}
}

// TestNoteIsWrittenThroughNoLink: the owner of the state directory may be another user than root, who runs
// the command.
func TestNoteIsWrittenThroughNoLink(t *testing.T) {
	key := keys(t)
	for _, name := range []string{unfinished, noteName} {
		dir, present, victim := t.TempDir(), program(t, "present"), filepath.Join(t.TempDir(), "victim")
		if err := errors.Join(os.WriteFile(victim, []byte("{}"), 0o600), os.Symlink(victim, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
		want := uint32(os.Geteuid())
		if want == 0 {
			want = 65534
			if err := os.Chown(dir, int(want), int(want)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := install(t, key, dir, present, "works")
		raw, unread := os.ReadFile(victim)
		info, unfound := os.Lstat(victim)
		if err := errors.Join(unread, unfound); err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; string(raw) != "{}" || owner != uint32(os.Geteuid()) {
			t.Errorf("%s: the file behind the link is %q and belongs to %d (%v)", name, raw, owner, err)
		}
		if name == noteName {
			if err == nil {
				t.Error("a link was read as the note")
			}
			continue
		}
		note, unfound := os.Lstat(filepath.Join(dir, noteName))
		if err := errors.Join(err, unfound); err != nil {
			t.Fatal(err)
		}
		if owner := note.Sys().(*syscall.Stat_t).Uid; !note.Mode().IsRegular() || owner != want {
			t.Errorf("the note is %s and belongs to %d, want %d", note.Mode(), owner, want)
		}
	}
}

// TestOneUpdateAtATime: while one is being installed, another one is refused and disturbs nothing.
func TestOneUpdateAtATime(t *testing.T) {
	key := keys(t)
	dir, present, next := t.TempDir(), program(t, "present"), program(t, "works")
	sign(t, key, next)
	t.Setenv(stateVariable, dir)
	_, err := Install(dir, present, next, func(string) error {
		if _, err := install(t, key, dir, present, "fails"); !errors.Is(err, ErrBusy) {
			t.Errorf("meanwhile: %v", err)
		}
		if said := start(t, present, dir); said != "present runs" { // and leaves what is being installed
			t.Errorf("meanwhile it says %q", said)
		}
		return nil
	})
	if err != nil || behaviourOf(t, present) != "works" || behaviourOf(t, present+formerSuffix) != "present" {
		t.Errorf("%v, %s takes the place of %s", err, behaviourOf(t, present), behaviourOf(t, present+formerSuffix))
	}
}

// TestWhatAPowerCutLeavesIsRemoved: by the next start, and by the next update.
func TestWhatAPowerCutLeavesIsRemoved(t *testing.T) {
	key := keys(t)
	dir, present := t.TempDir(), program(t, "present")
	leave := func() {
		if err := os.WriteFile(Next(present), []byte("half a pro"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	if said := start(t, present, dir); said != "present runs" {
		t.Errorf("said %q", said)
	}
	if _, err := os.Stat(Next(present)); err == nil {
		t.Error("half a program is left after a start")
	}
	leave()
	if _, err := install(t, key, dir, present, "works"); err != nil {
		t.Error(err)
	}
	if said := start(t, present, dir); said != "works runs" {
		t.Errorf("said %q", said)
	}
}
