package store_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

// addEvent stores an event and returns it.
func addEvent(t testing.TB, db *store.DB, e motion.Event, dedupe string) (stored motion.Event, isNew bool) {
	t.Helper()
	update(t, db, func(tx *store.Tx) (err error) {
		stored, isNew, err = tx.AddEvent(e, dedupe)
		return err
	})
	return stored, isNew
}

func TestStoredEventIsReturnedWhole(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network := newNetwork(t, db, "g")
	armed := 1
	stored, isNew := addEvent(t, db, motion.Event{
		Category: motion.CategoryMotion, Event: motion.MotionStoppedEvent, NetworkID: network, GuardianID: "g",
		TS: 1764000121.0000002, DetectedTS: 1764000000.5, IntensityWindow: []float64{0.3, 0.56}, LinkID: "A.b",
		Loc: []motion.EventLoc{{MAC: "02:bb:00:00:00:31", Confidence: 0.82}}, Detail: motion.Document{"clock": "server"},
		Armed: &armed, Debug: &motion.EventDebug{MSAD: []float64{187.22}}, Tag: "Human being",
	}, "")
	if !isNew || stored.TS != 1764000121 || stored.Tag != "Human bein" {
		t.Errorf("stored %+v, new %v, want ts 1764000121 and a tag of 10 characters", stored, isNew)
	}
	id, err := uuid.Parse(stored.ID)
	if err != nil || id.Version() != 7 {
		t.Errorf("id %q is no UUIDv7: %v", stored.ID, err)
	}
	if seconds, _ := id.Time().UnixTime(); seconds != 1764000121 {
		t.Errorf("id is of second %d, want 1764000121", seconds)
	}
	view(t, db, func(tx *store.Tx) error {
		found, err := tx.Event(network, stored.ID)
		if diff := cmp.Diff(stored, found); diff != "" {
			t.Error(diff)
		}
		for _, id := range []string{"", "no uuid", uuid.NewString()} {
			_, err := tx.Event(network, id)
			wantKind(t, err, fault.NotFound)
		}
		_, foreign := tx.Event(network+1, stored.ID)
		wantKind(t, foreign, fault.NotFound)
		return err
	})
}

func TestRepeatedEventIsTheSameEvent(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network, other := newNetwork(t, db, "a"), newNetwork(t, db, "b")
	first, _ := addEvent(t, db, motion.Event{NetworkID: network, TS: 5}, "uuid-1")
	for name, c := range map[string]struct {
		event  motion.Event
		dedupe string
		isNew  bool
	}{
		"same text":            {motion.Event{NetworkID: network, TS: 6}, "uuid-1", false},
		"same id":              {motion.Event{NetworkID: network, TS: 6, ID: strings.ToUpper(first.ID)}, "", false},
		"other text":           {motion.Event{NetworkID: network, TS: 5}, "uuid-2", true},
		"no text":              {motion.Event{NetworkID: network, TS: 5}, "", true},
		"text of another home": {motion.Event{NetworkID: other, TS: 5}, "uuid-1", true},
	} {
		stored, isNew := addEvent(t, db, c.event, c.dedupe)
		if isNew != c.isNew || (stored.ID == first.ID) == c.isNew {
			t.Errorf("%s: new %v, id %s, want new %v beside %s", name, isNew, stored.ID, c.isNew, first.ID)
		}
	}
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, _, err := tx.AddEvent(motion.Event{NetworkID: other, TS: 5, ID: first.ID}, "")
		return err
	})
	wantKind(t, err, fault.Conflict)
}

// TestPagingByTimeLosesNothing pages through events that were all raised at one time, both
// ways, as a client does that knows the time of its newest or oldest record alone.
func TestPagingByTimeLosesNothing(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network := newNetwork(t, db, "g")
	var want []string
	for i := range 34 {
		e, _ := addEvent(t, db, motion.Event{NetworkID: network, TS: 1764000000.5, Event: motion.LinkCreatedEvent}, fmt.Sprint(i))
		want = append(want, e.ID)
	}
	if !slices.IsSorted(want) {
		t.Errorf("ids %v, want those of later events to sort after those of earlier ones", want)
	}
	for _, forward := range []bool{true, false} {
		var have []string
		q := store.EventQuery{Network: network, Ascending: forward}
		if forward {
			q.From = new(motion.Time(1))
		}
		for more := true; more; {
			view(t, db, func(tx *store.Tx) error {
				page, err := tx.Events(q)
				for _, e := range page {
					have = append(have, e.ID)
					if forward {
						q.From = &e.TS
					} else {
						q.To = &e.TS
					}
				}
				more = len(page) > 0
				return err
			})
		}
		if !forward {
			slices.Reverse(have)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("forward %v: %s", forward, diff)
		}
	}
}

func TestAnswerHasAboutAMegabyteOfEvents(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network := newNetwork(t, db, "g")
	for i := range 100 {
		detail := motion.Document{"text": strings.Repeat("x", 15<<10)}
		addEvent(t, db, motion.Event{NetworkID: network, TS: motion.Time(1764000000 + i), Event: motion.LinkCreatedEvent, Detail: detail}, "")
	}
	seen := 0
	q := store.EventQuery{Network: network, Last: 1000, From: new(motion.Time(1))}
	for more := true; more; {
		view(t, db, func(tx *store.Tx) error {
			page, full, err := tx.EventPage(q)
			if len(page) > 70 {
				t.Errorf("%d events of 15 KiB", len(page))
			}
			seen += len(page)
			if more = full; full {
				q.After = page[0].ID
			}
			return err
		})
	}
	if seen != 100 {
		t.Errorf("%d events, want 100", seen)
	}
}

func TestStopNamesTheTimeAtWhichItsDetectionIsStored(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network := newNetwork(t, db, "g")
	const at = motion.Time(1764000000.5)
	addEvent(t, db, motion.Event{NetworkID: network, TS: at, Event: motion.LinkCreatedEvent}, "")
	for _, link := range []string{"A.b", "A.c"} {
		addEvent(t, db, motion.Event{NetworkID: network, TS: at, Event: motion.MotionDetectedEvent, LinkID: link}, "")
	}
	for i, link := range []string{"A.b", "A.c", "A.d"} {
		stop, _ := addEvent(t, db, motion.Event{NetworkID: network, TS: at + 50, DetectedTS: at, Event: motion.MotionStoppedEvent, LinkID: link}, "")
		if moved, want := stop.DetectedTS.Micros()-at.Micros(), []int64{1, 2, 1}[i]; moved != want {
			t.Errorf("stop of %s: its detection is %d µs later, want %d", link, moved, want)
		}
	}
}

func TestConcurrentRepeatsAreStoredOnce(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	var stored atomic.Int32
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			return db.Update(t.Context(), func(tx *store.Tx) error {
				_, isNew, err := tx.AddEvent(motion.Event{NetworkID: network, TS: 5}, "once")
				if isNew {
					tx.OnCommit(func() { stored.Add(1) })
				}
				return err
			})
		})
	}
	if err := group.Wait(); err != nil || stored.Load() != 1 {
		t.Errorf("stored %d times, error %v, want once", stored.Load(), err)
	}
}

func TestUnusableEventIsInvalid(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	for name, e := range map[string]motion.Event{
		"no time":       {},
		"negative time": {TS: -5},
		"time NaN":      {TS: motion.Time(math.NaN())},
		"milliseconds":  {TS: 1764000000000},
		"id no uuid":    {TS: 5, ID: "1"},
	} {
		e.NetworkID = network
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			_, _, err := tx.AddEvent(e, "")
			return err
		})
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: error %v, want a fault Invalid", name, err)
		}
	}
}

func TestTagIsPaddedAndKept(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	e, _ := addEvent(t, db, motion.Event{NetworkID: network, TS: 5, Tag: ""}, "once")
	update(t, db, func(tx *store.Tx) error {
		tagged, err := tx.TagEvent(network, e.ID, "Pet")
		if tagged.Tag != "Pet       " {
			t.Errorf("tag %q, want Pet and 7 spaces", tagged.Tag)
		}
		_, foreign := tx.TagEvent(network+1, e.ID, "Pet")
		wantKind(t, foreign, fault.NotFound)
		return err
	})
	again, isNew := addEvent(t, db, motion.Event{NetworkID: network, TS: 5}, "once")
	if isNew || again.Tag != "Pet       " {
		t.Errorf("again %+v, new %v, want the tagged event", again, isNew)
	}
}

// queryCase is a query beside what the naive model answers.
type queryCase struct {
	all   []motion.Event // of all networks, in the order of keys
	query store.EventQuery
}

// drawQuery draws a query over times 0..8.
func drawQuery(t *rapid.T, network motion.NetworkID) store.EventQuery {
	bound := func(name string) *motion.Time {
		if rapid.Bool().Draw(t, "has "+name) {
			at := motion.Time(rapid.IntRange(0, 16).Draw(t, name)) / 2
			return &at
		}
		return nil
	}
	return store.EventQuery{
		Network: network, From: bound("from"), To: bound("to"),
		NotBefore:  motion.Time(rapid.IntRange(0, 3).Draw(t, "not before")),
		Last:       rapid.IntRange(0, 12).Draw(t, "last"),
		Categories: rapid.SliceOfN(rapid.SampledFrom([]motion.Category{"Motion", "Link"}), 0, 1).Draw(t, "categories"),
		Kinds:      rapid.SliceOfN(rapid.SampledFrom([]string{motion.MotionDetectedEvent, motion.MotionStoppedEvent, `odd "kind\`}), 0, 2).Draw(t, "kinds"),
		Ascending:  rapid.Bool().Draw(t, "ascending"),
	}
}

// answer is payloads.md 6 no. 12 in its plainest form.
func (c queryCase) answer() []motion.Event {
	q, list := c.query, []motion.Event{}
	for _, e := range c.all {
		if e.NetworkID == q.Network && (q.From == nil || e.TS > *q.From) && (q.To == nil || e.TS < *q.To) && e.TS >= q.NotBefore &&
			(len(q.Categories) == 0 || slices.Contains(q.Categories, e.Category)) &&
			(len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Event)) {
			list = append(list, e)
		}
	}
	last := q.Last
	if last == 0 {
		last = 10
	}
	if over := len(list) - last; over > 0 {
		if q.From != nil && q.To == nil {
			list = list[:last]
		} else {
			list = list[over:]
		}
	}
	if !q.Ascending {
		slices.Reverse(list)
	}
	return list
}

func TestEventQueryAgreesWithNaiveModel(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	rapid.Check(t, func(t *rapid.T) {
		var all []motion.Event
		var ids [3]motion.NetworkID
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			for i := range ids {
				n, err := tx.CreateNetwork(motion.Network{GuardianID: uuid.NewString()})
				if err != nil {
					return err
				}
				ids[i] = n.ID
			}
			for range rapid.IntRange(0, 40).Draw(t, "events") {
				e, _, err := tx.AddEvent(motion.Event{
					NetworkID: rapid.SampledFrom(ids[:]).Draw(t, "network"),
					TS:        motion.Time(rapid.IntRange(1, 16).Draw(t, "ts")) / 2,
					Category:  rapid.SampledFrom([]motion.Category{"Motion", "Link", "odd \" category"}).Draw(t, "category"),
					Event:     rapid.SampledFrom([]string{motion.MotionDetectedEvent, motion.MotionStoppedEvent, `odd "kind\`}).Draw(t, "kind"),
				}, "")
				if err != nil {
					return err
				}
				all = append(all, e)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b motion.Event) int {
			return strings.Compare(fmt.Sprintf("%018.6f %s", a.TS, a.ID), fmt.Sprintf("%018.6f %s", b.TS, b.ID))
		})
		for range 5 {
			c := queryCase{all, drawQuery(t, ids[1])}
			err := db.View(t.Context(), func(tx *store.Tx) error {
				have, err := tx.Events(c.query)
				if diff := cmp.Diff(c.answer(), have); diff != "" {
					t.Fatalf("query %+v: %s", c.query, diff)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestQueryBoundsCanBeAnything(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	addEvent(t, db, motion.Event{NetworkID: network, TS: 5}, "")
	for from, want := range map[motion.Time]int{
		motion.Time(math.Inf(-1)): 1, -1: 1, 0: 1, 4.999999: 1, 5: 0, 1e300: 0, motion.Time(math.Inf(1)): 0,
	} {
		view(t, db, func(tx *store.Tx) error {
			after, err1 := tx.Events(store.EventQuery{Network: network, From: &from})
			before, err2 := tx.Events(store.EventQuery{Network: network, To: &from})
			wantBefore := 1 - want
			if from == 5 {
				wantBefore = 0
			}
			if len(after) != want || len(before) != wantBefore {
				t.Errorf("bound %v: %d after and %d before, want %d and %d", from, len(after), len(before), want, wantBefore)
			}
			return errors.Join(err1, err2)
		})
	}
}

func TestPairsJoinDetectedAndStopped(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network, other := newNetwork(t, db, "a"), newNetwork(t, db, "b")
	add := func(network motion.NetworkID, kind string, ts, detected motion.Time) string {
		e, _ := addEvent(t, db, motion.Event{NetworkID: network, Event: kind, TS: ts, DetectedTS: detected}, "")
		return e.ID
	}
	var want []string // stopped id, a dot, detected id; oldest first
	for i := range 5 {
		at := motion.Time(100*i) + 1764000000.123457
		detected := add(network, motion.MotionDetectedEvent, at, 0)
		add(network, motion.LinkConnectedEvent, at, 0)
		want = append(want, add(network, motion.MotionStoppedEvent, at+50, at)+"."+detected)
		add(other, motion.MotionDetectedEvent, at, 0)
	}
	add(network, motion.MotionStoppedEvent, 1764000999, 1764000998) // its detection is not stored
	at := func(t motion.Time) *motion.Time { return &t }
	for name, c := range map[string]struct {
		query store.EventQuery
		want  []string
	}{
		"newest first":        {store.EventQuery{}, []string{want[4], want[3], want[2], want[1], want[0]}},
		"the newest two":      {store.EventQuery{Last: 2}, []string{want[4], want[3]}},
		"the oldest after":    {store.EventQuery{Last: 2, From: at(1764000050.123457)}, []string{want[2], want[1]}},
		"the newest before":   {store.EventQuery{Last: 2, To: at(1764000250.123457)}, []string{want[1], want[0]}},
		"ascending":           {store.EventQuery{Last: 2, Ascending: true}, []string{want[3], want[4]}},
		"of a home without":   {store.EventQuery{Network: other}, []string{}},
		"hidden before floor": {store.EventQuery{NotBefore: 1764000450}, []string{want[4]}},
	} {
		if c.query.Network == 0 {
			c.query.Network = network
		}
		view(t, db, func(tx *store.Tx) error {
			pairs, _, err := tx.PairPage(c.query)
			ids := []string{}
			for _, p := range pairs {
				ids = append(ids, p.ID)
				if p.TS != 1764000000 || p.StoppedTS != p.DetectedTS+50 {
					t.Errorf("%s: pair %+v, want ts now and 50 s from detected to stopped", name, p)
				}
			}
			if diff := cmp.Diff(c.want, ids); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			return err
		})
	}
}

func TestOldEventsAreDeletedInSteps(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	networks := []motion.NetworkID{newNetwork(t, db, "a"), newNetwork(t, db, "b")}
	for _, network := range networks {
		for ts := motion.Time(1); ts <= 5; ts++ {
			addEvent(t, db, motion.Event{NetworkID: network, TS: ts}, fmt.Sprint(ts))
		}
	}
	for _, want := range []int{6, 2, 0} {
		update(t, db, func(tx *store.Tx) error {
			n, err := tx.DeleteEventsBefore(5, 6)
			if n != want {
				t.Errorf("deleted %d, want %d", n, want)
			}
			return err
		})
	}
	for _, network := range networks {
		view(t, db, func(tx *store.Tx) error {
			left, err := tx.Events(store.EventQuery{Network: network})
			if len(left) != 1 || left[0].TS != 5 {
				t.Errorf("left %+v, want the event at 5", left)
			}
			return err
		})
		if _, isNew := addEvent(t, db, motion.Event{NetworkID: network, TS: 1}, "1"); !isNew {
			t.Error("a deleted event is still known")
		}
	}
}

func TestEventsOfOneTimeStandInTheOrderOfAdding(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network := newNetwork(t, db, "a")
	var added []string
	for range 50 { // in a transaction each, so that clocks go on between them
		update(t, db, func(tx *store.Tx) error {
			for range 2 {
				e, _, err := tx.AddEvent(motion.Event{NetworkID: network, Category: motion.CategorySystem, Event: motion.MemberArrivedEvent, TS: 1764000000.5}, "")
				if err != nil {
					return err
				}
				added = append(added, e.ID)
			}
			return nil
		})
	}
	if !slices.IsSorted(added) {
		t.Errorf("ids are not in the order of adding: %v", added)
	}
}
