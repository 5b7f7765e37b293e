package recording

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand is a recorder, and what hands batches to it.
type stand struct {
	*Recorder
	t    *testing.T
	take atomic.Pointer[Take]
	free atomic.Int64

	format uint16 // of what is sent
}

// newStand returns a recorder in a bubble of synctest.
func newStand(t *testing.T, change ...func(*Options)) *stand {
	t.Helper()
	s := &stand{t: t}
	s.free.Store(1 << 40)
	o := Options{
		Directory: filepath.Join(t.TempDir(), "recordings"), MinFree: 64 << 20, Free: func(string) (int64, error) { return s.free.Load(), nil },
		Listen: func(take Take) { s.take.Store(&take) },
	}
	for _, c := range change {
		c(&o)
	}
	s.Recorder = New(o)
	return s
}

func (s *stand) start(order Order) Recording {
	s.t.Helper()
	begun, err := s.Start(order)
	if err != nil {
		s.t.Fatal(err)
	}
	return begun
}

// send hands frames of a link to the recorder that are 10 ms apart, and lets them be written.
func (s *stand) send(network motion.NetworkID, link string, frames int, b csi.Batch) {
	s.t.Helper()
	now := motion.TimeOf(time.Now())
	for i := range frames {
		data := bytes.Repeat([]byte{byte(i), 0x80}, b.Subcarriers)[:b.Subcarriers*b.Flags.Width()]
		b.Frames = append(b.Frames, csi.Frame{Offset: uint32(10_000 * i), RSSI: -40, Data: data})
	}
	if take := *s.take.Load(); take != nil {
		take(network, link, &b, s.format, now)
	}
	synctest.Wait()
}

// stop ends the recording that runs.
func (s *stand) stop() Recording {
	s.t.Helper()
	done, err := s.Stop()
	if err != nil {
		s.t.Fatal(err)
	}
	return done
}

// read returns a file of a recording as the scoring reads it.
func (s *stand) read(of Recording, file int) *capture.Capture {
	s.t.Helper()
	c, err := capture.ReadCSV(filepath.Join(s.o.Directory, of.Name, of.Files[file].Name))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

var iq = csi.Batch{Subcarriers: 4, Flags: csi.ImagFirst, Channel: 6}

func TestEachFormatOfALinkHasAFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.start(Order{Network: 1, Minutes: 1})
		wide := csi.Batch{Subcarriers: 8, Flags: csi.ImagFirst | csi.GainLocked, Channel: 6, Ends: []int{3, 8}}
		s.send(1, "a.b", 2, iq)
		s.send(1, "a.b", 3, wide)
		s.send(1, "a.b", 4, iq)
		s.send(1, "a.b", 2, csi.Batch{Subcarriers: 4, Channel: 6}) // the same in files, which have one order
		s.send(1, "../c/d", 1, csi.Batch{Subcarriers: 4, Flags: csi.Amplitude, Channel: 6})
		s.send(2, "a.b", 9, iq) // of another network
		s.format = 3 // of the device
		s.send(1, "a.b", 1, iq)
		done := s.stop()
		var is []string
		for i, f := range done.Files {
			c := s.read(done, i)
			is = append(is, f.Name+" "+c.Header.Kind)
			if f.Frames != len(c.Frames) || c.Header.Bins != f.Bins {
				t.Errorf("%+v: %d frames of %d bins are read", f, len(c.Frames), c.Header.Bins)
			}
		}
		want := []string{"01_a.b_4.csv.gz iq_int8_imag_first", "02_a.b_8.csv.gz iq_int8_imag_first", "03_..-c-d_4.csv.gz amp_uint8", "04_a.b_4.csv.gz iq_int8_imag_first"}
		if !slices.Equal(is, want) || done.Frames != 13 || done.Dropped != 0 || done.Why != EndedByHand {
			t.Errorf("%q of %+v", is, done)
		}
		narrow, two := s.read(done, 0), s.read(done, 1)
		if last := narrow.Frames[len(narrow.Frames)-1].Data; !bytes.Equal(last, bytes.Repeat([]byte{0x80, 1}, 4)) {
			t.Errorf("a pair with the real part first is % x", last)
		}
		if h := two.Header; !h.GainLocked || len(h.Segments) != 2 || h.Segments[1] != [2]int{3, 8} {
			t.Errorf("header %+v", h)
		}
	})
}

func TestOnlyChosenLinksAreRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.start(Order{Network: 1, Links: []string{"b"}, Minutes: 1})
		s.send(1, "a", 2, iq)
		s.send(1, "b", 3, iq)
		if done := s.stop(); len(done.Files) != 1 || done.Files[0].Link != "b" || done.Frames != 3 {
			t.Errorf("%+v", done)
		}
	})
}

func TestFramesSettleAfterALabel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.start(Order{Network: 1, Minutes: 1, Label: Empty})
		seen := ""
		for second := range 12 {
			if second == 5 {
				if err := s.Label(Moving); err != nil {
					t.Fatal(err)
				}
			}
			if second == 10 {
				if err := s.Label(Unlabelled); err != nil {
					t.Fatal(err)
				}
			}
			s.send(1, "a", 1, iq)
			time.Sleep(time.Second)
		}
		if fault.KindOf(s.Label("walking")) != fault.Invalid {
			t.Error("any label is taken")
		}
		for _, f := range s.read(s.stop(), 0).Frames {
			seen += string('0' + rune(f.Label))
		}
		if seen != "999009992299" {
			t.Errorf("labels %s", seen)
		}
		if fault.KindOf(s.Label(Moving)) != fault.NotFound {
			t.Error("a label is taken when nothing runs")
		}
	})
}

// TestFullQueueDropsAndCounts: nobody waits for the disk.
func TestFullQueueDropsAndCounts(t *testing.T) {
	t.Parallel()
	r := New(Options{Directory: t.TempDir(), Listen: func(Take) {}})
	s := newSession(r, Recording{Network: 1}, Order{Network: 1}, MostBytes)
	b := csi.Batch{Subcarriers: 2048, Flags: csi.ImagFirst}
	for range 100 {
		b.Frames = append(b.Frames, csi.Frame{Data: make([]byte, 4096)})
	}
	for range 20 {
		s.take(1, "a", &b, 0, 0)
	}
	if n := len(s.queue); n != 10 || s.now().Dropped != 1000 {
		t.Errorf("%d batches of 410 KB wait, %d frames dropped", n, s.now().Dropped)
	}
}

func TestRecordingEndsAtItsLimits(t *testing.T) {
	t.Parallel()
	for why, c := range map[string]struct {
		change func(*Options)
		do     func(s *stand)
	}{
		EndedByTime: {func(*Options) {}, func(s *stand) { time.Sleep(2 * time.Minute) }},
		EndedBySize: {func(o *Options) { o.Most = 10 }, func(s *stand) { time.Sleep(flushEvery + 1) }},
		EndedByDisk: {func(*Options) {}, func(s *stand) {
			s.free.Store(70 << 20) // the database is still writable
			time.Sleep(flushEvery + 1)
		}},
		EndedFailed: {func(*Options) {}, func(s *stand) {
			for _, one := range s.running.streams {
				_ = one.file.Close()
			}
			time.Sleep(flushEvery + 1)
		}},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, c.change)
				s.start(Order{Network: 1, Minutes: 1})
				s.send(1, "a", 3, iq)
				if _, err := s.Start(Order{Network: 1, Minutes: 1}); fault.KindOf(err) != fault.Conflict {
					t.Errorf("a second one: %v", err)
				}
				c.do(s)
				synctest.Wait()
				list, err := s.List()
				if err != nil || len(list) != 1 || list[0].Why != why || list[0].Ended == 0 {
					t.Fatalf("%+v %v", list, err)
				}
				if why != EndedFailed && len(s.read(list[0], 0).Frames) != 3 {
					t.Error("frames are missing")
				}
				if _, _, runs := s.Running(); runs || *s.take.Load() != nil {
					t.Error("it still listens")
				}
			})
		})
	}
}

func TestStopOfTheApplianceCompletesARecording(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		s.start(Order{Network: 1, Minutes: 1})
		s.send(1, "a", 3, iq)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if list, err := s.List(); err != nil || len(list) != 1 || list[0].Why != EndedByBox || list[0].Frames != 3 {
			t.Errorf("%+v %v", list, err)
		}
		if _, err := s.Start(Order{Network: 1, Minutes: 1}); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("one begins after the stop: %v", err)
		}
	})
}

// TestRoomIsLookedAtFirst, on the disk and in the directory.
func TestRoomIsLookedAtFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		refused := func(what string) {
			t.Helper()
			_, err := s.Start(Order{Network: 1, Minutes: 1})
			if f := (*fault.Error)(nil); !errors.As(err, &f) || f.Code != "no_room" {
				t.Errorf("%s: %v", what, err)
			}
		}
		s.free.Store(64 << 20)
		refused("a full disk")
		s.free.Store(1 << 40)
		full := filepath.Join(s.o.Directory, "old")
		if err := os.Mkdir(full, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := writeAbout(full, Recording{Bytes: MostAll}); err != nil {
			t.Fatal(err)
		}
		refused("a full directory")
		if err := s.Delete("old"); err != nil {
			t.Fatal(err)
		}
		begun := s.start(Order{Network: 1, Minutes: 1})
		for _, path := range []string{s.o.Directory, filepath.Join(s.o.Directory, begun.Name+part)} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v %v", path, info.Mode(), err)
			}
		}
		s.send(1, "a", 1, iq)
		done := s.stop()
		if info, err := os.Stat(filepath.Join(s.o.Directory, done.Name, done.Files[0].Name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
		for _, name := range []string{"", ".", "..", "../" + filepath.Base(s.o.Directory), done.Name + "/.."} {
			if err := s.Delete(name); fault.KindOf(err) != fault.NotFound {
				t.Errorf("delete %q: %v", name, err)
			}
		}
		for _, name := range []string{aboutName, "../" + done.Name + "/" + done.Files[0].Name, ""} {
			if _, err := s.Open(done.Name, name); fault.KindOf(err) != fault.NotFound {
				t.Errorf("open %q: %v", name, err)
			}
		}
		for _, minutes := range []int{0, -1, MostMinutes + 1} {
			if _, err := s.Start(Order{Network: 1, Minutes: minutes}); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%d minutes: %v", minutes, err)
			}
		}
	})
}

// TestPowerCutLosesTheLastSecondsAlone: whatever it has left of a file, the next start keeps the frames
// of the members that are whole.
func TestPowerCutLosesTheLastSecondsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		begun := s.start(Order{Network: 1, Home: 7, Minutes: 1})
		directory := filepath.Join(s.o.Directory, begun.Name+part)
		var ends []int
		file := ""
		for range 3 {
			s.send(1, "a", 20, iq)
			time.Sleep(flushEvery)
			synctest.Wait()
			now, _, _ := s.Running()
			file = now.Files[0].Name
			info, err := os.Stat(filepath.Join(directory, file))
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, int(info.Size()))
		}
		written, err := os.ReadFile(filepath.Join(directory, file))
		about, also := os.ReadFile(filepath.Join(directory, aboutName))
		if err := errors.Join(err, also); err != nil {
			t.Fatal(err)
		}
		s.stop()
		for size := range len(written) + 1 {
			whole := 0
			for _, end := range ends {
				if size >= end {
					whole += 20
				}
			}
			again := newStand(t)
			cut := filepath.Join(again.o.Directory, "cut"+part)
			err := errors.Join(os.MkdirAll(cut, 0o700), os.WriteFile(filepath.Join(cut, file), written[:size], 0o600), os.WriteFile(filepath.Join(cut, aboutName), about, 0o600), again.salvage())
			list, also := again.List()
			if err := errors.Join(err, also); err != nil {
				t.Fatal(err)
			}
			if whole == 0 {
				if left, err := os.ReadDir(again.o.Directory); err != nil || len(left) != 0 {
					t.Fatalf("after %d bytes %v are left: %v", size, left, err)
				}
				continue
			}
			if len(list) != 1 || list[0].Frames != whole || list[0].Why != EndedByCut || list[0].Home != 7 || list[0].Files[0].Link != "a" || list[0].Files[0].Bins != 4 || list[0].Ended == 0 {
				t.Fatalf("after %d bytes: %+v", size, list)
			}
			if n := len(again.read(list[0], 0).Frames); n != whole {
				t.Fatalf("after %d bytes %d frames are read, want %d", size, n, whole)
			}
		}
	})
}

// TestUnreadableLeftoversDoNotKeepTheRestFromCompletion: of one file nothing is left.
func TestUnreadableLeftoversDoNotKeepTheRestFromCompletion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		begun := s.start(Order{Network: 1, Minutes: 1})
		s.send(1, "a", 5, iq)
		done := s.stop()
		directory := filepath.Join(s.o.Directory, begun.Name)
		err := errors.Join(os.Rename(directory, directory+part), os.WriteFile(filepath.Join(directory+part, "02_b_4.csv.gz"), []byte("noise"), 0o600), s.salvage())
		list, also := s.List()
		if err := errors.Join(err, also); err != nil || len(list) != 1 || list[0].Frames != 5 || len(list[0].Files) != 1 || list[0].Why != done.Why || list[0].Ended != done.Ended {
			t.Errorf("%+v %v", list, err)
		}
	})
}

// TestNamesOfRecordingsDiffer: also of two that begin in the same second.
func TestNamesOfRecordingsDiffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t)
		var names []string
		for range 3 {
			names = append(names, s.start(Order{Network: 3, Minutes: 1}).Name)
			s.stop()
		}
		if names[1] != names[0]+"-2" || names[2] != names[0]+"-3" || !strings.HasSuffix(names[0], "-3") {
			t.Errorf("%q", names)
		}
	})
}
