package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
	"sensegate/store"
	"sensegate/store/storetest"
)

// base is the start of a block of an hour.
const base = int64(1764000000)

// sampling is a database with its samples and a clock of its own.
type sampling struct {
	t       testing.TB
	path    string
	db      *store.DB
	samples *store.Samples
	keep    store.Retention
	now     time.Time
	network motion.NetworkID
}

func newSampling(t testing.TB) *sampling {
	t.Helper()
	s := &sampling{t: t, path: filepath.Join(t.TempDir(), "sensegate.db"), now: time.Unix(base, 0)}
	s.open()
	s.network = newNetwork(t, s.db, "g")
	t.Cleanup(func() { storetest.Close(t, s.db) })
	return s
}

func (s *sampling) open() {
	s.t.Helper()
	db, err := store.Open(store.Options{Path: s.path, Retention: s.keep, Now: func() time.Time { return s.now }})
	if err != nil {
		s.t.Fatal(err)
	}
	samples, err := store.OpenSamples(context.Background(), db)
	if err != nil {
		s.t.Fatal(err)
	}
	s.db, s.samples = db, samples
}

// restart closes the database and opens it again: memory is lost.
func (s *sampling) restart() {
	s.t.Helper()
	storetest.Close(s.t, s.db)
	s.open()
}

// flush writes what is in memory at a second after base.
func (s *sampling) flush(second int64) {
	s.t.Helper()
	s.now = time.Unix(base+second, 0)
	update(s.t, s.db, s.samples.Flush)
}

// add takes a frame of the network's intensity at a second after base.
func (s *sampling) add(second int64, value float64) {
	s.samples.Add(s.network, motion.Time(base+second), []store.Value{{ID: series.Link("a"), Value: 1 - value}, {ID: series.Network, Value: value}})
}

// rows returns the network's intensity in [from, to) after base.
func (s *sampling) rows(from, to, bucket int64) string {
	s.t.Helper()
	return s.of(s.network, from, to, bucket)
}

// of returns what the whole set of a network says, and a set of the series that is asked for alone.
func (s *sampling) of(network motion.NetworkID, from, to, bucket int64) string {
	s.t.Helper()
	whole := s.in(network, from, to, bucket)
	s.want("of the one series alone", s.in(network, from, to, bucket, series.Network), whole)
	return whole
}

func (s *sampling) in(network motion.NetworkID, from, to, bucket int64, only ...series.ID) string {
	s.t.Helper()
	set, err := s.samples.Set(context.Background(), network, base+from, base+to, 1, only...)
	if err != nil {
		s.t.Fatal(err)
	}
	if n := len(set.Series()); len(only) > 0 && n > len(only) {
		s.t.Errorf("a set of %v holds %d series", only, n)
	}
	points, err := set.Points(series.Query{Series: series.Network, Measure: series.Intensity, From: base + from, To: base + to, Bucket: bucket})
	if err != nil {
		s.t.Fatal(err)
	}
	text := ""
	for i := range points.Len() {
		if v, _, ok := points.At(i); ok {
			text += fmt.Sprint(v) + " "
		} else {
			text += "- "
		}
	}
	return text
}

func (s *sampling) want(what, got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestFlushedSamplesSurviveARestart(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	s.add(0, 0.1)
	s.add(1, 0.2)
	s.flush(2)
	s.add(2, 0.3)
	s.want("before", s.rows(0, 4, 1), "0.1 0.2 0.3 - ")
	s.restart()
	s.want("after", s.rows(0, 4, 1), "0.1 0.2 - - ")
	s.add(3, 0.4)
	s.flush(4)
	s.restart()
	s.want("after the second flush", s.rows(0, 4, 1), "0.1 0.2 - 0.4 ")
}

func TestBlockIsSealedTenSecondsAfterItsEnd(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	s.add(0, 0.1)
	s.add(599, 0.2)
	s.flush(600)
	s.add(598, 0.3) // late, but in time
	s.add(600, 0.4)
	s.flush(610)
	s.want("sealed", s.rows(598, 602, 1), "0.3 0.2 0.4 - ")
	s.restart()
	s.want("sealed and journal", s.rows(598, 602, 1), "0.3 0.2 0.4 - ")
	s.flush(1300)
	s.restart()
	s.want("both sealed", s.rows(598, 602, 1), "0.3 0.2 0.4 - ")
}

func TestLateRowsJoinTheSealedBlock(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	s.add(0, 0.1)
	s.flush(700)
	s.add(0, 0.9)
	s.add(1, 0.5)
	s.want("while open: what was sealed stays", s.rows(0, 2, 1), "0.1 0.5 ")
	s.flush(760)
	s.want("sealed again", s.rows(0, 2, 1), "0.1 0.5 ")
	s.restart()
	s.want("after a restart", s.rows(0, 2, 1), "0.1 0.5 ")
}

// TestLateRowsOfAnotherSeriesAreNoDamage asks for a series that neither a sealed block nor its late
// rows have.
func TestLateRowsOfAnotherSeriesAreNoDamage(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	s.add(0, 0.4)
	s.flush(700)
	s.add(5, 0.6)
	set, err := s.samples.Set(context.Background(), s.network, base, base+600, 1, series.Link("b"))
	if err != nil || len(set.Series()) != 0 {
		t.Errorf("series %v, %v", set.Series(), err)
	}
}

func TestHistoryDoesNotReplaceSeconds(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	for second := range int64(5) {
		s.add(second, 0.1)
	}
	for i, v := range []float64{0.8, 0.7} {
		s.samples.Fill(s.network, motion.Time(base+int64(5*i)), []store.Value{{ID: series.Network, Value: v}})
	}
	s.samples.Fill(s.network, motion.Time(base+5), []store.Value{{ID: series.Network, Value: 0.2}})
	s.want("in memory", s.rows(0, 10, 5), "0.1 0.7 ")
	s.flush(4000)
	s.samples.Fill(s.network, motion.Time(base+5), []store.Value{{ID: series.Network, Value: 0.3}})
	s.want("sealed", s.rows(0, 10, 5), "0.1 0.7 ")
	s.flush(4060)
	s.restart()
	s.want("sealed twice", s.rows(0, 10, 5), "0.1 0.7 ")
}

func TestNetworksAreKeptApart(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	other := newNetwork(t, s.db, "h")
	third := newNetwork(t, s.db, "i")
	for _, second := range []int64{0, 600, 6000} {
		s.add(second, 0.1)
		s.samples.Add(other, motion.Time(base+second+1), []store.Value{{ID: series.Network, Value: 0.2}})
	}
	s.flush(10000)
	s.samples.Add(third, motion.Time(base+20000), []store.Value{{ID: series.Network, Value: 0.3}})
	s.flush(30000)
	s.want("first", s.rows(0, 20400, 600), "0.1 0.1"+dashes(8)+" 0.1"+dashes(23)+" ")
	s.want("second", s.of(other, 0, 20400, 600), "0.2 0.2"+dashes(8)+" 0.2"+dashes(23)+" ")
	s.want("third", s.of(third, 19200, 20400, 600), "- 0.3 ")
	s.want("nobody", s.of(third+1, 0, 1200, 600), "- - ")
	update(t, s.db, func(tx *store.Tx) error { return tx.DeleteNetwork(other) })
	s.restart() // before the samples that share values with others are deleted: it is not forgotten
	if err := s.db.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want("deleted", s.of(other, 0, 20400, 600), "-"+dashes(33)+" ")
	s.want("its neighbour", s.rows(0, 600, 600), "0.1 ")
}

func dashes(n int) string {
	text := ""
	for range n {
		text += " -"
	}
	return text
}

func TestQueryFromTheBeginningOfTimeIsQuick(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	s.samples.Add(s.network, 100, []store.Value{{ID: series.Network, Value: 0.5}}) // a clock that was not set yet
	s.add(0, 0.1)
	s.flush(700)
	set, err := s.samples.Set(context.Background(), s.network, -1000, 1<<40, 1)
	if err != nil || len(set.Series()) != 2 {
		t.Fatalf("series %v, %v", set.Series(), err)
	}
	points, err := set.Points(series.Query{Series: series.Network, Measure: series.Intensity, From: 0, To: base + 600, Bucket: base + 600})
	if v, _, ok := points.At(0); err != nil || !ok || v != 0.5 {
		t.Errorf("point %v %v, %v", v, ok, err)
	}
}

func TestImpossibleTimesAreLeftOut(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	for _, at := range []motion.Time{-1, 1 << 32, 1e18} {
		s.samples.Add(s.network, at, []store.Value{{ID: series.Network, Value: 0.5}})
		s.samples.Fill(s.network, at, []store.Value{{ID: series.Network, Value: 0.5}})
	}
	s.flush(0)
	set, err := s.samples.Set(context.Background(), s.network, -1<<40, 1<<40, 1)
	if err != nil || len(set.Series()) != 0 {
		t.Errorf("series %v, %v", set.Series(), err)
	}
}

func TestFailedFlushIsRepeated(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	s.add(0, 0.1)
	failure := errors.New("no commit today")
	for _, second := range []int64{1, 700} { // of a journal entry, and of a seal
		s.now = time.Unix(base+second, 0)
		err := s.db.Update(context.Background(), func(tx *store.Tx) error {
			if err := s.samples.Flush(tx); err != nil {
				return err
			}
			return failure
		})
		if !errors.Is(err, failure) {
			t.Fatal(err)
		}
	}
	s.want("in memory", s.rows(0, 1, 1), "0.1 ")
	s.flush(760)
	s.restart()
	s.want("after a flush that succeeded", s.rows(0, 1, 1), "0.1 ")
}

func TestFramesOfAFlushThatIsUnderWayAreKept(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	s.add(0, 0.1)
	s.now = time.Unix(base+700, 0)
	update(t, s.db, func(tx *store.Tx) error {
		err := s.samples.Flush(tx)
		s.add(1, 0.2) // comes before the commit
		return err
	})
	s.want("in memory", s.rows(0, 2, 1), "0.1 0.2 ")
	s.flush(760)
	s.restart()
	s.want("after a restart", s.rows(0, 2, 1), "0.1 0.2 ")
}

func TestEmptyFlushWritesNothing(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	s.add(0, 0.1)
	s.flush(1)
	before := fileBytes(t, s.path)
	s.flush(2)
	s.flush(3)
	if after := fileBytes(t, s.path); string(after) != string(before) {
		t.Error("a flush without news changed the file")
	}
}

func fileBytes(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSamplesMayBeUsedConcurrently(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	s.now = time.Unix(base+5000, 0)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for i := range int64(300) {
				s.add(i*7, 0.5)
			}
		})
		all.Go(func() {
			for range 20 {
				if err := s.db.Update(context.Background(), s.samples.Flush); err != nil {
					t.Error(err)
				}
				if _, err := s.samples.Set(context.Background(), s.network, base, base+2100, 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	s.flush(5000)
	s.restart()
	set, err := s.samples.Set(context.Background(), s.network, base, base+2100, 1)
	if err != nil {
		t.Fatal(err)
	}
	points, err := set.Points(series.Query{Series: series.Network, Measure: series.Intensity, From: base, To: base + 2100, Bucket: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range points.Len() {
		if _, ts, ok := points.At(i); ok != ((ts-base)%7 == 0) {
			t.Fatalf("second %d: present %v", ts-base, ok)
		}
	}
}

// Whatever the order of frames, flushes and restarts, a second that was flushed
// has the value of its first frames, and nothing appears that was not added.
func TestSamplesAreWhatWasAdded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newSampling(t)
		held, disk := map[int64]float64{}, map[int64]float64{}
		clock := int64(0)
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "step") {
			case 0, 1:
				second := rapid.Int64Range(0, 1800).Draw(rt, "second")
				if _, taken := held[second]; taken {
					continue
				}
				v := float64(rapid.IntRange(0, 1000).Draw(rt, "value")) / 1000
				s.add(second, v)
				held[second] = v
			case 2, 3:
				clock += rapid.Int64Range(0, 900).Draw(rt, "later")
				s.flush(clock)
				for k, v := range held {
					disk[k] = v
				}
			default:
				s.restart()
				clear(held)
				for k, v := range disk {
					held[k] = v
				}
			}
		}
		want := ""
		for second := range int64(1801) {
			if v, ok := held[second]; ok {
				want += fmt.Sprint(seriestest.Kept(v)) + " "
			} else {
				want += "- "
			}
		}
		if got := s.rows(0, 1801, 1); got != want {
			rt.Fatalf("rows\n%s\nwant\n%s", got, want)
		}
	})
}

func TestForgottenNetworkLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	other := newNetwork(t, s.db, "h")
	s.add(0, 0.1)
	s.samples.Add(other, motion.Time(base), []store.Value{{ID: series.Network, Value: 0.2}})
	s.flush(1)
	update(t, s.db, func(tx *store.Tx) error { return tx.DeleteNetwork(s.network) })
	s.samples.Forget(s.network)
	s.want("in memory", s.rows(0, 1, 1), "- ")
	s.add(2, 0.3) // a frame that was on its way
	s.flush(700)
	s.want("after a late frame", s.rows(0, 3, 1), "- - - ")
	s.restart()
	s.want("after a restart", s.rows(0, 3, 1), "- - - ")
	s.want("its neighbour", s.of(other, 0, 1, 1), "0.2 ")
}

func TestDeletedNetworkLeavesTheJournal(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	other := newNetwork(t, s.db, "h")
	for second := range int64(3) {
		s.add(second, 0.1)
		s.samples.Add(other, motion.Time(base+second), []store.Value{{ID: series.Network, Value: 0.2}})
		s.flush(second + 1)
	}
	for i, entries := range []int{3, 0} {
		network := []motion.NetworkID{s.network, other}[i]
		update(t, s.db, func(tx *store.Tx) error { return tx.DeleteNetwork(network) })
		s.restart()
		s.want("deleted", s.of(network, 0, 3, 1), "- - - ")
		if got, err := store.JournalEntries(s.db); got != entries || err != nil {
			t.Errorf("%d entries are left in the journal, %v, want %d", got, err, entries)
		}
		if i == 0 {
			s.want("its neighbour", s.of(other, 0, 3, 1), "0.2 0.2 0.2 ")
		}
	}
}

func TestDamagedJournalCostsNoMoreThanItself(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	for second := range int64(3) {
		s.add(second, 0.1)
		s.flush(second + 1)
	}
	if err := store.DamageJournal(s.db, 1); err != nil {
		t.Fatal(err)
	}
	samples, err := store.OpenSamples(context.Background(), s.db)
	if !errors.Is(err, series.ErrDamaged) {
		t.Errorf("error %v, want ErrDamaged", err)
	}
	s.samples = samples
	s.want("what is whole", s.rows(0, 3, 1), "0.1 - 0.1 ")
	s.flush(700)
	if got, err := store.JournalEntries(s.db); got != 0 || err != nil {
		t.Errorf("%d entries are left in the journal, %v", got, err)
	}
}

func TestCheckTellsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	addEvent(t, s.db, motion.Event{Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, NetworkID: s.network, TS: motion.Time(base)}, "")
	s.add(0, 0.1)
	s.flush(700) // seals the first block
	s.add(701, 0.1)
	s.flush(702)
	for _, c := range []struct {
		of     string
		damage func() error
		want   store.LeftOut
	}{
		{"nothing", func() error { return nil }, store.LeftOut{}},
		{"an event", func() error { return store.SpoilFirst(s.db, "events", true) }, store.LeftOut{Records: 1}},
		{"a block", func() error { return store.SpoilFirst(s.db, "samples_1s", true) }, store.LeftOut{Records: 1, Samples: 1}},
		{"the journal", func() error { return store.DamageJournal(s.db, 0) }, store.LeftOut{Records: 1, Samples: 2}},
	} {
		if err := c.damage(); err != nil {
			t.Fatal(err)
		}
		if got, err := s.db.CheckCopy(t.Context()); got != c.want || err != nil {
			t.Errorf("after damage of %s: %+v, %v, want %+v", c.of, got, err, c.want)
		}
	}
	if err := store.SpoilFirst(s.db, "events", false); err != nil { // for the check at the end
		t.Fatal(err)
	}
}
