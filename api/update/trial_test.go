package update

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNewProgramIsInstalledOnceItWasReady plays good and bad updates with real programs, under a supervisor
// that starts the program of the path again and again. No program that has failed is ever there.
func TestNewProgramIsInstalledOnceItWasReady(t *testing.T) {
	key := keys(t)
	for behaviour, want := range map[string]struct {
		says  string
		state State
		why   string
		log   string
	}{
		"works":                     {"works runs", Good, "", "is good"},
		"migrates":                  {"migrates runs, backs up", Good, "", "is good"},
		"finds no room":             {"finds no room runs", Good, "", "cannot be noted yet"},
		"hangs":                     {"hangs runs, present runs", Returned, "not ready in a minute", "the update failed"},
		"fails":                     {"fails runs, present runs", Returned, "it  [2Jfailed", "the update failed"},
		"crashes":                   {"crashes runs, crashes runs, crashes runs, present runs", Returned, "ended 3 times", "the update failed"},
		"dies":                      {"present runs", Returned, "ended 3 times", "the update failed"},
		"crashes in its migration":  {"crashes in its migration runs, backs up, crashes in its migration runs, crashes in its migration runs, present runs, gets back first.backup <nil>", Returned, "ended 3 times", "the update failed"},
		"hangs after its migration": {"hangs after its migration runs, backs up, present runs, gets back first.backup <nil>", Returned, "after its migration", "the update failed"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			dir, present := toBeTried(t, key, behaviour)
			var said []string
			log := ""
			for range starts + 1 {
				says, logs := run(t, exec.CommandContext(t.Context(), present, "serve"), dir)
				if said, log = append(said, says), log+logs; behaviourOf(t, present) != "present" {
					t.Fatal("it took the place before it was installed")
				}
				if state := stateOf(t, dir); state == Good || state == Returned {
					break
				}
			}
			said = slices.DeleteFunc(said, func(says string) bool { return says == "" })
			if got := strings.Join(said, ", "); got != want.says {
				t.Errorf("said %q, want %q", got, want.says)
			}
			last, err := Last(dir)
			if err != nil || last.State != want.state || !strings.Contains(last.Why, want.why) || last.State == Returned && last.Backup != "" {
				t.Errorf("%+v %v", last, err)
			}
			if !strings.Contains(log, want.log) || !strings.Contains(log, want.why) {
				t.Errorf("the log has %q", log)
			}
			runs := "present"
			if want.state == Good {
				runs = behaviour
				if again := startOf(t, present, dir); !strings.HasPrefix(again, behaviour+" runs") || stateOf(t, dir) != Good {
					t.Errorf("before it is installed it says %q", again)
				}
			}
			if _, err := Finish(dir, present); err != nil {
				t.Error(err)
			}
			if again := startOf(t, present, dir); !strings.HasPrefix(again, runs+" runs") || behaviourOf(t, present) != runs {
				t.Errorf("at the next start: %q", again)
			}
			if _, err := os.Stat(Next(present)); err == nil {
				t.Error("the next program is left")
			}
			if want.state == Good && behaviourOf(t, FormerOf(present)) != "present" {
				t.Error("the former program is not kept")
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

// TestServiceThatMayNotWriteBesideItsProgram tries a new program, runs it before it is installed, and goes back.
func TestServiceThatMayNotWriteBesideItsProgram(t *testing.T) {
	key := keys(t)
	for behaviour, want := range map[string][]string{
		"works": {"works runs", "works runs"},
		"fails": {"fails runs", "present runs", "present runs"},
	} {
		dir, present := toBeTried(t, key, behaviour)
		for _, says := range want {
			cmd := exec.CommandContext(t.Context(), present, "serve")
			asService(t, cmd, dir)
			if said, _ := run(t, cmd, dir); said != says || behaviourOf(t, present) != "present" {
				t.Errorf("%s: said %q, want %q", behaviour, said, says)
			}
		}
		_ = os.Chmod(filepath.Dir(present), 0o755) // the administrator may write there
		if _, err := Finish(dir, present); err != nil {
			t.Error(err)
		}
		if _, err := install(t, key, dir, present, "crashes"); err != nil {
			t.Errorf("after one that %s: %v", behaviour, err)
		}
	}
}

// TestServiceGivesUpWhatIsLost where it may not write beside its program.
func TestServiceGivesUpWhatIsLost(t *testing.T) {
	key := keys(t)
	dir, present := toBeTried(t, key, "migrates")
	startOf(t, present, dir)
	if err := os.Remove(Next(present)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, says string }{{"cancel", "present gives up: <nil>"}, {"serve", "present runs, gets back first.backup <nil>"}} {
		cmd := exec.CommandContext(t.Context(), present, c.command)
		asService(t, cmd, dir)
		if said, _ := run(t, cmd, dir); said != c.says {
			t.Errorf("%s: said %q, want %q", c.command, said, c.says)
		}
	}
}

// TestUpdateIsRefusedUntilTheLastOneIsOver, and so are commands that open the database of an appliance that is
// off; the new one runs them once it is good.
func TestUpdateIsRefusedUntilTheLastOneIsOver(t *testing.T) {
	key := keys(t)
	for behaviour, steps := range map[string][]struct{ refused, opens string }{
		"crashes": {
			{"is tried at the next start", "present opens: of crashes is tried"},
			{"start 1 of 3", "present opens: of crashes is on trial"}, {"start 2 of 3", "on trial"}, {"start 3 of 3", "on trial"},
			{"", "present opens: <nil>"},
		},
		"fails": {{"is tried", "is tried"}, {"does not work here", "present opens: of fails does not work here"}, {"", "present opens: <nil>"}},
		"works": {{"is tried", "is tried"}, {"is not installed yet", "works opens: <nil>"}},
	} {
		dir, present := toBeTried(t, key, behaviour)
		for n, step := range steps {
			if n > 0 {
				startOf(t, present, dir)
			}
			said, _ := run(t, exec.CommandContext(t.Context(), present, "offline"), dir)
			if !strings.Contains(said, step.opens) {
				t.Errorf("%s, after %d starts: a command says %q, want %q", behaviour, n, said, step.opens)
			}
			settled := Settled(dir)
			if want := step.refused != "" && !strings.Contains(step.refused, "installed"); (settled != nil) != want {
				t.Errorf("%s, after %d starts: %v", behaviour, n, settled)
			}
			_, err := install(t, key, dir, present, "newer")
			if step.refused == "" && err != nil || step.refused != "" && (err == nil || !strings.Contains(err.Error(), step.refused)) {
				t.Errorf("%s, after %d starts: %v, want %q", behaviour, n, err, step.refused)
			}
			if err != nil && behaviourOf(t, Next(present)) != behaviour {
				t.Errorf("%s, after %d starts: the refused program is beside", behaviour, n)
			}
		}
	}
}

// TestUpdateIsGivenUp before it is tried, and when its program does not run, but not while it does.
func TestUpdateIsGivenUp(t *testing.T) {
	key := keys(t)
	dir, present := toBeTried(t, key, "waits")
	if _, err := Cancel(dir, present, whole); err != nil || stateOf(t, dir) != "" {
		t.Error(err)
	}
	if _, err := os.Stat(Next(present)); err == nil {
		t.Error("the next program is left")
	}
	if _, err := Cancel(dir, present, whole); err == nil {
		t.Error("nothing was given up")
	}
	if _, err := install(t, key, dir, present, "waits"); err != nil {
		t.Fatal(err)
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
	for said := ""; !strings.Contains(said, "waits runs"); {
		some := make([]byte, 1<<10)
		n, err := out.Read(some)
		if said += string(some[:n]); err != nil {
			t.Fatal(said, err)
		}
	}
	if pids := Serving(present); !slices.Equal(pids, []int{cmd.Process.Pid}) {
		t.Errorf("%v serve, want %d", pids, cmd.Process.Pid)
	}
	if _, err := Cancel(dir, present, whole); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d", cmd.Process.Pid)) {
		t.Errorf("while it runs: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if _, err := Cancel(dir, present, whole); err != nil || stateOf(t, dir) != Failed {
		t.Errorf("when it does not run: %v", err)
	}
	if said := startOf(t, present, dir); said != "present runs" || stateOf(t, dir) != Returned {
		t.Errorf("said %q", said)
	}
}

// TestInstallingIsGoneOnWith after each step that it may be killed at.
func TestInstallingIsGoneOnWith(t *testing.T) {
	key := keys(t)
	for name, c := range map[string]struct {
		done func(present string) error
		says string // at a start before somebody goes on
		then State
	}{
		"former removed": {func(present string) error { return os.WriteFile(FormerOf(present), []byte("before"), 0o600) }, "works runs", Good},
		"former linked":  {func(present string) error { return os.Link(present, FormerOf(present)) }, "works runs", Good},
		"replaced": {func(present string) error {
			return errors.Join(os.Link(present, FormerOf(present)), os.Rename(Next(present), present))
		}, "works runs", Taken},
	} {
		dir, present := toBeTried(t, key, "works")
		startOf(t, present, dir)
		if err := c.done(present); err != nil {
			t.Fatal(err)
		}
		if said := startOf(t, present, dir); said != c.says || stateOf(t, dir) != c.then {
			t.Errorf("%s: said %q and is %s, want %q and %s", name, said, stateOf(t, dir), c.says, c.then)
		}
		if _, err := Finish(dir, present); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if behaviourOf(t, present) != "works" || behaviourOf(t, FormerOf(present)) != "present" || stateOf(t, dir) != Taken {
			t.Errorf("%s: the program is %s, the former %s, %s", name, behaviourOf(t, present), behaviourOf(t, FormerOf(present)), stateOf(t, dir))
		}
	}
}

// TestInstalledWhileAFormerProgramStarts, which has not read the note yet.
func TestInstalledWhileAFormerProgramStarts(t *testing.T) {
	key := keys(t)
	dir, present := toBeTried(t, key, "works")
	startOf(t, present, dir)
	hold := filepath.Join(dir, "hold")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		for len(Serving(present)) == 0 {
			time.Sleep(time.Millisecond)
		}
		if _, err := Finish(dir, present); err != nil {
			t.Error(err)
		}
		_ = os.Remove(hold) // the program waits for it
	}()
	if said := startOf(t, present, dir); said != "works runs" || stateOf(t, dir) != Taken {
		t.Errorf("said %q and is %s", said, stateOf(t, dir))
	}
}

// TestNoteActsForItsProgramsAlone: what a note of other programs, or of the former way of updating, says is not
// done.
func TestNoteActsForItsProgramsAlone(t *testing.T) {
	present := program(t, "present")
	sum, err := sumOf(present)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		note  Note
		after State
		log   string
	}{
		"tried, of others":              {Note{New: "1", Former: "2", State: Trying}, "", "not about this program"},
		"failed, of others":             {Note{New: "1", Former: "2", State: Failed, Backup: "x.backup"}, "", "not about this program"},
		"returned, of others":           {Note{New: "1", Former: "2", State: Returned}, "", "not about this program"},
		"good, of others":               {Note{New: "1", Former: "2", State: Good}, "", "not about this program"},
		"the new, put there by hand":    {Note{New: sum, Former: "2", State: Trying, Attempts: 1}, "", "not about this program"},
		"the new, put there when good":  {Note{New: sum, Former: "2", State: Good}, Taken, ""},
		"taken":                         {Note{New: sum, Former: "2", State: Taken}, Taken, ""},
		"tried, without its program":    {Note{New: "1", Former: sum, State: Trying}, Returned, "no such file"},
		"good, without its program":     {Note{New: "1", Former: sum, State: Good}, Good, "no such file"},
		"returned":                      {Note{New: "1", Former: sum, State: Returned, Why: "it hung"}, Returned, ""},
		"of the former way, on trial":   {Note{New: sum, Former: "2", State: "on trial"}, "", "not about this program"},
		"of the former way, gone back":  {Note{New: "1", Former: sum, State: "back"}, "", "not about this program"},
		"of the former way, its former": {Note{New: "1", Former: sum, State: "on trial"}, "", "not about this program"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.note.stateDir = dir
			if err := c.note.save(); err != nil {
				t.Fatal(err)
			}
			said, log := run(t, exec.CommandContext(t.Context(), present, "serve"), dir)
			if !strings.HasPrefix(said, "present runs") || strings.Contains(said, "gets back") || stateOf(t, dir) != c.after {
				t.Errorf("said %q, state %q, want %q", said, stateOf(t, dir), c.after)
			}
			if c.log == "" && log != "" || !strings.Contains(log, c.log) {
				t.Errorf("log %q, want %q", log, c.log)
			}
		})
	}
}

// TestStartsThatCannotBeCounted: no new program is tried, so that it cannot end for ever.
func TestStartsThatCannotBeCounted(t *testing.T) {
	key := keys(t)
	dir, present := toBeTried(t, key, "crashes")
	if err := os.Mkdir(filepath.Join(dir, unfinished), 0o700); err != nil {
		t.Fatal(err)
	}
	if said := startOf(t, present, dir); said != "present runs" || stateOf(t, dir) != Trying {
		t.Errorf("said %q", said)
	}
}

// TestNextProgramStartedByHandRunsTheInstalledOne, which decides.
func TestNextProgramStartedByHandRunsTheInstalledOne(t *testing.T) {
	key := keys(t)
	dir, present := toBeTried(t, key, "crashes")
	for n := 1; n <= starts; n++ {
		if said := startOf(t, Next(present), dir); said != "crashes runs" {
			t.Errorf("said %q", said)
		}
		if last, err := Last(dir); err != nil || last.Attempts != n {
			t.Errorf("%d starts are counted as %+v, %v", n, last, err)
		}
	}
	if said := startOf(t, Next(present), dir); said != "present runs" {
		t.Errorf("said %q", said)
	}
}

// TestStoppedStartsRunNoOtherProgram: a signal that came before is not lost in one.
func TestStoppedStartsRunNoOtherProgram(t *testing.T) {
	t.Parallel()
	dir, own := t.TempDir(), program(t, "present")
	sum, err := sumOf(own)
	if err == nil {
		err = os.Link(own, Next(own))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := start{dir, own, func() bool { return true }, nil}
	if err := s.runNew(&Note{New: sum}); !errors.Is(err, ErrStopped) {
		t.Error(err)
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

// TestNoteSpeaksToNoTerminal: its owner may be another user than who reads it.
func TestNoteSpeaksToNoTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	raw, err := json.Marshal(Note{Version: "v2\x1b[2J\u009b31m", Why: "a\r\nb", Backup: "../../etc/pass\x07wd", State: Returned})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, noteName), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	last, err := Last(dir)
	if err != nil || last.Version != "v2 [2J 31m" || last.Why != "a  b" || last.Backup != "pass wd" {
		t.Errorf("%+v %v", last, err)
	}
}

// TestOneUpdateAtATime: while one is being installed, another one is refused and disturbs nothing.
func TestOneUpdateAtATime(t *testing.T) {
	key := keys(t)
	dir, present, next := t.TempDir(), program(t, "present"), program(t, "works")
	sign(t, key, next)
	t.Setenv(stateVariable, dir)
	_, err := Install(dir, present, next, false, func(string) error {
		if _, err := install(t, key, dir, present, "fails"); !errors.Is(err, ErrBusy) {
			t.Errorf("meanwhile: %v", err)
		}
		if said := startOf(t, present, dir); said != "present runs" { // and leaves what is being installed
			t.Errorf("meanwhile it says %q", said)
		}
		return nil
	})
	if err != nil || behaviourOf(t, present) != "present" || behaviourOf(t, Next(present)) != "works" {
		t.Errorf("%v, %s is tried beside %s", err, behaviourOf(t, Next(present)), behaviourOf(t, present))
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
	if said := startOf(t, present, dir); said != "present runs" {
		t.Errorf("said %q", said)
	}
	if _, err := os.Stat(Next(present)); err == nil {
		t.Error("half a program is left after a start")
	}
	leave()
	if _, err := install(t, key, dir, present, "works"); err != nil {
		t.Error(err)
	}
	if said := startOf(t, present, dir); said != "works runs" {
		t.Errorf("said %q", said)
	}
}

// TestStartThatCannotBeCountedGoesBack once the new program has begun to change the database.
func TestStartThatCannotBeCountedGoesBack(t *testing.T) {
	key := keys(t)
	dir, present := toBeTried(t, key, "crashes in its migration")
	startOf(t, present, dir)
	if err := os.Mkdir(filepath.Join(dir, unfinished), 0o700); err != nil {
		t.Fatal(err)
	}
	if said := startOf(t, present, dir); !strings.HasPrefix(said, "present runs, gets back first.backup") {
		t.Errorf("said %q", said)
	}
}

// TestBackupThatWasPutBackIsMadeAnew: the former program has got it back, which could not be noted.
func TestBackupThatWasPutBackIsMadeAnew(t *testing.T) {
	key := keys(t)
	dir, present := toBeTried(t, key, "crashes in its migration")
	for _, want := range []string{"crashes in its migration runs, backs up", "crashes in its migration runs"} {
		if said := startOf(t, present, dir); said != want {
			t.Errorf("said %q, want %q", said, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "used up"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := startOf(t, present, dir); said != "crashes in its migration runs, backs up" {
		t.Errorf("said %q", said)
	}
}

// TestNoteTakesItsOwnPlace on a full disk, at any state, and leads root to no other file.
func TestNoteTakesItsOwnPlace(t *testing.T) {
	dir := t.TempDir()
	n := &Note{New: "1", Former: "2", State: Trying, stateDir: dir}
	if err := n.save(); err != nil {
		t.Fatal(err)
	}
	at, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	later := Note{New: "1", Former: "2", State: Failed, Attempts: 3, Why: strings.Repeat("w", 300), Backup: "x.backup"}
	raw, err := json.Marshal(later)
	if err != nil {
		t.Fatal(err)
	}
	raw = append(raw, strings.Repeat(" ", noteSize-len(raw))...)
	if err := overwrite(int(at.Fd()), raw); err != nil {
		t.Fatal(err)
	}
	if last, err := Last(dir); err != nil || last.State != Failed || last.Why != later.Why {
		t.Errorf("%+v %v", last, err)
	}
	if err := os.Link(filepath.Join(dir, noteName), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	if err := overwrite(int(at.Fd()), raw); err == nil {
		t.Error("it was written through a link")
	}
}

// TestGoodProgramThatDoesNotRunIsGivenUp, also when it was lost.
func TestGoodProgramThatDoesNotRunIsGivenUp(t *testing.T) {
	key := keys(t)
	for _, lost := range []bool{false, true} {
		dir, present := toBeTried(t, key, "migrates")
		startOf(t, present, dir)
		if lost {
			if err := os.Remove(Next(present)); err != nil {
				t.Fatal(err)
			}
		}
		gone := func(backup string) error { return fmt.Errorf("%s is gone", backup) }
		left := func() bool { _, err := os.Stat(Next(present)); return err == nil }
		if _, err := Cancel(dir, present, gone); err == nil || !strings.Contains(err.Error(), "first.backup is gone") || stateOf(t, dir) != Good {
			t.Errorf("without its backup: %v", err)
		}
		if _, err := Cancel(dir, present, whole); err != nil || behaviourOf(t, present) != "present" || stateOf(t, dir) != Failed {
			t.Errorf("%v %s %s", err, behaviourOf(t, present), stateOf(t, dir))
		}
		if left() == lost {
			t.Errorf("lost: %v, and it is there: %v", lost, left())
		}
		if said := startOf(t, present, dir); said != "present runs, gets back first.backup <nil>" || stateOf(t, dir) != Returned {
			t.Errorf("said %q", said)
		}
	}
}

// TestInstalledProgramIsGivenUp, also when the command that installed it was cut off before it noted that; not when one of the
// two programs has been replaced since.
func TestInstalledProgramIsGivenUp(t *testing.T) {
	key := keys(t)
	for name, installed := range map[string]func(dir, present string) error{
		"taken": func(dir, present string) error { _, err := Finish(dir, present); return err },
		"cut off": func(_, present string) error {
			return errors.Join(os.Link(present, FormerOf(present)), os.Rename(Next(present), present))
		},
	} {
		dir, present := toBeTried(t, key, "migrates")
		startOf(t, present, dir)
		if err := installed(dir, present); err != nil {
			t.Fatal(err)
		}
		state := stateOf(t, dir)
		kept := FormerOf(present) + ".kept"
		if err := errors.Join(os.Rename(FormerOf(present), kept), os.WriteFile(FormerOf(present), []byte("another"), 0o755)); err != nil {
			t.Fatal(err)
		}
		if _, err := Cancel(dir, present, whole); err == nil || behaviourOf(t, present) != "migrates" || stateOf(t, dir) != state {
			t.Errorf("%s, without its former program: %v", name, err)
		}
		if _, err := os.Stat(Next(present)); err == nil {
			t.Errorf("%s: an empty program is left", name)
		}
		if err := os.Rename(kept, FormerOf(present)); err != nil {
			t.Fatal(err)
		}
		if _, err := Cancel(dir, present, whole); err != nil || behaviourOf(t, present) != "present" || stateOf(t, dir) != Failed {
			t.Fatalf("%s: %v %s %s", name, err, behaviourOf(t, present), stateOf(t, dir))
		}
		if behaviourOf(t, Next(present)) != "migrates" {
			t.Errorf("%s: the program that was given up is gone before the former one runs", name)
		}
		if said := startOf(t, present, dir); said != "present runs, gets back first.backup <nil>" || stateOf(t, dir) != Returned {
			t.Errorf("%s: said %q", name, said)
		}
	}
}

// TestGivingUpIsGoneOnWith after a power cut between putting the former program back and the note, and what a command of
// root left unfinished is in nobody's way.
func TestGivingUpIsGoneOnWith(t *testing.T) {
	key := keys(t)
	dir, present := toBeTried(t, key, "migrates")
	startOf(t, present, dir)
	if _, err := Finish(dir, present); err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, unfinished)
	stop := errors.New("cut off")
	if _, err := Cancel(dir, present, func(string) error { return stop }); !errors.Is(err, stop) || stateOf(t, dir) != Taken {
		t.Fatal(err)
	}
	n, err := Last(dir)
	if err != nil {
		t.Fatal(err)
	}
	n.State = Good // as Cancel notes before it moves the programs
	if err := errors.Join(n.save(), os.Rename(FormerOf(present), present), os.WriteFile(cut, nil, 0o400)); err != nil {
		t.Fatal(err)
	}
	if _, err := Cancel(dir, present, whole); err != nil || stateOf(t, dir) != Failed {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if said := startOf(t, present, dir); said != "present runs, gets back first.backup <nil>" || stateOf(t, dir) != Returned {
		t.Errorf("said %q", said)
	}
	if _, err := os.Stat(cut); err == nil {
		t.Error("what was left unfinished is still there")
	}
}

// TestUpdateOverALostOneKeepsTheWayBack: the database may be changed already, and the backup from before is known to the
// note of the lost one alone.
func TestUpdateOverALostOneKeepsTheWayBack(t *testing.T) {
	key := keys(t)
	for behaviour, says := range map[string]string{"crashes": "", "waits": "given up", "crashes in its migration": ""} {
		dir, present := toBeTried(t, key, "migrates")
		startOf(t, present, dir)
		if err := os.Remove(Next(present)); err != nil {
			t.Fatal(err)
		}
		n, err := install(t, key, dir, present, behaviour)
		if err != nil || n.State != Trying || n.Backup != "first.backup" {
			t.Fatalf("%+v %v", n, err)
		}
		if says != "" {
			if _, err := Cancel(dir, present, whole); err != nil || stateOf(t, dir) != Failed {
				t.Errorf("%v %s", err, stateOf(t, dir))
			}
		} else {
			backups := 0
			for range starts {
				backups += strings.Count(startOf(t, present, dir), "backs up")
			}
			if migrates := behaviour == "crashes in its migration"; migrates != (backups == 1) {
				t.Errorf("%s: it made %d backups of its own", behaviour, backups)
			}
		}
		if said := startOf(t, present, dir); said != "present runs, gets back first.backup <nil>" || stateOf(t, dir) != Returned {
			t.Errorf("%s: said %q and is %s", behaviour, said, stateOf(t, dir))
		}
	}
}

// TestProgramThatWasReplacedByHand gives no update up, and takes none, before its start has told of the backup.
func TestProgramThatWasReplacedByHand(t *testing.T) {
	key := keys(t)
	dir, present := toBeTried(t, key, "migrates")
	startOf(t, present, dir)
	other := program(t, "other")
	if err := os.Rename(other, present); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(Next(present)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Cancel(dir, present, whole); err == nil || !strings.Contains(err.Error(), "first.backup") || stateOf(t, dir) != Good {
			t.Errorf("given up: %v", err)
		}
		if _, err := install(t, key, dir, present, "works"); err == nil || !strings.Contains(err.Error(), "first.backup") || stateOf(t, dir) != Good {
			t.Errorf("another one: %v", err)
		}
		if _, err := os.Stat(Next(present)); err == nil {
			t.Error("a refused update leaves a file")
		}
	}
	startOf(t, present, dir)
	if _, err := install(t, key, dir, present, "works"); err != nil {
		t.Errorf("after its start: %v", err)
	}
}

// TestDamagedNoteIsMovedAside by giving the update up, which the message tells.
func TestDamagedNoteIsMovedAside(t *testing.T) {
	dir, present := t.TempDir(), program(t, "present")
	note := filepath.Join(dir, noteName)
	for text, left := range map[string]func() error{
		"empty": func() error { return os.WriteFile(note, nil, 0o600) }, "junk": func() error { return os.WriteFile(note, []byte("junk"), 0o600) },
		"a state that is none": func() error { return os.WriteFile(note, []byte(`{"state":"GOOD"}`), 0o600) },
		"cut":                  func() error { return os.WriteFile(note, []byte(`{"version":`), 0o600) },
		"link":                 func() error { return os.Symlink("/etc/hostname", note) }, "directory": func() error { return os.Mkdir(note, 0o700) },
	} {
		aside, err := filepath.Glob(note + ".damaged-*")
		for _, path := range aside {
			err = errors.Join(err, os.RemoveAll(path))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := left(); err != nil {
			t.Fatal(err)
		}
		if err := Offline(dir); err == nil || !strings.Contains(err.Error(), "update -cancel") {
			t.Errorf("%q: %v", text, err)
		}
		if n, err := Cancel(dir, present, whole); n != nil || err != nil || Offline(dir) != nil {
			t.Errorf("%q: %+v %v", text, n, err)
		}
	}
}
