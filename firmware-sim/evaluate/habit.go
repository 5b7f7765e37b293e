package evaluate

import (
	"slices"
	"time"

	"sensegate/firmware-sim/scenario"
	"sensegate/motion/insight"
)

// habit changes the days of the people of a scenario, and the hours they configure.
type habit struct {
	name     string
	schedule insight.Schedule // without a zone
	day      func([]scenario.Stay) []scenario.Stay
	alone    bool // day changes only the first person's days
	holiday  bool // all people are away from Friday noon to Monday noon
}

// habits returns the habits for which nights are scored; the first is the scenario's
// own with the default hours.
func habits() []habit {
	usual := insight.Schedule{SleepHour: 23, WakeHour: 7}
	return []habit{
		{name: "usual", schedule: usual},
		{name: "early birds", schedule: insight.Schedule{SleepHour: 21, SleepMinute: 30, WakeHour: 5, WakeMinute: 30}, day: later(-90 * time.Minute)},
		{name: "late sitters", schedule: insight.Schedule{SleepHour: 1, SleepMinute: 30, WakeHour: 9, WakeMinute: 30}, day: later(150 * time.Minute)},
		{name: "evenings out", schedule: usual, day: func(stays []scenario.Stay) []scenario.Stay {
			return instead(stays, 18*time.Hour+30*time.Minute, 22*time.Hour+10*time.Minute, scenario.Stay{Does: scenario.Away})
		}},
		{name: "up at night", schedule: usual, alone: true, day: func(stays []scenario.Stay) []scenario.Stay {
			return instead(stays, 3*time.Hour, 3*time.Hour+15*time.Minute, scenario.Stay{Room: "Kitchen", Does: scenario.Moves})
		}},
		{name: "early, hours not set", schedule: usual, day: later(-90 * time.Minute)},
		{name: "late, hours not set", schedule: usual, day: later(90 * time.Minute)},
		{name: "weekends away", schedule: usual, holiday: true},
	}
}

// of returns the scenario with the days of the habit.
func (h habit) of(home *scenario.Scenario) *scenario.Scenario {
	changed := *home
	changed.People = slices.Clone(home.People)
	for i := range changed.People {
		p := &changed.People[i]
		if h.day != nil && (i == 0 || !h.alone) {
			p.Day = h.day(p.Day)
			if p.Weekend != nil {
				p.Weekend = h.day(p.Weekend)
			}
		}
	}
	return &changed
}

// plan returns the day of the home that begins at midnight.
func (h habit) plan(home *scenario.Scenario, seed uint64, midnight time.Time) *scenario.Day {
	if !h.holiday {
		return home.Day(seed, midnight)
	}
	const noon = 12 * time.Hour
	away := scenario.Stay{Does: scenario.Away}
	gone := *home
	gone.People = slices.Clone(home.People)
	for i := range gone.People {
		p := &gone.People[i]
		usual := p.Day
		if weekday := midnight.Weekday(); len(p.Weekend) > 0 && (weekday == time.Saturday || weekday == time.Sunday) {
			usual = p.Weekend
		}
		switch midnight.Weekday() {
		case time.Friday:
			usual = instead(usual, noon, 24*time.Hour, away)
		case time.Saturday, time.Sunday:
			usual = []scenario.Stay{away}
		case time.Monday:
			usual = instead(usual, 0, noon, away)
		}
		p.Day, p.Weekend = usual, nil
	}
	return gone.Day(seed, midnight)
}

// later returns a function that shifts the stays of a day, modulo 24 h. The last stay
// also begins the day.
func later(by time.Duration) func([]scenario.Stay) []scenario.Stay {
	const day = 24 * time.Hour
	return func(stays []scenario.Stay) []scenario.Stay {
		var moved []scenario.Stay
		for i, stay := range stays {
			last := stays[len(stays)-1]
			if i == 0 && stay.Room == last.Room && stay.Does == last.Does {
				continue // continues the day before
			}
			stay.From = (stay.From + by + day) % day
			moved = append(moved, stay)
		}
		slices.SortFunc(moved, func(a, b scenario.Stay) int { return int(a.From - b.From) })
		begin := moved[len(moved)-1]
		begin.From = 0
		return append([]scenario.Stay{begin}, moved...)
	}
}

// instead returns a day with other from one time of day to another, and the stays of
// the day before and after.
func instead(stays []scenario.Stay, from, to time.Duration, other scenario.Stay) []scenario.Stay {
	other.From = from
	var changed []scenario.Stay
	after := stays[0]
	for _, stay := range stays {
		if stay.From <= to {
			after = stay
		}
		if stay.From < from {
			changed = append(changed, stay)
		}
	}
	changed = append(changed, other)
	if to < 24*time.Hour {
		after.From = to
		changed = append(changed, after)
	}
	for _, stay := range stays {
		if stay.From > to {
			changed = append(changed, stay)
		}
	}
	return changed
}
