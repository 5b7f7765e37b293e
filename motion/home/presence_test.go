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
		after := home.Membership{}.Report(home.PresenceReport{Present: true, TS: c.ts}, nil, received)
		if after.PresenceAt != c.want || after.ServerClock != c.server || !after.Changed || !after.IsPresent {
			t.Errorf("%s: %+v, want %v, server %t", name, after, c.want, c.server)
		}
	}
}

// two are the mobile devices of the tests' person.
var two = []home.MobileID{7, 8}

// reports draws reports of two devices, of one or of both, at different times.
func reports(t *rapid.T) []home.PresenceReport {
	ages := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 1, 12, rapid.ID[int]).Draw(t, "ages")
	list := make([]home.PresenceReport, len(ages))
	for i, age := range ages {
		list[i] = home.PresenceReport{
			Device:  rapid.SampledFrom([]home.MobileID{0, 7, 8}).Draw(t, "device"),
			Present: rapid.Bool().Draw(t, "present"),
			TS:      received - motion.Time(age),
		}
	}
	return list
}

func TestNewestReportOfEachDeviceWinsInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := reports(t)
		want := false
		for _, device := range two {
			var newest home.PresenceReport
			for _, r := range list {
				if (r.Device == device || r.Device == 0) && r.TS >= newest.TS {
					newest = r
				}
			}
			want = want || newest.Present
		}
		var m home.Membership
		for _, r := range list {
			before := m
			after := m.Report(r, two, received)
			if after.Changed != (after.IsPresent != before.IsPresent) {
				t.Fatalf("changed is %t from %+v to %+v", after.Changed, before, after)
			}
			if m = after.Membership; m.PresenceAt < before.PresenceAt {
				t.Fatalf("time went back from %+v to %+v", before, m)
			}
		}
		if m.IsPresent != want {
			t.Fatalf("present is %t, want %t: %+v", m.IsPresent, want, m)
		}
	})
}

func TestPresenceIsThatOfTheDevices(t *testing.T) {
	t.Parallel()
	type said struct {
		device  home.MobileID
		present bool
	}
	for name, c := range map[string]struct {
		before home.Membership
		own    []home.MobileID
		said   []said
		want   bool
	}{
		"one of two has left":                   {own: two, said: []said{{7, true}, {8, true}, {7, false}}, want: true},
		"both have left":                        {own: two, said: []said{{7, true}, {8, true}, {7, false}, {8, false}}},
		"a report without device is of all":     {own: two, said: []said{{7, true}, {8, true}, {0, false}}},
		"entered without device, one has left":  {own: two, said: []said{{0, true}, {7, false}}, want: true},
		"nothing is registered":                 {said: []said{{0, true}, {0, false}}},
		"registered after a report without one": {before: home.Membership{IsPresent: true, Devices: []home.DevicePresence{{Present: true, At: received - 100}}}, own: two, said: []said{{7, false}}},
		"what an unknown one said later counts": {before: home.Membership{IsPresent: true, Devices: []home.DevicePresence{{Present: true, At: received + 100}}}, own: two, said: []said{{7, false}}, want: true},
	} {
		m := c.before
		for i, s := range c.said {
			m = m.Report(home.PresenceReport{Device: s.device, Present: s.present, TS: received + motion.Time(i)}, c.own, received).Membership
		}
		if m.IsPresent != c.want {
			t.Errorf("%s: present is %t, want %t: %+v", name, m.IsPresent, c.want, m)
		}
	}
}

func TestDeviceThatIsGoneIsNotPresent(t *testing.T) {
	t.Parallel()
	m := home.Membership{}.Report(home.PresenceReport{Device: 7, Present: true, TS: received}, two, received).Membership
	if left, said := m.Without(8); said || !left.IsPresent {
		t.Errorf("without another: %+v", left)
	}
	if left, said := m.Without(7); !said || left.IsPresent || !m.IsPresent {
		t.Errorf("without it: %+v of %+v", left, m)
	}
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
