package insights

import (
	"context"
	"math"

	"sensegate/motion"
	"sensegate/motion/insight"
	"sensegate/store"
)

// SleepSettings returns when a household sleeps: the application settings of its
// network, or the template when it has none (interfaces.md 2.4 no. 1).
func (i *Insights) SleepSettings(ctx context.Context, id motion.NetworkID) (motion.ApplicationSettings, error) {
	s, _, err := i.household(ctx, id, nil)
	return s, err
}

// ChangeSleepSettings changes when a household sleeps and returns what then is in
// force; the caller has checked what change sets. Until the feature is enabled for the
// first time nothing is kept (interfaces.md 2.4 no. 1).
func (i *Insights) ChangeSleepSettings(ctx context.Context, id motion.NetworkID, change func(*motion.ApplicationSettings)) (s motion.ApplicationSettings, err error) {
	err = i.state.Update(ctx, id, func(tx *store.Tx) error {
		before, err := tx.SettingsInForce(id)
		if err != nil {
			return err
		}
		s = before
		if change(&s); !s.Enabled && neverEnabled(before) {
			s = before
			return nil
		}
		return tx.PutApplicationSettings(s)
	})
	return s, err
}

// neverEnabled reports whether settings are the template, but for the time zone.
func neverEnabled(s motion.ApplicationSettings) bool {
	template := motion.DefaultApplicationSettings(s.NetworkID)
	template.Timezone = s.Timezone
	return s == template
}

// SleepTimes tell how a household slept lately, and when it was away (payloads.md 5.6).
type SleepTimes struct {
	insight.Averages                     // of the nights that are known; all unknown when none is
	MotionState      insight.MotionState // from the local midnight before the first night until now
}

// SleepTimes returns how a household slept in the last nights, so many of them, as far
// as they began after since, in the zone and by the hours of its settings. More than
// MaxNights is for the caller to refuse.
func (i *Insights) SleepTimes(ctx context.Context, id motion.NetworkID, nights int, since motion.Time) (t SleepTimes, err error) {
	if err := i.Insights(); err != nil {
		return t, err
	}
	settings, zone, err := i.household(ctx, id, nil)
	if err != nil {
		return t, err
	}
	now := i.state.Now()
	from := max((insight.DateOf(now.Second(), zone) - insight.Date(nights)).Start(zone), secondFrom(since))
	known, err := i.lastNights(ctx, id, scheduleOf(settings, zone), nights, since)
	if err != nil {
		return t, err
	}
	t.Averages = insight.AverageOf(known)
	err = i.state.DB.View(ctx, func(tx *store.Tx) error {
		changes, err := tx.ArmedChanges(id, motion.Time(from), now)
		t.MotionState = insight.MotionStateOf(changes, from, now.Second())
		return err
	})
	return t, err
}

// lastNights returns what is known of the nights that the last evenings, so many of them before
// today, began, as far as they began after since.
func (i *Insights) lastNights(ctx context.Context, id motion.NetworkID, schedule insight.Schedule, evenings int, since motion.Time) ([]insight.Night, error) {
	today := insight.DateOf(i.state.Now().Second(), schedule.Zone)
	first := today - insight.Date(evenings)
	for ; first < today; first++ {
		if begins, _ := schedule.Window(first); begins >= secondFrom(since) {
			break
		}
	}
	if first == today {
		return nil, nil
	}
	return i.Nights(ctx, id, first, today-1, nil)
}

// LastNights returns what is known of the last nights of a household, so many of them, as far as
// they began after since, and the settings by which. More than MaxNights is for the caller
// to refuse.
func (i *Insights) LastNights(ctx context.Context, id motion.NetworkID, nights int, since motion.Time) ([]insight.Night, motion.ApplicationSettings, error) {
	if err := i.Insights(); err != nil {
		return nil, motion.ApplicationSettings{}, err
	}
	settings, zone, err := i.household(ctx, id, nil)
	if err != nil || !settings.Enabled {
		return nil, settings, err
	}
	known, err := i.lastNights(ctx, id, scheduleOf(settings, zone), nights, since)
	return known, settings, err
}

// RecentActivity returns the activity from the local midnight so many days before today
// until now, but nothing of before since. More than MaxInsightDays is for the caller
// to refuse.
func (i *Insights) RecentActivity(ctx context.Context, id motion.NetworkID, days int, since motion.Time) (insight.Activity, error) {
	if err := i.Insights(); err != nil {
		return insight.Activity{}, err
	}
	_, zone, err := i.household(ctx, id, nil)
	if err != nil {
		return insight.Activity{}, err
	}
	now := i.state.Now().Second()
	from := max((insight.DateOf(now, zone) - insight.Date(days)).Start(zone), secondFrom(since))
	a, _, err := i.Activity(ctx, id, from, now, zone)
	return a, err
}

// secondFrom returns the first whole second that is not before t.
func secondFrom(t motion.Time) int64 { return int64(math.Ceil(float64(t))) }
