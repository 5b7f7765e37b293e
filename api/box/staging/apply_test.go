package staging

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// twoStands returns a stand of a41f on which a backup of b52f is staged.
func twoStands(t *testing.T) *stand {
	t.Helper()
	s, source := newStand(t, "a41f"), newStand(t, "b52f")
	s.stage(source.backup(""))
	return s
}

// aside returns the databases that were replaced.
func (s *stand) aside() []string {
	s.t.Helper()
	paths, err := filepath.Glob(s.database() + ".replaced-*")
	if err != nil {
		s.t.Fatal(err)
	}
	return paths
}

func TestAppliedBackupIsTheDatabaseAfterTheStart(t *testing.T) {
	t.Parallel()
	s := twoStands(t)
	s.apply()
	if s.restarts != 1 || s.guardian() != "a41f" {
		t.Errorf("%d restarts were asked for, the database is that of %s", s.restarts, s.guardian())
	}
	s.startAgain()
	last := s.outcome()
	if s.guardian() != "b52f" || !last.OK || last.By != jo || last.Contents.Networks != 1 || last.Uploaded.IsZero() {
		t.Errorf("the database is that of %s, outcome %+v", s.guardian(), last)
	}
	if aside := s.aside(); len(aside) != 1 || filepath.Base(aside[0]) != last.Aside {
		t.Errorf("%v are kept, said %s", aside, last.Aside)
	}
	if staged, err := s.Staged(); err != nil || staged != nil || !slices.Equal(s.files(), []string{lastName}) {
		t.Errorf("left %+v, %v, files %v", staged, err, s.files())
	}
	s.startAgain()
	if again := s.outcome(); again.ID != last.ID || len(s.aside()) != 1 {
		t.Errorf("restored again: %+v, %v are kept", again, s.aside())
	}
}

// TestTwoStartsAtOnceRestoreOnce: one of them carries the order out, and the other finds it done.
func TestTwoStartsAtOnceRestoreOnce(t *testing.T) {
	t.Parallel()
	s := twoStands(t)
	s.apply()
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	var starts errgroup.Group
	for range 4 {
		starts.Go(func() error { return Place(context.Background(), Directory(s.dir), s.options()) })
	}
	err := starts.Wait()
	s.open()
	if last := s.outcome(); err != nil || !last.OK || s.guardian() != "b52f" || len(s.aside()) != 1 {
		t.Errorf("%v, the database is that of %s, outcome %+v, %v are kept", err, s.guardian(), last, s.aside())
	}
}

// TestTheLastTwoReplacedDatabasesStay: nobody without a terminal could remove them.
func TestTheLastTwoReplacedDatabasesStay(t *testing.T) {
	t.Parallel()
	s := twoStands(t)
	source := newStand(t, "c63f")
	for range 4 {
		s.stage(source.backup(""))
		s.apply()
		s.now = s.now.Add(time.Minute)
		s.startAgain()
		if last := s.outcome(); !last.OK {
			t.Fatal(last.Text)
		}
	}
	kept := s.aside()
	if last := s.outcome(); len(kept) != 2 || filepath.Base(kept[1]) != last.Aside {
		t.Errorf("%v are kept, the last one is %s", kept, last.Aside)
	}
	s.stage(source.backup(""))
	s.apply()
	s.now = s.now.AddDate(-1, 0, 0) // the clock was wrong before
	s.startAgain()
	kept = s.aside()
	if last := s.outcome(); !last.OK || len(kept) != 2 || filepath.Base(kept[0]) != last.Aside {
		t.Errorf("by an earlier clock %v are kept, the last one is %s", kept, last.Aside)
	}
}

func TestOutcomeIsToldOnce(t *testing.T) {
	t.Parallel()
	s := twoStands(t)
	told := 0
	tell := func(o Outcome) error { told++; return nil }
	if err := s.Tell(tell); err != nil || told != 0 {
		t.Errorf("%d told before anything was restored, %v", told, err)
	}
	s.apply()
	s.startAgain()
	failed := errors.New("disk full")
	if err := s.Tell(func(Outcome) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("error %v, want %v", err, failed)
	}
	for range 2 {
		if err := s.Tell(tell); err != nil || told != 1 {
			t.Errorf("%d told, %v", told, err)
		}
	}
}

func TestApplyIsRefusedWhereItCannotBeDone(t *testing.T) {
	t.Parallel()
	s := newStand(t, "a41f")
	want := func(what, code string, err error) {
		t.Helper()
		if fault.KindOf(err) != fault.Conflict || codeOf(err) != code {
			t.Errorf("%s: %v, want the conflict %s", what, err, code)
		}
	}
	want("nothing is staged", "nothing_staged", s.Apply(jo, 0))
	data := s.backup("")
	first := s.stage(data)
	s.now = s.now.Add(minute)
	second := s.stage(data)
	want("another one was staged meanwhile", "another_staged", s.Apply(jo, first.UploadedAt))
	s.Restartable(nil, nil)
	want("nobody would start it anew", "not_restartable", s.Apply(jo, 0))
	s.Restartable(func() error { return s.starts }, func() { s.restarts++ })
	s.starts = errors.New("config.yaml:7: log.level: want debug")
	want("it would not start", "not_restartable", s.Apply(jo, 0))
	s.starts = nil
	if err := s.Apply(jo, second.UploadedAt); err != nil || s.restarts != 1 {
		t.Errorf("%v, %d restarts", err, s.restarts)
	}
	want("a second order", "restoring", s.Apply(jo, 0))
	want("dropping what is ordered", "restoring", s.Drop())
	_, err := s.Stage(t.Context(), Upload{Body: strings.NewReader("")})
	want("an upload after the order", "restoring", err)
}

func TestStartGoesOnWhereAPowerCutEndedTheRestore(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(s *stand, ordered order){
		"before it was begun": func(s *stand, o order) { s.rewrite(orderName, o) },
		"when it was begun": func(s *stand, o order) {
			o.Attempts = 1
			s.rewrite(orderName, o)
		},
		"when the former database had its second name": func(s *stand, o order) {
			o.Aside = "sensegate.db.replaced-20261125T101112Z"
			s.rewrite(orderName, o)
			if err := os.Link(s.database(), filepath.Join(s.dir, o.Aside)); err != nil {
				s.t.Fatal(err)
			}
		},
		"when it was in its place, as often as that": func(s *stand, o order) {
			o.Attempts = mostAttempts
			s.rewrite(orderName, o)
			if err := os.Rename(filepath.Join(Directory(s.dir), o.file()), s.database()); err != nil {
				s.t.Fatal(err)
			}
		},
		"when the outcome was noted": func(s *stand, o order) {
			if err := Place(s.t.Context(), Directory(s.dir), s.options()); err != nil {
				s.t.Fatal(err)
			}
			s.rewrite(orderName, o)
			s.rewrite(stagedName, o.record)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := twoStands(t)
			s.apply()
			ordered, err := read[order](Directory(s.dir), orderName)
			if err := errors.Join(err, s.db.Close()); err != nil {
				t.Fatal(err)
			}
			cut(s, *ordered)
			if err := Place(t.Context(), Directory(s.dir), s.options()); err != nil {
				t.Error(err)
			}
			s.open()
			if len(s.aside()) > 1 {
				t.Errorf("%v are kept", s.aside())
			}
			if last := s.outcome(); s.guardian() != "b52f" || !last.OK || last.ID != ordered.Order {
				t.Errorf("the database is that of %s, outcome %+v", s.guardian(), last)
			}
			if !slices.Equal(s.files(), []string{lastName}) {
				t.Errorf("%v are left", s.files())
			}
		})
	}
}

// rewrite writes a file of the directory.
func (s *stand) rewrite(name string, value any) {
	s.t.Helper()
	if err := write(Directory(s.dir), name, value); err != nil {
		s.t.Fatal(err)
	}
}

func TestRestoreThatFailsLeavesTheFormerDatabaseAndIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil  func(s *stand, o order)
		says   string
		staged bool // it stays so
	}{
		"the file has changed": {func(s *stand, o order) {
			if err := os.WriteFile(filepath.Join(Directory(s.dir), o.file()), []byte("another"), 0o600); err != nil {
				s.t.Fatal(err)
			}
		}, "has changed on the disk", false},
		"the file is gone": {func(s *stand, o order) {
			if err := os.Remove(filepath.Join(Directory(s.dir), o.file())); err != nil {
				s.t.Fatal(err)
			}
		}, "is gone", false},
		"the process ended each time": {func(s *stand, o order) {
			o.Attempts = mostAttempts
			s.rewrite(orderName, o)
		}, "begun 3 times", true},
		"the file is no database any more": {func(s *stand, o order) {
			path := filepath.Join(Directory(s.dir), o.file())
			err := os.WriteFile(path, []byte("another"), 0o600)
			sum, sumErr := digest(s.t.Context(), path)
			if err := errors.Join(err, sumErr); err != nil {
				s.t.Fatal(err)
			}
			o.SHA256 = sum
			s.rewrite(orderName, o)
		}, "nothing was replaced", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := twoStands(t)
			s.apply()
			ordered, err := read[order](Directory(s.dir), orderName)
			if err != nil {
				t.Fatal(err)
			}
			c.spoil(s, *ordered)
			s.startAgain()
			last := s.outcome()
			if s.guardian() != "a41f" || last.OK || !strings.Contains(last.Text, c.says) || len(s.aside()) > 0 {
				t.Errorf("the database is that of %s, outcome %+v, %v are kept", s.guardian(), last, s.aside())
			}
			if staged, err := s.Staged(); err != nil || (staged != nil) != c.staged {
				t.Errorf("staged %+v, %v", staged, err)
			}
			s.now = s.now.Add(minute)
			s.startAgain()
			if again := s.outcome(); again.At != last.At {
				t.Errorf("it was tried again: %+v", again)
			}
		})
	}
}

func TestStartThatCannotGoOnKeepsTheOrder(t *testing.T) {
	t.Parallel()
	s := twoStands(t)
	s.apply()
	for range mostAttempts + 1 {
		if err := Place(t.Context(), Directory(s.dir), s.options()); !errors.Is(err, store.ErrLocked) {
			t.Errorf("error %v, want %v: the database is in use", err, store.ErrLocked)
		}
	}
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range mostAttempts + 1 {
		if err := Place(ended, Directory(s.dir), s.options()); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	}
	if err := Place(t.Context(), Directory(s.dir), s.options()); err != nil {
		t.Error(err)
	}
	s.open()
	if s.guardian() != "b52f" {
		t.Errorf("the database is that of %s", s.guardian())
	}
}

func TestUnreadableOrderIsNone(t *testing.T) {
	t.Parallel()
	s := twoStands(t)
	if err := os.WriteFile(filepath.Join(Directory(s.dir), orderName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.startAgain()
	if s.guardian() != "a41f" || slices.Contains(s.files(), orderName) {
		t.Errorf("the database is that of %s, files %v", s.guardian(), s.files())
	}
}

// A pipe in place of the directory refuses the start with its name; nobody waits for who writes to it.
func TestPipeInPlaceOfTheDirectoryKeepsNoStartWaiting(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "restore")
	if err := syscall.Mkfifo(directory, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- Place(t.Context(), directory, store.Options{}) }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), directory) {
			t.Errorf("error %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits")
	}
}

func TestOrderIsWithdrawnWhenAnotherBackupWasRestored(t *testing.T) {
	t.Parallel()
	s := twoStands(t)
	withdraw := func() error { return Withdraw(Directory(s.dir), "another one was restored", motion.TimeOf(s.now)) }
	if err := withdraw(); err != nil {
		t.Errorf("without an order: %v", err)
	}
	s.apply()
	if err := withdraw(); err != nil {
		t.Error(err)
	}
	s.startAgain()
	if last := s.outcome(); s.guardian() != "a41f" || last.OK || last.Text != "another one was restored" {
		t.Errorf("the database is that of %s, outcome %+v", s.guardian(), last)
	}
}
