package alert_test

import (
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
)

// nights is a rule from 23:00 to 06:00 in Berlin.
func nights(meta motion.Document) alert.Rule {
	return alert.Rule{
		RRule: "DTSTART;TZID=Europe/Berlin:20260101T060000\nRRULE:FREQ=DAILY", Meta: meta,
		Monitor: alert.Monitor{Mode: alert.Simple, DurationMinutes: 420}, Motion: []alert.Action{{Action: alert.Event}},
	}
}

func TestPeriodAtOnceFollowsTheClockOnTheWall(t *testing.T) {
	t.Parallel()
	atOnce := motion.Document{"sensegate": map[string]any{"at_once": true}}
	for name, c := range map[string]struct {
		meta       motion.Document
		now, start string
	}{
		"a usual night":                 {atOnce, "2026-03-10T12:00:00Z", "2026-03-10T22:00:00Z"},
		"clocks go forward":             {atOnce, "2026-03-28T12:00:00Z", "2026-03-28T22:00:00Z"},
		"clocks go back":                {atOnce, "2026-10-24T12:00:00Z", "2026-10-24T21:00:00Z"},
		"clocks go back, other clients": {motion.Document{}, "2026-10-24T12:00:00Z", "2026-10-24T22:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := nights(c.meta).Runs(now, 1)
		if err != nil || len(runs) != 1 || runs[0].Start.Std().Format(time.RFC3339) != c.start {
			t.Errorf("%s: %v %v, want %s", name, runs, err, c.start)
		}
	}
}

func TestConditionIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own  any
		mode alert.Mode
		ok   bool
	}{
		"at once":              {map[string]any{"at_once": true, "scene": "away"}, alert.Simple, true},
		"a scene":              {map[string]any{"scene": "home"}, alert.Inactivity, true},
		"an unknown scene":     {map[string]any{"scene": "night"}, alert.Simple, false},
		"no truth":             {map[string]any{"at_once": 1.0}, alert.Simple, false},
		"an unknown key":       {map[string]any{"room": "Kitchen"}, alert.Simple, false},
		"no object":            {"x", alert.Simple, false},
		"at once at a time":    {map[string]any{"at_once": true}, alert.None, false},
		"authenticated":        {map[string]any{"authenticated": true, "at_once": false}, alert.Simple, true},
		"authenticated, still": {map[string]any{"authenticated": true}, alert.Inactivity, true},
		"authenticated, timed": {map[string]any{"authenticated": true}, alert.None, false},
		"not, timed":           {map[string]any{"authenticated": false}, alert.None, true},
		"no truth again":       {map[string]any{"authenticated": "yes"}, alert.Simple, false},
		"at once, when nobody": {map[string]any{"at_once": true}, alert.Inactivity, false},
	} {
		rule := nights(nil)
		_, err := alert.New(alert.Edit{
			RRule: &rule.RRule, Monitor: &alert.Monitor{Mode: c.mode, DurationMinutes: 60, InactiveMinutes: 5},
			Meta: &motion.Document{"sensegate": c.own, "theirs": 1.0},
		}, time.Unix(1764000000, 0))
		if (err == nil) != c.ok || err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// rehearse rehearses a rule over a day from 1 January 2026 on; moving reports whether there is
// motion in a second of it, and known whether there is data.
func rehearse(t *testing.T, r alert.Rule, since time.Time, state func(at time.Time) alert.Second) (alert.Rehearsal, bool) {
	t.Helper()
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	look := func(from, to motion.Stamp) ([]alert.Second, error) {
		period := make([]alert.Second, to.Since(from)/time.Second)
		for i := range period {
			period[i] = state(from.Add(time.Duration(i) * time.Second).Std())
		}
		return period, nil
	}
	h, ok, err := r.Rehearse(motion.StampOf(since), motion.StampOf(from), motion.StampOf(from.AddDate(0, 0, 1)), look, func(motion.Stamp) string { return "home" })
	if err != nil {
		t.Fatal(err)
	}
	return h, ok
}

func TestRehearsalJudgesAsTheRuleDoes(t *testing.T) {
	t.Parallel()
	tea := alert.Rule{
		RRule: "DTSTART:20250101T100000Z\nRRULE:FREQ=DAILY", Monitor: alert.Monitor{Mode: alert.Simple, DurationMinutes: 240},
		NoMotion: []alert.Action{{Action: alert.Event}},
	}
	still := func(time.Time) alert.Second { return alert.Quiet }
	long := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if h, ok := rehearse(t, tea, long, still); !ok || len(h.Told) != 1 || h.Told[0].Std().Hour() != 10 || h.Unknown != 0 {
		t.Errorf("a still morning: %+v", h)
	}
	if h, _ := rehearse(t, tea, long, func(at time.Time) alert.Second {
		if at.Hour() == 7 {
			return alert.Moving
		}
		return alert.Quiet
	}); len(h.Told) != 0 || h.Unknown != 0 {
		t.Errorf("a usual morning: %+v", h)
	}
	if h, _ := rehearse(t, tea, long, func(time.Time) alert.Second { return alert.Unknown }); len(h.Told) != 0 || h.Unknown != 1 {
		t.Errorf("no data: %+v", h)
	}
	if h, _ := rehearse(t, tea, time.Date(2026, 1, 1, 7, 0, 0, 0, time.UTC), still); len(h.Told) != 0 {
		t.Errorf("who came at seven is told of %+v", h)
	}
	for rule, times := range map[string]int{ // as if it had been there already
		"DTSTART:20260301T100000Z\nRRULE:FREQ=DAILY": 1, "DTSTART;TZID=Asia/Kolkata:20260305T120000\nRRULE:FREQ=WEEKLY;BYDAY=TH": 1,
		"DTSTART:20260301T100000Z\nRRULE:FREQ=WEEKLY;BYDAY=MO": 0, "DTSTART:20260301T100000Z\nRRULE:FREQ=DAILY;COUNT=3": 0, "DTSTART:20260301T100000Z\nRRULE:FREQ=MONTHLY": 0,
	} {
		later := tea
		later.RRule = rule
		if h, ok := rehearse(t, later, long, still); !ok || len(h.Told) != times {
			t.Errorf("%s: %+v, want %d", rule, h, times)
		}
	}
	away := tea
	away.Meta = motion.Document{"sensegate": map[string]any{"scene": "away"}}
	if h, _ := rehearse(t, away, long, still); len(h.Told) != 0 {
		t.Errorf("at home: %+v", h)
	}
	nap := tea
	nap.Monitor = alert.Monitor{Mode: alert.Inactivity, DurationMinutes: 120, InactiveMinutes: 30, RepeatMonitoring: true}
	if h, _ := rehearse(t, nap, long, still); len(h.Told) != 4 {
		t.Errorf("two still hours, each half hour: %+v", h)
	}
	dense := tea
	dense.RRule, dense.Monitor.DurationMinutes = "DTSTART:20250101T100000Z\nRRULE:FREQ=HOURLY", 7*24*60
	if _, ok := rehearse(t, dense, long, still); ok {
		t.Error("24 weeks of seconds were judged")
	}
}
