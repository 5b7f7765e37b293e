package engine_test

import (
	"testing"
	"time"
	_ "time/tzdata" // the zones of these tests, wherever they run

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/insight"
	"sensegate/store"
)

// lives imports still minutes of 5 s samples that end now.
func (b *box) lives(id motion.NetworkID, d time.Duration) {
	b.t.Helper()
	n := int(d / (5 * time.Second))
	h := motion.History{TS: b.State.Now().Add(-d.Seconds()), Interval: 5000, Count: n, MKAI: make([]float64, n)}
	if err := b.Sensing.Import(b.t.Context(), id, []motion.History{h}, nil); err != nil {
		b.t.Fatal(err)
	}
}

// today returns the activity of the day that a second ago was of.
func (b *box) today(id motion.NetworkID) []insight.Day {
	b.t.Helper()
	date := insight.DateOf(b.State.Now().Second()-1, time.UTC)
	days, err := b.Insights.ActiveDays(b.t.Context(), id, date, date, time.UTC)
	if err != nil || days == nil {
		b.t.Fatalf("days %v, %v", days, err)
	}
	return days
}

func TestInsightsWarmUpOnce(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		id := b.network()
		time.Sleep(time.Hour)
		b.lives(id, time.Hour)
		if days := b.today(id); len(days) != 0 {
			t.Errorf("after 1 h: %v", days)
		}
		time.Sleep(time.Hour)
		b.lives(id, time.Hour)
		if days := b.today(id); len(days) != 1 {
			t.Errorf("after 2 h of data: %v", days)
		}
		time.Sleep(22*time.Hour + 30*time.Minute) // after midnight
		b.lives(id, time.Minute)
		b.stop()
		b.start()
		if days := b.today(id); len(days) != 1 {
			t.Errorf("the next day, after a restart: %v", days)
		}
	})
}

func TestInsightsWarmUpEndsAfterFourHours(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		id := b.network()
		time.Sleep(time.Hour)
		b.lives(id, time.Minute)
		time.Sleep(3 * time.Hour)
		if days := b.today(id); len(days) != 0 {
			t.Errorf("3 h after the only minute: %v", days)
		}
		time.Sleep(time.Hour)
		if days := b.today(id); len(days) != 1 {
			t.Errorf("4 h after the only minute: %v", days)
		}
	})
}

func TestStoredZoneThatIsNotKnownIsUTC(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.post(master(), "")
		id := b.network()
		zoneOf := func() string {
			_, zone, err := b.Insights.Activity(t.Context(), id, 0, 900, nil)
			if err != nil {
				t.Fatal(err)
			}
			return zone.String()
		}
		if zone := zoneOf(); zone != "UTC" {
			t.Errorf("zone %s without settings", zone)
		}
		s := motion.DefaultApplicationSettings(id)
		for name, want := range map[string]string{"Asia/Kolkata": "Asia/Kolkata", "Mars/Olympus": "UTC"} {
			s.Timezone = name
			if err := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.PutApplicationSettings(s) }); err != nil {
				t.Fatal(err)
			}
			if zone := zoneOf(); zone != want {
				t.Errorf("settings say %s: zone %s, want %s", name, zone, want)
			}
		}
	})
}

func TestSettingsOfAnUnknownNetworkAreNotFound(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		_, read := b.Insights.ApplicationSettings(t.Context(), 9)
		_, changed := b.Insights.ChangeApplicationSettings(t.Context(), 9, func(*motion.ApplicationSettings) {})
		created := b.Insights.CreateApplicationSettings(t.Context(), motion.DefaultApplicationSettings(9))
		deleted := b.Insights.DeleteApplicationSettings(t.Context(), 9)
		_, days := b.Insights.ActiveDays(t.Context(), 9, 0, 1, nil)
		_, nights := b.Insights.Nights(t.Context(), 9, 0, 1, nil)
		for _, err := range []error{read, changed, created, deleted, days, nights} {
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("error %v, want a fault NotFound", err)
			}
		}
	})
}
