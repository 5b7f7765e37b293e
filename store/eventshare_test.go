package store_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/store"
	"sensegate/store/storetest"
)

// eventShare is what a network may have in these tests, and eventSize what one event of
// newSharing takes of it.
const (
	eventShare = 256 << 10
	eventSize  = 1 << 10
)

// sharing is a database in which networks have a share of events.
type sharing struct {
	*store.DB
	t    *testing.T
	cuts []store.EventCut
}

func newSharing(t *testing.T, change ...func(*store.Options)) *sharing {
	t.Helper()
	change = append(change, func(o *store.Options) { o.EventShare = eventShare })
	return &sharing{DB: storetest.Open(t, change...), t: t}
}

// add stores events of about eventSize, a second apart, from a time on.
func (s *sharing) add(network motion.NetworkID, from, many int) {
	s.t.Helper()
	for i := range many {
		update(s.t, s.DB, func(tx *store.Tx) error {
			_, isNew, err := tx.AddEvent(motion.Event{
				Category: motion.CategorySystem, Event: "FilterSoiledEvent", NetworkID: network, TS: motion.Time(base + int64(from+i)),
				Detail: motion.Document{"text": strings.Repeat("x", eventSize-256)},
			}, fmt.Sprint(network, from+i))
			if !isNew {
				s.t.Errorf("event %d is not new", from+i)
			}
			s.cuts = append(s.cuts, tx.EventCuts()...)
			return err
		})
	}
}

// times returns when the events of a network were, in seconds after base.
func (s *sharing) times(network motion.NetworkID) (times []int) {
	s.t.Helper()
	view(s.t, s.DB, func(tx *store.Tx) error {
		events, err := storetest.Events(tx, network)
		for _, e := range events {
			times = append(times, int(e.TS.Second()-base))
		}
		return err
	})
	return times
}

// wants wants a network to have the newest of many events and no hole, as many as fit.
func (s *sharing) wants(what string, network motion.NetworkID, many int) {
	s.t.Helper()
	times := s.times(network)
	most, least := eventShare/(eventSize-64), eventShare/(eventSize+64)*126/128
	if n := len(times); n > most || n < least || times[0] != many-n || times[n-1] != many-1 {
		s.t.Errorf("%s: %d events, from %d to %d; want %d to %d that end with %d", what, n, times[0], times[n-1], least, most, many-1)
	}
}

func TestOldestEventsGoBeyondTheShare(t *testing.T) {
	t.Parallel()
	s := newSharing(t)
	flooding, quiet := newNetwork(t, s.DB, "a"), newNetwork(t, s.DB, "b")
	s.add(quiet, 0, 5)
	s.add(flooding, 0, 900)
	s.wants("flooded", flooding, 900)
	if times := s.times(quiet); len(times) != 5 {
		t.Errorf("another network has %d events, want its 5", len(times))
	}
	gone := 0
	for i, cut := range s.cuts {
		gone += cut.Events
		if cut.Network != flooding || int(cut.Until.Second()-base) != gone-1 {
			t.Errorf("cut %d: %+v, want network %d until %d", i, cut, flooding, gone-1)
		}
	}
	if left := len(s.times(flooding)); gone+left != 900 || len(s.cuts) < 2 {
		t.Errorf("%d cuts tell of %d events, %d are left of 900", len(s.cuts), gone, left)
	}
}

func TestShareIsThatOfWhatIsStored(t *testing.T) {
	t.Parallel()
	s := newSharing(t)
	network := newNetwork(t, s.DB, "a")
	s.add(network, 0, 200)
	update(t, s.DB, func(tx *store.Tx) error {
		_, err := tx.DeleteEventsBefore(motion.Time(base+200), 1000)
		return err
	})
	s.add(network, 200, 200)
	if n := len(s.times(network)); n != 200 || len(s.cuts) != 0 {
		t.Errorf("%d of 200 events after others went by their age, cuts %v", n, s.cuts)
	}
	s.add(network, 400, 300)
	s.wants("more than fit", network, 700)
}

func TestShareHoldsAfterARestartWithLess(t *testing.T) {
	t.Parallel()
	options := store.Options{Path: filepath.Join(t.TempDir(), "sensegate.db")}
	open := func() *store.DB {
		db, err := store.Open(options)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	s := &sharing{DB: open(), t: t}
	network := newNetwork(t, s.DB, "a")
	s.add(network, 0, 600)
	storetest.Close(t, s.DB)
	options.EventShare = eventShare
	s.DB = open()
	defer func() { storetest.Close(t, s.DB) }()
	s.add(network, 600, 1)
	s.wants("opened with a share", network, 601)
}

func TestEventOlderThanAllIsStored(t *testing.T) {
	t.Parallel()
	s := newSharing(t)
	network := newNetwork(t, s.DB, "a")
	s.add(network, 1000, 300)
	s.add(network, 0, 1)
	if times := s.times(network); !slices.Contains(times, 0) {
		t.Errorf("the event that was just stored is not among those from %d on", times[0])
	}
}
