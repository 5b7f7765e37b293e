package home_test

import (
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

const received motion.Time = 1764000000

func TestPresenceIsReadInBothWays(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	word := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		event     *string
		isPresent *bool
		want      bool
		wrong     bool
	}{
		"enter":                 {event: word("enter"), want: true},
		"exit":                  {event: word("exit")},
		"leave":                 {event: word("leave")},
		"flag":                  {isPresent: &yes, want: true},
		"flag down":             {isPresent: &no},
		"both":                  {event: word("enter"), isPresent: &yes, want: true},
		"both, away":            {event: word("leave"), isPresent: &no},
		"contradiction":         {event: word("enter"), isPresent: &no, wrong: true},
		"contradiction in exit": {event: word("exit"), isPresent: &yes, wrong: true},
		"neither":               {wrong: true},
		"another word":          {event: word("dwell"), isPresent: &yes, wrong: true},
	} {
		got, err := home.Presence(c.event, c.isPresent)
		if got != c.want && !c.wrong || (fault.KindOf(err) == fault.Invalid) != c.wrong {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}

func TestReportsAreTimedByThePhoneWithinBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ts, want motion.Time
		server   bool
	}{
		"its own time":        {received - 60, received - 60, false},
		"a day old":           {received - 24*3600, received - 24*3600, false},
		"more than a day old": {received - 24*3600 - 1, received, true},
		"5 minutes ahead":     {received + 300, received + 300, false},
		"further ahead":       {received + 301, received, true},
		"in milliseconds":     {received * 1000, received, true},
		"no time":             {0, received, true},
	} {
		after := home.Membership{}.Report(home.PresenceReport{Present: true, TS: c.ts}, received)
		if after.PresenceAt != c.want || after.ServerClock != c.server || !after.Changed || !after.IsPresent {
			t.Errorf("%s: %+v, want %v, server %t", name, after, c.want, c.server)
		}
	}
}

// reports draws reports with a few times, so that some are equal.
func reports(t *rapid.T) []home.PresenceReport {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) home.PresenceReport {
		return home.PresenceReport{
			Present: rapid.Bool().Draw(t, "present"),
			TS:      received - motion.Time(rapid.IntRange(0, 20).Draw(t, "age")),
		}
	}), 1, 12).Draw(t, "reports")
}

func TestNewestReportWinsInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := reports(t)
		var newest home.PresenceReport
		for _, r := range list {
			if r.TS >= newest.TS {
				newest = r
			}
		}
		if got := home.Newest(list, received); got != newest {
			t.Fatalf("newest %+v, want %+v", got, newest)
		}
		var m home.Membership
		for _, r := range list {
			before := m
			after := m.Report(r, received)
			if after.Changed != (after.IsPresent != before.IsPresent) {
				t.Fatalf("changed is %t from %+v to %+v", after.Changed, before, after)
			}
			if m = after.Membership; m.PresenceAt < before.PresenceAt {
				t.Fatalf("time went back from %+v to %+v", before, m)
			}
		}
		if m.PresenceAt != newest.TS || m.IsPresent != newest.Present {
			t.Fatalf("one by one %+v, want as of %+v", m, newest)
		}
		bulk := home.Membership{}.Report(home.Newest(list, received), received)
		if bulk.Membership != m {
			t.Fatalf("together %+v, one by one %+v", bulk.Membership, m)
		}
	})
}

func TestSceneFollowsTheFirstAndTheLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scene := rapid.SampledFrom(home.Scenes()).Draw(t, "scene")
		before, after := rapid.IntRange(0, 4).Draw(t, "before"), rapid.IntRange(0, 4).Draw(t, "after")
		want := scene
		if (before == 0) != (after == 0) {
			want = home.AtHome
			if after == 0 {
				want = home.Away
			}
		}
		if got := scene.Follow(before, after); got != want {
			t.Fatalf("%v with %d, then %d at home: %v, want %v", scene, before, after, got, want)
		}
	})
}
