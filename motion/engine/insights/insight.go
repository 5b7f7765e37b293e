// Package insights tells how a household lives, from the samples and events of its network.
package insights

import (
	"context"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/insight"
	"sensegate/motion/series"
	"sensegate/store"
)

// InsightsVersion is the version of the insights interface.
const InsightsVersion = "2.0.0"

// Bounds of one question to the insights: what is read from the disk for it stays
// far below the memory of a small gateway.
const (
	MaxInsightDays = 92 // of activity and daily activity
	MaxNights      = 31 // whose samples are read at once
)

const (
	dayS = 24 * 3600
	// readS is how much of the samples is held at a time, in seconds; a multiple
	// of every bucket of the insights.
	readS = 7 * dayS
	// warmUpReach is how far back the first sample of a network is looked for. One
	// that was silent for longer warms up again.
	warmUpReach = 7 * dayS
)

// Insights tells how a household lives: activity, nights, absences, from what is stored. Make
// it with New.
type Insights struct {
	state *state.State
	off   bool
}

// New makes the insights; off leaves all but the settings unserved.
func New(s *state.State, off bool) *Insights { return &Insights{state: s, off: off} }

// Insights returns nil when the insights are enabled, else a NotFound fault
// (interfaces.md 7 no. 2).
func (i *Insights) Insights() error {
	if i.off {
		return fault.New(fault.NotFound, "insights are not enabled on this appliance")
	}
	return nil
}

// Activity returns the activity of [from, to), in seconds since the epoch, and
// the zone its days are told in: asked, else (nil) that of the network's settings,
// else UTC. More than MaxInsightDays is for the caller to refuse.
func (i *Insights) Activity(ctx context.Context, id motion.NetworkID, from, to int64, asked *time.Location) (a insight.Activity, zone *time.Location, err error) {
	if err := i.Insights(); err != nil {
		return a, nil, err
	}
	if _, zone, err = i.household(ctx, id, asked); err != nil {
		return a, nil, err
	}
	a, err = insight.ActivityOf(&series.Set{}, from, from) // the head of an empty one
	for start := from; start < to && err == nil; {
		stop := min(state.FloorTo(start, a.Interval)+readS, to)
		var set *series.Set
		if set, err = i.state.Samples(ctx, id, start, stop); err != nil {
			break
		}
		var part insight.Activity
		part, err = insight.ActivityOf(set, start, stop)
		a.Data = append(a.Data, part.Data...)
		start = stop
	}
	return a, zone, err
}

// ActiveDays returns how active the days from first to last were, both included,
// those without data left out; the zone is found as Activity finds it. It is empty
// during the warm-up. More than MaxInsightDays is for the caller to refuse.
func (i *Insights) ActiveDays(ctx context.Context, id motion.NetworkID, first, last insight.Date, asked *time.Location) ([]insight.Day, error) {
	if err := i.Insights(); err != nil {
		return nil, err
	}
	_, zone, err := i.household(ctx, id, asked)
	if err != nil {
		return nil, err
	}
	days := []insight.Day{}
	for date := first; date <= last; date += readS / dayS {
		end := min(date+readS/dayS-1, last)
		set, err := i.state.Samples(ctx, id, date.Start(zone), (end + 1).Start(zone))
		if err != nil {
			return nil, err
		}
		part, err := insight.Days(set, date, end, zone)
		if err != nil {
			return nil, err
		}
		days = append(days, part...)
	}
	if len(days) == 0 {
		return days, nil
	}
	if warm, err := i.warmedUp(ctx, id, (days[0].Date + 1).Start(zone)); !warm {
		return []insight.Day{}, err
	}
	return days, nil
}

// Nights returns the nights that the evenings from first to last begin, both
// included, as far as they are over and anything can be told of them; the zone is
// found as Activity finds it. It is empty unless the household has enabled its sleep
// times, and during the warm-up. More than MaxNights is for the caller to refuse.
func (i *Insights) Nights(ctx context.Context, id motion.NetworkID, first, last insight.Date, asked *time.Location) ([]insight.Night, error) {
	if err := i.Insights(); err != nil {
		return nil, err
	}
	settings, zone, err := i.household(ctx, id, asked)
	if err != nil {
		return nil, err
	}
	if !settings.Enabled {
		return []insight.Night{}, nil
	}
	schedule := scheduleOf(settings, zone)
	from, _ := schedule.Window(first)
	_, to := schedule.Window(last)
	set, err := i.state.Samples(ctx, id, from, to)
	if err != nil {
		return nil, err
	}
	var away []insight.Absence
	err = i.state.DB.View(ctx, func(tx *store.Tx) error {
		away, err = absences(tx, id, motion.Time(from), motion.Time(to))
		return err
	})
	if err != nil {
		return nil, err
	}
	nights, err := insight.Nights(set, schedule, first, last, i.state.Now().Second(), away...)
	if err != nil || len(nights) == 0 {
		return nights, err
	}
	if warm, err := i.warmedUp(ctx, id, nights[0].SleepTime.Unix()); !warm {
		return []insight.Night{}, err
	}
	return nights, nil
}

// scheduleOf returns when a household sleeps by its settings, on the clocks of zone.
func scheduleOf(s motion.ApplicationSettings, zone *time.Location) insight.Schedule {
	return insight.Schedule{
		SleepHour: s.SleepHour, SleepMinute: s.SleepMinute,
		WakeHour: s.WakeHour, WakeMinute: s.WakeMinute, Zone: zone,
	}
}

// warmedUp reports whether the warm-up of a network is over (insight.WarmedUp).
// There is a sample of it before second seen.
func (i *Insights) warmedUp(ctx context.Context, id motion.NetworkID, seen int64) (bool, error) {
	now := i.state.Now().Second()
	if now-seen >= dayS { // longer than any warm-up
		return true, nil
	}
	set, err := i.state.Samples(ctx, id, now-warmUpReach, now)
	if err != nil {
		return false, err
	}
	first, found, err := insight.First(set, now-warmUpReach, now)
	if err != nil || !found {
		return false, err
	}
	return insight.WarmedUp(set, first, now)
}
