package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/home"
	"sensegate/motion/insight"
	"sensegate/motion/setting"
	"sensegate/store"
)

// clockIs has the engine see one time.
func clockIs(now time.Time) func(*engine.Options) {
	return func(o *engine.Options) { o.Now = func() time.Time { return now } }
}

// slept imports a night: motion for an hour up to sleep and from wake on.
func (b *box) slept(id motion.NetworkID, sleep, wake time.Time) {
	b.t.Helper()
	for _, part := range []struct {
		from, to time.Time
		mkai     float64
	}{{sleep.Add(-time.Hour), sleep, 0.5}, {sleep, wake, 0}, {wake, wake.Add(time.Hour), 0.5}} {
		h := motion.History{TS: motion.TimeOf(part.from), Interval: 5000, Count: int(part.to.Sub(part.from) / (5 * time.Second))}
		for range h.Count {
			h.MKAI = append(h.MKAI, part.mkai)
		}
		if err := b.Sensing.Import(context.Background(), id, []motion.History{h}, nil); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestSleepTimesAreOfTheHomesClocks(t *testing.T) {
	zone, err := time.LoadLocation("America/Toronto")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour, minute int) time.Time {
		return time.Date(2025, time.November, day, hour, minute, 0, 0, zone)
	}
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		id, ctx := b.network(), context.Background()
		_, err := b.Insights.ChangeSleepSettings(ctx, id, func(s *motion.ApplicationSettings) { s.Enabled, s.Timezone = true, zone.String() })
		if err != nil {
			t.Fatal(err)
		}
		b.slept(id, at(1, 23, 0), at(2, 6, 30)) // clocks went back at two
		b.slept(id, at(2, 23, 30), at(3, 6, 30))
		got, err := b.Insights.SleepTimes(ctx, id, 3, 1)
		if err != nil || got.SleepTime != 23*3600+900 || got.WakeTime != 6*3600+1800 || got.Duration != (8.5+7)/2*3600 {
			t.Errorf("%+v %v", got, err)
		}
		if got.MotionState.FirstBucket != at(1, 0, 0).Unix() || len(got.MotionState.Data) != 4*(25+24+24+12) {
			t.Errorf("motion state from %d, %d buckets", got.MotionState.FirstBucket, len(got.MotionState.Data))
		}
		got, err = b.Insights.SleepTimes(ctx, id, 3, motion.TimeOf(at(2, 12, 0))) // claimed between the two nights
		if err != nil || got.SleepTime != 23*3600+1800 || got.MotionState.FirstBucket != at(2, 12, 0).Unix() {
			t.Errorf("claimed on the second: %+v %v", got, err)
		}
		activity, err := b.Insights.RecentActivity(ctx, id, 3, 1)
		if err != nil || activity.FirstBucket != at(1, 0, 0).Unix() || len(activity.Data) != 4*(25+24+24+12) {
			t.Errorf("activity from %d, %d buckets, %v", activity.FirstBucket, len(activity.Data), err)
		}
	}, clockIs(at(4, 12, 0)))
}

func TestMotionStateIsOneWhileAwayAndArmed(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		id, ctx := b.network(), context.Background()
		var one home.Home
		update := func(change func(tx *store.Tx) error) {
			t.Helper()
			if err := b.db.Update(ctx, change); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
		}
		scene := func(s home.Scene) func(*store.Tx) error {
			return func(tx *store.Tx) error { one.Scene = s; return tx.PutHome(one) }
		}
		update(func(tx *store.Tx) (err error) {
			one, err = tx.CreateHome(home.Home{ExternalID: id, Scene: home.AtHome})
			return err
		})
		update(scene(home.Away))
		off, on := int32(0), int32(1)
		if err := b.Inventory.EditSounding(ctx, id, false, setting.SoundingChange{MotionEventsArmed: &off}, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if err := b.Inventory.EditSounding(ctx, id, false, setting.SoundingChange{MotionEventsArmed: &on}, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		update(scene(home.AtHome))
		got, err := b.Insights.SleepTimes(ctx, id, 1, motion.Time(1))
		if err != nil {
			t.Fatal(err)
		}
		data := got.MotionState.Data[96:] // of today: five hours, each of its own
		for i, want := range []float64{0, 1, 0, 1, 0} {
			for k := range 4 {
				if v := data[4*i+k]; float64(v) != want {
					t.Errorf("hour %d, quarter %d: %v, want %v", i, k, v, want)
				}
			}
		}
	})
}

// evenings returns the days whose evenings begin the nights that are told of the first
// days from a time on.
func (b *box) evenings(id motion.NetworkID, from time.Time, days insight.Date) []string {
	b.t.Helper()
	date := insight.DateOf(from.Unix(), time.UTC)
	nights, err := b.Insights.Nights(b.t.Context(), id, date, date+days-1, nil)
	if err != nil || nights == nil {
		b.t.Fatalf("nights %v, %v", nights, err)
	}
	told := []string{}
	for _, night := range nights {
		told = append(told, night.Date.String())
	}
	return told
}

func TestNightsAreToldWhileTheyAreEnabled(t *testing.T) {
	at := func(day, hour int) time.Time { return time.Date(2025, time.November, day, hour, 0, 0, 0, time.UTC) }
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		id := b.network()
		b.slept(id, at(1, 23), at(2, 7))
		enable := func(enabled bool) {
			t.Helper()
			if _, err := b.Insights.ChangeSleepSettings(t.Context(), id, func(s *motion.ApplicationSettings) { s.Enabled = enabled }); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.evenings(id, at(1, 0), 1); len(got) != 0 {
			t.Errorf("never enabled: nights of %v", got)
		}
		enable(true)
		if got := b.evenings(id, at(1, 0), 1); !slices.Equal(got, []string{"2025-11-01"}) {
			t.Errorf("enabled: nights of %v", got)
		}
		enable(false)
		if got := b.evenings(id, at(1, 0), 1); len(got) != 0 {
			t.Errorf("no longer enabled: nights of %v", got)
		}
	}, clockIs(at(4, 12)))
}

func TestNightsOfWhoIsAwayAreLeftOut(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		id, ctx, begin := b.network(), t.Context(), time.Now().UTC().Truncate(24*time.Hour)
		if _, err := b.Insights.ChangeSleepSettings(ctx, id, func(s *motion.ApplicationSettings) { s.Enabled = true }); err != nil {
			t.Fatal(err)
		}
		at := func(day, hour int) time.Time { return begin.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour) }
		var one home.Home
		var phone, none home.Membership
		update := func(when time.Time, kind string, change func(tx *store.Tx) error) {
			t.Helper()
			time.Sleep(time.Until(when))
			err := b.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
				if kind == "" {
					return nil, change(tx)
				}
				return []motion.Event{{Category: motion.CategorySystem, Event: kind, NetworkID: id, TS: tx.Now()}}, change(tx)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		scene := func(s home.Scene) func(*store.Tx) error {
			return func(tx *store.Tx) error { one.Scene = s; return tx.PutHome(one) }
		}
		present := func(is bool) func(*store.Tx) error {
			return func(tx *store.Tx) error {
				phone.IsPresent, phone.Devices = is, []home.DevicePresence{{Present: is, At: tx.Now()}}
				return tx.PutMembership(phone)
			}
		}
		update(at(0, 12), "", func(tx *store.Tx) error {
			one, _ = tx.CreateHome(home.Home{ExternalID: id, Scene: home.AtHome})
			user, _ := tx.CreateUser(home.User{Email: "jdoe@example.com", Sub: "1"})
			var err error
			phone, err = tx.CreateMembership(home.Membership{User: user.ID, Home: one.ID, Role: home.OwnerRole})
			return err
		})
		update(at(0, 13), motion.MemberArrivedEvent, present(true))
		update(at(1, 23), "", scene(home.Away))
		update(at(2, 7), "", scene(home.AtHome))
		update(at(2, 23), motion.MemberLeftEvent, present(false))
		update(at(3, 7), motion.MemberArrivedEvent, present(true))
		time.Sleep(time.Until(at(6, 0)))
		for day := range 4 {
			b.slept(id, at(day, 23), at(day+1, 7))
		}
		dates := func(days ...int) (list []string) {
			for _, day := range days {
				list = append(list, at(day, 0).Format(time.DateOnly))
			}
			return list
		}
		if got := b.evenings(id, begin, 4); !slices.Equal(got, dates(0, 3)) {
			t.Errorf("nights of %v, want %v: away on the second, nobody present in the third", got, dates(0, 3))
		}
		update(at(6, 1), "", func(tx *store.Tx) error {
			user, _ := tx.CreateUser(home.User{Email: "mum@example.com", Sub: "2"})
			var err error
			none, err = tx.CreateMembership(home.Membership{User: user.ID, Home: one.ID, Role: home.MemberRole})
			return err
		})
		if got := b.evenings(id, begin, 4); !slices.Equal(got, dates(0, 2, 3)) {
			t.Errorf("nights of %v, want %v: member %d does not report, and may be at home", got, dates(0, 2, 3), none.ID)
		}
	})
}
