package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestMomentsJoinDetectedAndStopped(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network, other := newNetwork(t, db, "a"), newNetwork(t, db, "b")
	add := func(network motion.NetworkID, kind string, ts, detected motion.Time) string {
		e, _ := addEvent(t, db, motion.Event{NetworkID: network, Event: kind, TS: ts, DetectedTS: detected}, "")
		return e.ID
	}
	at := func(i int) motion.Time { return motion.Time(100*i) + 1764000000.123457 }
	var detected, stopped []string
	for i := range 5 {
		detected = append(detected, add(network, motion.MotionDetectedEvent, at(i), 0))
		add(network, motion.LinkConnectedEvent, at(i), 0)
		add(other, motion.MotionStoppedEvent, at(i)+10, at(i))
		stopped = append(stopped, "")
		if i != 2 && i != 4 { // of one the end was lost, the newest goes on
			stopped[i] = add(network, motion.MotionStoppedEvent, at(i)+50, at(i))
		}
	}
	add(other, motion.MotionDetectedEvent, at(1), 0)
	foreign := add(other, motion.MotionDetectedEvent, at(4), 0)
	ids := func(m store.Moment) string {
		if m.Stopped == nil {
			return m.Detected.ID + "."
		}
		return m.Detected.ID + "." + m.Stopped.ID
	}
	pick := func(which ...int) []string {
		list := []string{}
		for _, i := range which {
			list = append(list, detected[i]+"."+stopped[i])
		}
		return list
	}
	even := func(e motion.Event) bool { return int(e.TS-at(0))%200 < 50 }
	for name, c := range map[string]struct {
		query store.EventQuery
		taken func(motion.Event) bool
		want  []string
		full  bool
	}{
		"newest first":        {store.EventQuery{}, nil, pick(4, 3, 2, 1, 0), false},
		"the newest two":      {store.EventQuery{Last: 2}, nil, pick(4, 3), true},
		"going on":            {store.EventQuery{Last: 2, After: detected[3]}, nil, pick(2, 1), true},
		"of a window":         {store.EventQuery{From: new(at(0)), To: new(at(3))}, nil, pick(2, 1), false},
		"hidden before floor": {store.EventQuery{NotBefore: at(3)}, nil, pick(4, 3), false},
		"wanted ones alone":   {store.EventQuery{Last: 2}, even, pick(4, 2), true},
	} {
		c.query.Network = network
		view(t, db, func(tx *store.Tx) error {
			moments, full, err := tx.MomentPage(c.query, c.taken)
			got := []string{}
			for _, m := range moments {
				got = append(got, ids(m))
			}
			if diff := cmp.Diff(c.want, got); diff != "" || full != c.full {
				t.Errorf("%s: full %v: %s", name, full, diff)
			}
			return err
		})
	}
	view(t, db, func(tx *store.Tx) error {
		m, err := tx.Moment(network, detected[1])
		if got := ids(m); got != pick(1)[0] {
			t.Errorf("moment %s, want %s", got, pick(1)[0])
		}
		for _, id := range []string{foreign, stopped[1], "no uuid", ""} {
			_, err := tx.Moment(network, id)
			wantKind(t, err, fault.NotFound)
		}
		return err
	})
}
