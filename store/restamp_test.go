package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/series"
	"sensegate/store"
)

// wrong is an hour and a half in 1970, on a clock that was behind by base.
var wrong = store.Restamp{From: 100, To: 5500, By: motion.Seconds(base)}

// restamp stamps anew what r is about.
func (s *sampling) restamp(r store.Restamp) {
	s.t.Helper()
	update(s.t, s.db, func(tx *store.Tx) error { return s.samples.Restamp(tx, r) })
}

func TestSamplesOfAWrongClockAreStampedAnew(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"in memory and on the disk": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			s := newSampling(t)
			for second := range int64(5000) {
				s.add(second-base+100, float64(second%10)/10)
				if second%60 == 59 {
					s.flush(second - base + 100)
				}
			}
			for second := int64(5095); second < 5105; second++ {
				s.add(second, 0.9) // by a device whose clock was right
			}
			if restart {
				s.flush(5100 - base)
				s.restart()
			}
			s.restamp(wrong)
			s.now = time.Unix(base+5200, 0)
			check := func(when string) {
				s.want("first "+when, s.rows(99, 105, 1), "- 0 0.1 0.2 0.3 0.4 ")
				s.want("later "+when, s.rows(3100, 3112, 1), "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 0 0.1 ")
				s.want("last "+when, s.rows(5090, 5105, 1), "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 0.9 0.9 0.9 0.9 0.9 ")
				s.want("what is left "+when, s.rows(-base, -base+5600, 5600), "- ")
			}
			check("at once")
			s.add(5105, 0.3)
			s.flush(5210)
			s.restart()
			check("after a restart")
			for hour := range int64(30) {
				s.flush(5210 + hour*3600)
			}
			s.want("sums", s.rows(900, 4500, 900), "0.9 0.9 0.9 0.9 ")
		})
	}
}

func TestSamplesBesideAWrongClockStay(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	for second := range int64(100) {
		s.add(second, 0.5)
	}
	s.flush(1300)
	s.restamp(store.Restamp{From: motion.Time(base + 40), To: motion.Time(base + 60), By: 30})
	s.want("rows", s.rows(38, 42, 1)+s.rows(58, 62, 1), "0.5 0.5 - - - - 0.5 0.5 ")
}

func TestDataAheadOfTheClockIsSealed(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	for second := range int64(4 * 3600) {
		s.add(second, 0.1)
		if second%600 == 0 {
			s.flush(second - base)
		}
	}
	blocks, err := store.SealedBlocks(s.db, series.Second)
	if err != nil || len(blocks) < 20 {
		t.Errorf("%d blocks are sealed, %v, want all but the last ones of 4 hours", len(blocks), err)
	}
}

func TestEventsOfAWrongClockAreStampedAnew(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	at := func(ts motion.Time, kind string, detected motion.Time, dedupe string) motion.Event {
		e := motion.Event{Category: motion.CategoryMotion, Event: kind, NetworkID: s.network, TS: ts, DetectedTS: detected}
		stored, _ := addEvent(t, s.db, e, dedupe)
		return stored
	}
	at(50, "before", 0, "")
	detected := at(200.25, motion.MotionDetectedEvent, 0, "a device's own")
	stopped := at(210.5, motion.MotionStoppedEvent, 200.25, "")
	same := at(210.5, "same", 0, "")
	right := at(motion.Time(base+205), "right", 0, "")
	s.now = time.Unix(base+300, 0)
	s.restamp(wrong)
	view(t, s.db, func(tx *store.Tx) error {
		list, err := tx.Events(store.EventQuery{Network: s.network, Ascending: true})
		if err != nil {
			return err
		}
		got := ""
		for _, e := range list {
			got += fmt.Sprintf("%s %.2f, ", e.Event, float64(e.TS-motion.Time(base)))
		}
		s.want("history", got, "before -1763999950.00, MotionDetectedEvent 200.25, right 205.00, MotionStoppedEvent 210.50, same 210.50, ")
		pairs, _, err := tx.PairPage(store.EventQuery{Network: s.network})
		if len(pairs) != 1 {
			t.Errorf("%d pairs, %v, want the one", len(pairs), err)
		}
		return err
	})
	update(t, s.db, func(tx *store.Tx) error {
		for _, e := range []motion.Event{detected, stopped, same, right} {
			if _, err := tx.TagEvent(s.network, e.ID, "known"); err != nil {
				t.Errorf("%s by its id: %v", e.Event, err)
			}
		}
		return nil
	})
	if again := at(200.25, motion.MotionDetectedEvent, 0, "a device's own"); again.ID != detected.ID {
		t.Errorf("event sent again is %s, want %s", again.ID, detected.ID)
	}
}

func TestFirstAdoptionWindowLastsAsLong(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	network := newNetwork(t, s.db, "with a window")
	update(t, s.db, func(tx *store.Tx) error {
		return errors.Join(tx.SetAdoptionUntil(0, 1000), tx.SetAdoptionUntil(network, 2000))
	})
	s.restamp(store.Restamp{From: 1, To: motion.Time(base + 1), By: 3600})
	view(t, s.db, func(tx *store.Tx) error {
		installed, err := tx.InstalledAt()
		until, _, also := tx.AdoptionUntil(0)
		own, _, third := tx.AdoptionUntil(network)
		if installed != motion.Time(base+3600) || until != 4600 || own != 5600 {
			t.Errorf("installed %v, adopts until %v, into the network until %v", installed, until, own)
		}
		return errors.Join(err, also, third)
	})
}

// TestInstallersOfAWrongClockStayAsLong: of a box that learns the time while it is set up.
func TestInstallersOfAWrongClockStayAsLong(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	const week motion.Seconds = 7 * 24 * 3600
	let := func(user home.UserID, since motion.Time) home.Installer {
		return home.Installer{User: user, Since: since, Until: since.Add(week)}
	}
	house := home.New(s.network)
	house.Installers = []home.Installer{let(1, 200), let(2, motion.Time(base+10)), let(3, 50)}
	update(t, s.db, func(tx *store.Tx) (err error) {
		house, err = tx.CreateHome(house)
		return err
	})
	s.restamp(wrong)
	view(t, s.db, func(tx *store.Tx) error {
		got, err := tx.Home(house.ID)
		if want := []home.Installer{let(1, motion.Time(base+200)), let(2, motion.Time(base+10)), let(3, 50)}; !slices.Equal(got.Installers, want) {
			t.Errorf("installers %+v, want %+v", got.Installers, want)
		}
		return err
	})
}
