package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
	"sensegate/motion/series"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestRetentionThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*store.Retention)
		says   string // "" = right
	}{
		"default":                          {func(*store.Retention) {}, ""},
		"all for ever":                     {func(r *store.Retention) { *r = store.Retention{} }, ""},
		"too short to be summed up":        {func(r *store.Retention) { r.At1s = time.Hour }, "at_1s: want at least 2h"},
		"negative":                         {func(r *store.Retention) { r.At900s = -1 }, "at_900s: want"},
		"longer than the coarser":          {func(r *store.Retention) { r.At5s = 91 * 24 * time.Hour }, "at_5s: must not be longer"},
		"for ever, and the coarser is not": {func(r *store.Retention) { r.At60s = 0 }, "at_60s: must not be longer"},
		"for ever, as the coarser":         {func(r *store.Retention) { r.At60s, r.At900s = 0, 0 }, ""},
		"events of a minute":               {func(r *store.Retention) { r.Events = time.Minute }, "events: want"},
		"detections of a minute":           {func(r *store.Retention) { r.Detections = time.Minute }, "detections: want"},
		"less than no detection":           {func(r *store.Retention) { r.DetectionsOfSensor = -1 }, "detections_of_sensor: want"},
		"commands of a minute":             {func(r *store.Retention) { r.Commands = time.Minute }, "commands: want"},
		"all resolutions as short as can be": {func(r *store.Retention) {
			r.At1s, r.At5s, r.At60s, r.At900s = 2*time.Hour, 12*time.Hour, 192*time.Hour, 192*time.Hour
		}, ""},
	} {
		r := store.DefaultRetention()
		c.change(&r)
		err := r.Validate()
		if (err == nil) != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func TestEventPastItsRetentionIsNowhere(t *testing.T) {
	t.Parallel()
	now := time.Unix(base, 0)
	db := storetest.Open(t, func(o *store.Options) {
		o.Now, o.Retention = func() time.Time { return now }, store.Retention{Events: time.Hour}
	})
	network := newNetwork(t, db, "g")
	old, _ := addEvent(t, db, benchEvent(network, motion.MotionDetectedEvent, motion.Time(base-3000)), "old")
	addEvent(t, db, motion.Event{Category: motion.CategoryMotion, Event: motion.MotionStoppedEvent, NetworkID: network, TS: motion.Time(base - 1000), DetectedTS: motion.Time(base - 3000)}, "stopped")
	count := func() (events, pairs, each int, byID error) {
		view(t, db, func(tx *store.Tx) error {
			list, err := tx.Events(store.EventQuery{Network: network})
			if err != nil {
				return err
			}
			both, _, err := tx.PairPage(store.EventQuery{Network: network})
			if err != nil {
				return err
			}
			_, byID = tx.Event(network, old.ID)
			events, pairs = len(list), len(both)
			all, err := storetest.Events(tx, network)
			each = len(all)
			return err
		})
		return events, pairs, each, byID
	}
	if events, pairs, each, err := count(); events != 2 || pairs != 1 || each != 2 || err != nil {
		t.Errorf("within: %d events, %d pairs, %d in all, %v", events, pairs, each, err)
	}
	now = time.Unix(base+601, 0) // nothing was deleted yet
	events, pairs, each, err := count()
	if events != 1 || pairs != 0 || each != 1 || fault.KindOf(err) != fault.NotFound {
		t.Errorf("past: %d events, %d pairs, %d in all, %v", events, pairs, each, err)
	}
}

func TestFinishedCommandsAndEmptyBatchesGo(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, short())
	var open, done, late command.Command
	var batch, empty command.Batch
	update(t, s.db, func(tx *store.Tx) (err error) {
		if batch, err = tx.CreateBatch(command.Batch{NetworkID: s.network, Name: "of the open one"}); err != nil {
			return err
		}
		if empty, err = tx.CreateBatch(command.Batch{NetworkID: s.network, Name: "empty"}); err != nil {
			return err
		}
		at := func(state command.State, batch *command.BatchID, updated int64) command.Command {
			c, e := tx.CreateCommand(command.Command{
				NetworkID: s.network, NodeID: 1, BatchID: batch, State: state, CreatedAt: motion.Time(base), UpdatedAt: motion.Time(base + updated),
			})
			if e != nil {
				err = e
			}
			return c
		}
		open, done, late = at(command.Pending, &batch.ID, 0), at(command.Done, nil, 0), at(command.Done, nil, start+30*3600)
		return err
	})
	s.flush(start + 11)
	s.flush(start + 31*3600)
	view(t, s.db, func(tx *store.Tx) error {
		for name, c := range map[string]struct {
			err  error
			gone bool
		}{
			"open":     {second(tx.Command(open.ID)), false},
			"finished": {second(tx.Command(done.ID)), true},
			"lately":   {second(tx.Command(late.ID)), false},
			"batch":    {second(tx.Batch(batch.ID)), false},
			"empty":    {second(tx.Batch(empty.ID)), true},
		} {
			if gone := fault.KindOf(c.err) == fault.NotFound; gone != c.gone {
				t.Errorf("%s: gone %v (%v), want %v", name, gone, c.err, c.gone)
			}
		}
		return nil
	})
}

func TestOldDetectionsAndTooManyOfASensorGo(t *testing.T) {
	t.Parallel()
	keep := short()
	keep.Detections, keep.DetectionsOfSensor = 10*time.Hour, 2
	s, start := newAging(t, keep)
	h, sensors := newSensorHome(t, s.db, "a", "USER_1")
	detect := func(of int, at int64) {
		update(t, s.db, func(tx *store.Tx) error {
			_, err := tx.AddDetection(sensors[of], sensor.Detection{Home: h.ID, ThingName: sensors[of].ThingName, TS: motion.Time(base + start + at)})
			return err
		})
	}
	for _, at := range []int64{1, 2, 3} {
		detect(0, at*3600)
	}
	detect(1, 0)
	found := func(what string, want ...int64) {
		view(t, s.db, func(tx *store.Tx) error {
			list, err := tx.Detections(store.DetectionQuery{Home: h.ID, Last: 10})
			got := []int64{}
			for _, d := range list {
				got = append(got, d.TS.Second()-base-start)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: detections of %v, want %v", what, got, want)
			}
			return err
		})
	}
	s.flush(start + 3*3600 + 11)
	found("two of a sensor", 3*3600, 2*3600, 0)
	s.now = time.Unix(base+start+12*3600+1, 0)
	found("past its retention, not yet deleted", 3*3600)
	s.flush(start + 12*3600 + 11)
	s.now = time.Unix(base+start, 0)
	found("deleted", 3*3600)
}

func second[T any](_ T, err error) error { return err }

func TestStatsCountWhatIsWritten(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, store.DefaultRetention())
	before := s.stats()
	s.flush(start)
	if after := s.stats(); after.Commits != before.Commits+1 {
		t.Errorf("the flush that began the sums: %+v after %+v", after, before)
	}
	before = s.stats()
	s.flush(start + 1)
	if after := s.stats(); after.Bytes != before.Bytes || after.Syncs != before.Syncs || after.Commits != before.Commits {
		t.Errorf("a flush without news wrote: %+v after %+v", after, before)
	}
	s.add(start, 0.5)
	s.flush(start + 2)
	after := s.stats()
	if after.Commits != before.Commits+1 || after.Syncs < before.Syncs+2 || after.Syncs > before.Syncs+3 || after.Bytes-before.Bytes < 4*4096 || after.Bytes-before.Bytes > 20*4096 {
		t.Errorf("a flush of one sample: %+v after %+v", after, before)
	}
	if after.Size != int64(len(fileBytes(t, s.path))) || after.Free <= 0 || after.Since != motion.Time(base) {
		t.Errorf("stats %+v", after)
	}
	if after.Days != 0 {
		t.Errorf("%d days fit before anything is known", after.Days)
	}
}

func (s *sampling) stats() store.Stats {
	s.t.Helper()
	stats, err := s.db.Stats(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return stats
}

func TestStatsTellHowMuchHistoryFits(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, store.DefaultRetention())
	for second := int64(0); second < 30*3600; second += 10 {
		s.add(start+second, float64(second%700)/1000)
	}
	s.flush(start + 30*3600 + 11)
	s.flush(start + 30*3600 + 3700)
	stats := s.stats()
	var day int64 // of what is stored; sums of 15 min have no whole block yet
	for tier, hours := range map[series.Tier]int64{series.Second: 31, series.FiveSeconds: 31, series.Minute: 30} {
		for _, block := range s.blocksOf(tier) {
			day += (int64(len(block)) + 8) * 24 / hours
		}
	}
	if stats.DayBytes < day*8/10 || stats.DayBytes > day*12/10 {
		t.Errorf("a day takes %d bytes, want about %d", stats.DayBytes, day)
	}
	if want := (stats.Size + stats.Free) / stats.DayBytes; stats.Days < want-1 || stats.Days > want+1 {
		t.Errorf("%d days, want %d", stats.Days, want)
	}
}

func TestLivenessLiesOverTheReport(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	tripped := 1
	update(t, db, func(tx *store.Tx) error {
		if err := tx.PutStatus(motion.StatusReport{NetworkID: network, TS: 100, MotionEnabled: 1, ShardID: "x"}); err != nil {
			return err
		}
		return tx.TouchStatus(network, store.StatusHeard{TS: 160, LastMotion: 150, MotionTripped: &tripped})
	})
	want := fmt.Sprint(motion.Time(160), motion.Time(150), 1, 0, "x")
	view(t, db, func(tx *store.Tx) error {
		r, err := tx.Status(network)
		if got := fmt.Sprint(r.TS, r.LastMotion, *r.MotionTripped, r.MotionEnabled, r.ShardID); got != want {
			t.Errorf("status %s, want %s", got, want)
		}
		return err
	})
	update(t, db, func(tx *store.Tx) error {
		if err := tx.PutStatus(motion.StatusReport{NetworkID: network, TS: 220, MotionEnabled: 1}); err != nil {
			return err
		}
		r, err := tx.Status(network)
		if r.TS != 220 || r.MotionTripped != nil || r.MotionEnabled != 1 {
			t.Errorf("a newer report: %+v", r)
		}
		return err
	})
	wantKind(t, db.Update(context.Background(), func(tx *store.Tx) error { return tx.TouchStatus(99, store.StatusHeard{}) }), fault.NotFound)
}
