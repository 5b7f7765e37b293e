package engine_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// history returns 5 s samples from ts on.
func history(ts motion.Time, mkai ...float64) motion.History {
	h := motion.History{TS: ts, Interval: 5000, Count: len(mkai), MKAI: mkai, MACs: []motion.MAC{kitchen, hallway}}
	for _, v := range mkai {
		h.Density = append(h.Density, []float64{v, 0})
	}
	return h
}

func TestHistoryFillsGapsOnly(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, motion.StatusReport{TS: now()})
		time.Sleep(20 * time.Minute)
		begin := int64(now())
		b.send(10, 0.2, 0)
		b.report(guardianKey, history(motion.Time(begin-20), 0, 0.31, math.NaN(), 0.12, 0.9, 0.9))
		if got := b.points(begin-20, begin+10, 5); got != "0 0.31 null 0.12 0.2 0.2 " {
			t.Errorf("samples %s", got)
		}
		b.report(guardianKey, history(motion.Time(begin-20), 0.7, 0.7, 0.5))
		if got := b.points(begin-20, begin+10, 5); got != "0 0.31 0.5 0.12 0.2 0.2 " {
			t.Errorf("samples after a second report %s", got)
		}
		if got := b.kinds(); len(got) != 1 {
			t.Errorf("events %v, want that of the live motion", got)
		}
		set, err := b.State.Samples(context.Background(), b.network(), begin-20, begin)
		if err != nil {
			t.Fatal(err)
		}
		shares, err := set.Locations(begin-20, begin)
		if err != nil || len(shares) != 1 || shares[0].MAC != kitchen {
			t.Errorf("locations %+v, %v", shares, err)
		}
	})
}

// TestHistoryMakesOneSampleOfEach: 60 samples of 5 s are 60, with their own motion, whenever
// they begin; shorter ones share a sample, longer ones make several.
func TestHistoryMakesOneSampleOfEach(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		shift    motion.Seconds // from a multiple of 5 s
		interval int            // ms
		mkai     []float64
		density  [][]float64
		want     string // samples of 5 s
		shares   string // percent of kitchen and hallway
	}{
		"aligned":            {0, 5000, []float64{0, 0.3, 0, 0.2}, [][]float64{{}, {1, 0}, {}, {0, 1}}, "0 0.3 0 0.2 null ", "25 25"},
		"between":            {1.7, 5000, []float64{0, 0.3, 0, 0.2}, [][]float64{{}, {1, 0}, {}, {0, 1}}, "0 0.3 0 0.2 null ", "25 25"},
		"nearer to the next": {3.2, 5000, []float64{0, 0.3, 0, 0.2}, [][]float64{{}, {1, 0}, {}, {0, 1}}, "null 0 0.3 0 0.2 ", "25 25"},
		"shorter":            {0, 1000, []float64{0, 0.3, 0.1, 0, 0, 0}, [][]float64{{}, {1, 0}, {0, 1}, {}, {}, {}}, "0.3 0 null null null ", "25 25"},
		"longer":             {0, 10000, []float64{0.3, 0}, [][]float64{{0.6, 0.2}, {}}, "0.3 0.3 0 0 null ", "30 10"},
		"unknown shares":     {0, 5000, []float64{0.3, 0.3, nan}, [][]float64{{0.5, 0.5}, {nan, 0.5}, {1, 1}}, "0.3 0.3 null null null ", "25 50"},
		"no shares":          {0, 5000, []float64{0.3, 0}, nil, "0.3 0 null null null ", "0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				begin := int64(now())/5*5 - 3600
				b.report(guardianKey, motion.History{
					TS: motion.Time(begin).Add(c.shift), Interval: c.interval, Count: len(c.mkai), MKAI: c.mkai, MACs: []motion.MAC{kitchen, hallway}, Density: c.density,
				})
				if got := b.points(begin, begin+25, 5); got != c.want {
					t.Errorf("samples %s, want %s", got, c.want)
				}
				set, err := b.State.Samples(context.Background(), b.network(), begin, begin+25)
				if err != nil {
					t.Fatal(err)
				}
				shares, err := set.Locations(begin, begin+25)
				if err != nil {
					t.Fatal(err)
				}
				percent := map[motion.MAC]float64{}
				for _, share := range shares {
					percent[share.MAC] = share.Density
				}
				if got := fmt.Sprint(percent[kitchen], percent[hallway]); got != c.shares {
					t.Errorf("shares %s, want %s", got, c.shares)
				}
			})
		})
	}
}

func TestHistoryIsKeptAcrossTheSeal(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		time.Sleep(3 * time.Hour)
		begin := int64(now()) - 2*3600 // its block is sealed with the next flush
		b.report(guardianKey, history(motion.Time(begin), 0.3, math.NaN()))
		time.Sleep(61 * time.Second)
		b.report(guardianKey, history(motion.Time(begin), 0.9, 0.4))
		if got := b.points(begin, begin+10, 5); got != "0.3 0.4 " {
			t.Errorf("before the second flush %s", got)
		}
		time.Sleep(61 * time.Second)
		if got := b.points(begin, begin+10, 5); got != "0.3 0.4 " {
			t.Errorf("after it %s", got)
		}
	})
}

func TestHistoryOfAWrongTimeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		age     motion.Seconds // of its first sample; of 1e9 and more the time is 0
		trusted bool
		ok      bool
	}{
		"zero":                           {age: 1e9, trusted: true},
		"fresh":                          {age: 300, ok: true},
		"a day old":                      {age: 23 * 3600, ok: true},
		"older, of an unknown clock":     {age: 25 * 3600},
		"older, of a clock that is good": {age: 25 * 3600, trusted: true, ok: true},
		"older than is kept":             {age: 8 * 24 * 3600, trusted: true},
		"future":                         {age: -400, trusted: true},
		"reaching into the future":       {age: 0, trusted: true},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				if c.trusted {
					b.report(guardianKey, motion.StatusReport{TS: now()})
				}
				ts := now().Add(-c.age)
				if c.age >= 1e9 {
					ts = 0
				}
				err := b.Report(context.Background(), guardianKey, history(ts, make([]float64, 61+1)...))
				if c.ok != (err == nil) || !c.ok && fault.KindOf(err) != fault.Invalid {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

func TestDeviceEventIsStoredOnce(t *testing.T) {
	for name, c := range map[string]struct {
		uuid  string
		shift motion.Seconds // of the second one's time
		kind  string         // of the second one
		want  int
	}{
		"same time":                   {kind: motion.LinkConnectedEvent, want: 1},
		"another time":                {kind: motion.LinkConnectedEvent, shift: 0.001, want: 2},
		"another kind":                {kind: motion.LinkDisconnectedEvent, want: 2},
		"same uuid":                   {uuid: "u1", kind: motion.LinkConnectedEvent, want: 1},
		"same uuid, time corrected":   {uuid: "u1", kind: motion.LinkConnectedEvent, shift: 3, want: 1},
		"same uuid, after long, late": {uuid: "u1", kind: motion.LinkConnectedEvent, shift: 600, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				id := b.home()
				pushed, err := b.Sensing.LiveEvents(id)
				if err != nil {
					t.Fatal(err)
				}
				defer pushed.Close()
				r := motion.EventReport{UUID: c.uuid, Event: motion.Event{Category: motion.CategoryLink, Event: motion.LinkConnectedEvent, TS: now()}}
				b.report(guardianKey, r)
				time.Sleep(10 * time.Minute)
				r.Event.Event, r.Event.TS = c.kind, r.Event.TS.Add(c.shift)
				b.report(guardianKey, r)
				if got := len(b.events()); got != c.want {
					t.Errorf("%d events, want %d", got, c.want)
				}
				if got := len(drain(t, pushed)); got != c.want {
					t.Errorf("%d events pushed, want %d", got, c.want)
				}
			})
		})
	}
}

func TestEventOfAWrongClockGetsTheServerTime(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		for _, age := range []motion.Seconds{float64(now()), 25 * 3600, -310} {
			time.Sleep(time.Second)
			r := motion.EventReport{Event: motion.Event{Category: motion.CategoryLink, Event: motion.LinkConnectedEvent, TS: now().Add(-age), Detail: motion.Document{"x": 1}}}
			b.report(guardianKey, r)
			list := b.events()
			e := list[len(list)-1]
			if e.TS != now() || e.Detail["clock"] != "server" || fmt.Sprint(e.Detail["x"]) != "1" {
				t.Errorf("%v s off: %+v", age, e)
			}
		}
		b.report(guardianKey, motion.EventReport{Event: motion.Event{Category: motion.CategoryLink, Event: motion.LinkDisconnectedEvent, TS: now() - 3600}})
		if e := b.events(motion.LinkDisconnectedEvent)[0]; e.Detail != nil || e.TS != now()-3600 {
			t.Errorf("event of a good clock %+v", e)
		}
	})
}

// sameMoment reports whether two times differ by no more than what parts the events of one
// moment.
func sameMoment(a, b motion.Time) bool { return a-b < 1e-4 && b-a < 1e-4 }

func TestStopOfAWrongClockRefersToItsDetection(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, raised(motion.MotionDetectedEvent, 37.5)) // seconds since it was switched on
		time.Sleep(time.Minute)
		stop := raised(motion.MotionStoppedEvent, 97.5)
		stop.Event.DetectedTS = 37.5
		b.report(guardianKey, stop)
		var pairs []motion.EventPair
		b.view(func(tx *store.Tx) (err error) {
			pairs, _, err = tx.PairPage(store.EventQuery{Network: b.network()})
			return err
		})
		if len(pairs) != 1 || !sameMoment(pairs[0].StoppedTS, pairs[0].DetectedTS+60) {
			t.Errorf("pairs %+v", pairs)
		}
	})
}

func TestImportIsStoredAndNotPushed(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		pushed, err := b.Sensing.LiveEvents(id)
		if err != nil {
			t.Fatal(err)
		}
		defer pushed.Close()
		begin := int64(now()) - 6*24*3600
		past := raised(motion.MotionDetectedEvent, motion.Time(begin)).Event
		err = b.Sensing.Import(context.Background(), id, []motion.History{history(motion.Time(begin), 0.4, 0)}, []motion.Event{past, past})
		if err != nil {
			t.Fatal(err)
		}
		if list := b.events(); len(list) != 2 || list[0].LocName != "Kitchen" || list[0].TS != motion.Time(begin) {
			t.Errorf("stored %+v", list)
		}
		if got := drain(t, pushed); len(got) != 0 {
			t.Errorf("%d events pushed", len(got))
		}
		if got := b.points(begin, begin+10, 5); got != "0.4 0 " {
			t.Errorf("samples %s", got)
		}
		if err := b.Sensing.Import(context.Background(), id+1, nil, nil); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown network: %v", err)
		}
		if err := b.Sensing.Import(context.Background(), id, nil, []motion.Event{{Event: "X"}}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("event without a time: %v", err)
		}
	})
}
