package alert_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/alert"
)

// home is a history that tests write: seconds from a start, unknown elsewhere, and
// whether devices may report more of it.
type home struct {
	start   time.Time
	seconds []alert.Second
	more    bool
}

func (h home) look(from, to time.Time) ([]alert.Second, bool) {
	list := make([]alert.Second, to.Sub(from)/time.Second)
	for i := range list {
		at := int(from.Sub(h.start)/time.Second) + i
		if at >= 0 && at < len(h.seconds) {
			list[i] = h.seconds[at]
		}
	}
	return list, h.more
}

func daily(monitor string) string {
	return `{"rrule":"DTSTART:20260101T080000Z\nRRULE:FREQ=DAILY","monitor":` + monitor + `,
		"motion_actions":[{"action":"event","payload":{"data":{"title":"motion"}}}],
		"no_motion_actions":[{"action":"event","payload":{"data":{"title":"no motion"}}}],
		"no_history_actions":[{"action":"event","payload":{"data":{"title":"no history"}}}]}`
}

const (
	atTime     = `{"monitor_mode":"NONE"}`
	simpleHour = `{"monitor_mode":"SIMPLE","duration_minutes":60}`
	halfHours  = `{"monitor_mode":"INACTIVITY","duration_minutes":120,"inactive_minutes":30}`
	onlyOnce   = `{"monitor_mode":"INACTIVITY","duration_minutes":120,"inactive_minutes":30,"repeat_monitoring":false}`
)

// run steps a job at the given times of day ("15:04" or "15:04:05", later "+1d
// 15:04", "-1d 15:04" from 2026-01-10) and tells what came of it. Between two
// steps the job goes through its stored form, as after a restart.
func run(t testing.TB, j alert.Job, look alert.Look, times ...string) (alert.Job, []string) {
	t.Helper()
	var told []string
	for _, clock := range times {
		now := on(t, clock)
		raw, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		j = alert.Job{}
		if err := json.Unmarshal(raw, &j); err != nil {
			t.Fatal(err)
		}
		next, result, err := j.Step(now, look)
		if err != nil {
			t.Fatal(err)
		}
		j = next
		if s := result.Skipped; s != nil {
			told = append(told, clock+": "+s.String())
		}
		if f := result.Fired; f != nil {
			text := fmt.Sprintf("%s: %s of %s", clock, f.Verdict, f.Target.Std().Format("02 15:04"))
			if f.Late > 0 {
				text += ", late " + f.Late.String()
			}
			told = append(told, text)
		}
	}
	return j, told
}

func on(t testing.TB, clock string) time.Time {
	t.Helper()
	day := at("2026-01-10T00:00:00Z")
	if days, rest, ok := strings.Cut(clock, "d "); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err != nil {
			t.Fatal(err)
		}
		day, clock = day.AddDate(0, 0, n), rest
	}
	for _, form := range []string{"15:04:05", "15:04"} {
		if c, err := time.Parse(form, clock); err == nil {
			return day.Add(c.Sub(c.Truncate(24 * time.Hour)))
		}
	}
	t.Fatalf("clock %q", clock)
	return day
}

// every returns the times from one to another, a minute apart, and three seconds after each.
func every(t testing.TB, from, to string) []string {
	var list []string
	for c := on(t, from); !c.After(on(t, to)); c = c.Add(time.Minute) {
		list = append(list, c.Format("15:04"), c.Add(3*time.Second).Format("15:04:05"))
	}
	return list
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	quiet := home{on(t, "00:00"), minutes("3000."), false}
	silent := home{}
	lateData := home{on(t, "07:00"), minutes("55."), true}
	for name, c := range map[string]struct {
		monitor string
		home    home
		times   []string
		want    []string
	}{
		"on time, once":                   {atTime, silent, every(t, "07:50", "08:20"), []string{"08:00: time of 10 08:00"}},
		"quiet":                           {simpleHour, quiet, every(t, "07:50", "08:20"), []string{"08:00:03: no_motion of 10 08:00"}},
		"motion":                          {simpleHour, home{on(t, "07:00"), minutes("m 59."), false}, every(t, "07:50", "08:20"), []string{"08:00:03: motion of 10 08:00"}},
		"no data, none to come":           {simpleHour, silent, every(t, "07:50", "08:20"), []string{"08:00:03: no_history of 10 08:00"}},
		"no data, after it has settled":   {simpleHour, home{more: true}, every(t, "07:50", "08:20"), []string{"08:05: no_history of 10 08:00"}},
		"nine tenths of the data":         {simpleHour, lateData, every(t, "07:50", "08:20"), []string{"08:00:03: no_motion of 10 08:00"}},
		"missed by 14 minutes":            {atTime, silent, []string{"07:00", "08:14"}, []string{"08:14: time of 10 08:00, late 14m0s"}},
		"missed by 15 minutes":            {atTime, silent, []string{"07:00", "08:15"}, []string{"08:15: time of 10 08:00, late 15m0s"}},
		"missed by more":                  {atTime, silent, []string{"07:00", "08:15:01"}, []string{"08:15:01: missed the occurrence of 2026-01-10T08:00:00Z"}},
		"missed by days":                  {atTime, silent, []string{"07:00", "3d 08:05", "3d 08:06"}, []string{"3d 08:05: missed 3 occurrences from 2026-01-10T08:00:00Z to 2026-01-12T08:00:00Z", "3d 08:05: time of 13 08:00, late 5m0s"}},
		"clock a year ahead and back":     {atTime, silent, []string{"07:00", "365d 10:00", "365d 10:01", "07:02", "07:30", "08:00", "08:01", "1d 08:00"}, []string{"365d 10:00: missed 366 occurrences from 2026-01-10T08:00:00Z to 2027-01-10T08:00:00Z", "08:00: time of 10 08:00", "1d 08:00: time of 11 08:00"}},
		"fired, clock a year ahead, back": {atTime, silent, []string{"08:00", "365d 08:00", "08:01", "08:02", "1d 08:00"}, []string{"08:00: time of 10 08:00", "365d 08:00: missed 364 occurrences from 2026-01-11T08:00:00Z to 2027-01-09T08:00:00Z", "365d 08:00: time of 10 08:00", "1d 08:00: time of 11 08:00"}},
		"clock starts in 1970":            {atTime, silent, []string{"08:00", "-20460d 00:00", "-20460d 00:16", "08:05", "1d 08:00"}, []string{"08:00: time of 10 08:00", "1d 08:00: time of 11 08:00"}},
		"clock leaps to and fro":          {atTime, silent, []string{"365d 07:55", "365d 08:00", "-20460d 00:00", "08:20", "365d 08:05"}, []string{"365d 07:55: missed 365 occurrences from 2026-01-10T08:00:00Z to 2027-01-09T08:00:00Z", "365d 08:00: time of 10 08:00"}},
		"clock back an hour":              {atTime, silent, []string{"08:00", "07:01", "07:30", "08:00", "08:01", "1d 08:00"}, []string{"08:00: time of 10 08:00", "1d 08:00: time of 11 08:00"}},
		"clock back three days, stays":    {atTime, silent, []string{"08:00", "1d 08:00", "2d 08:00", "3d 08:00", "07:00", "07:16", "08:00", "1d 08:00", "2d 08:00", "3d 08:00"}, []string{"08:00: time of 10 08:00", "1d 08:00: time of 11 08:00", "2d 08:00: time of 12 08:00", "3d 08:00: time of 13 08:00", "1d 08:00: time of 11 08:00", "2d 08:00: time of 12 08:00", "3d 08:00: time of 13 08:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := create(t, daily(c.monitor), "2026-01-10T06:00:00Z")
			if _, got := run(t, j, c.home.look, c.times...); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestInactivityWithinThePeriod(t *testing.T) {
	t.Parallel()
	since := func(text string) home { return home{on(t, "06:00"), minutes(text), true} }
	for name, c := range map[string]struct {
		monitor string
		home    home
		times   []string
		want    []string
	}{
		"quiet throughout, repeated": {halfHours, since("120."), every(t, "05:50", "08:20"), []string{
			"06:30:03: no_motion of 10 08:00", "07:00:03: no_motion of 10 08:00", "07:30:03: no_motion of 10 08:00", "08:00:03: no_motion of 10 08:00"}},
		"quiet throughout, once":   {onlyOnce, since("120."), every(t, "05:50", "08:20"), []string{"06:30:03: no_motion of 10 08:00"}},
		"active throughout":        {halfHours, since("20. m 20. m 20. m 20. m 20. m 15."), every(t, "05:50", "08:20"), []string{"08:00:03: motion of 10 08:00"}},
		"quiet after motion":       {halfHours, since("20. m 90. 9m"), every(t, "05:50", "08:20"), []string{"06:51:03: no_motion of 10 08:00", "07:21:03: no_motion of 10 08:00", "07:51:03: no_motion of 10 08:00"}},
		"quiet at the very end":    {onlyOnce, since("20. m 20. m 20. m 20. m 6m 30."), every(t, "05:50", "08:20"), []string{"08:00:03: no_motion of 10 08:00"}},
		"no data":                  {halfHours, since("120?"), every(t, "05:50", "08:20"), []string{"08:05: no_history of 10 08:00"}},
		"a gap, then quiet":        {onlyOnce, since("20. 20? 80."), every(t, "05:50", "08:20"), []string{"07:07:03: no_motion of 10 08:00"}},
		"stopped over the alerts":  {halfHours, since("120."), []string{"06:00", "07:10:03", "07:20", "07:40:06", "08:10", "08:11"}, []string{"07:10:03: no_motion of 10 08:00, late 40m0s", "07:40:06: no_motion of 10 08:00"}},
		"stopped over the target":  {halfHours, since("m 119."), []string{"06:00", "06:31:03", "08:30"}, []string{"06:31:03: no_motion of 10 08:00"}},
		"stopped for all of it":    {halfHours, since("120."), []string{"05:00", "08:30"}, []string{"08:30: missed the occurrence of 2026-01-10T08:00:00Z"}},
		"started again at the end": {halfHours, since("m 119."), []string{"06:00", "08:10:03"}, []string{"08:10:03: no_motion of 10 08:00, late 10m0s"}},
		"clock back in the period": {onlyOnce, since("120."), []string{"06:30:03", "06:10", "06:30:03", "06:31", "08:00"}, []string{"06:30:03: no_motion of 10 08:00"}},
		"clock back, repeated":     {halfHours, since("120."), []string{"06:30:03", "06:29", "06:31", "06:59", "07:00", "07:00:03"}, []string{"06:30:03: no_motion of 10 08:00", "07:00:03: no_motion of 10 08:00"}},
		"not before it was made":   {halfHours, home{on(t, "00:00"), minutes("1000."), false}, []string{"05:00", "05:59", "06:29", "06:30:02", "06:30:03"}, []string{"06:30:03: no_motion of 10 08:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := create(t, daily(c.monitor), "2026-01-10T05:00:00Z")
			if _, got := run(t, j, c.home.look, c.times...); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestWindowsAreJudgedToTheSecond: the window of a target is [target − duration, target],
// wherever in the minute that lies (payloads.md 4.10).
func TestWindowsAreJudgedToTheSecond(t *testing.T) {
	t.Parallel()
	const (
		simple     = `{"monitor_mode":"SIMPLE","duration_minutes":1}`
		inactivity = `{"monitor_mode":"INACTIVITY","duration_minutes":3,"inactive_minutes":1,"repeat_monitoring":false}`
	)
	for name, c := range map[string]struct {
		monitor      string
		moving       [2]int // seconds from 07:57:00, [from, to)
		at           string
		verdict      alert.Verdict
		first, until string // the window that was judged
	}{
		"simple: motion inside":           {simple, [2]int{195, 228}, "08:00:53", alert.Motion, "07:59:50", "08:00:50"},
		"simple: the first second":        {simple, [2]int{170, 171}, "08:00:53", alert.Motion, "07:59:50", "08:00:50"},
		"simple: the last second":         {simple, [2]int{229, 230}, "08:00:53", alert.Motion, "07:59:50", "08:00:50"},
		"simple: just before":             {simple, [2]int{160, 170}, "08:00:53", alert.NoMotion, "07:59:50", "08:00:50"},
		"simple: just after":              {simple, [2]int{230, 233}, "08:00:53", alert.NoMotion, "07:59:50", "08:00:50"},
		"inactivity: at the beginning":    {inactivity, [2]int{110, 230}, "07:58:53", alert.NoMotion, "07:57:50", "07:58:50"},
		"inactivity: a second too short":  {inactivity, [2]int{109, 171}, "08:00:53", alert.Motion, "07:57:50", "08:00:50"},
		"inactivity: after motion":        {inactivity, [2]int{80, 101}, "07:59:44", alert.NoMotion, "07:58:41", "07:59:41"},
		"inactivity: up to the target":    {inactivity, [2]int{80, 170}, "08:00:53", alert.NoMotion, "07:57:50", "08:00:50"},
		"inactivity: one second is short": {inactivity, [2]int{80, 171}, "08:00:53", alert.Motion, "07:57:50", "08:00:50"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := home{on(t, "07:57"), minutes("6."), true}
			for i := c.moving[0]; i < c.moving[1]; i++ {
				h.seconds[i] = alert.Moving
			}
			j := create(t, `{"rrule":"DTSTART:20260101T080050Z\nRRULE:FREQ=DAILY","monitor":`+c.monitor+`}`, "2026-01-10T05:00:00Z")
			for now := on(t, "07:57"); ; now = now.Add(time.Second) {
				if now.After(on(t, "08:02")) {
					t.Fatal("did not fire")
				}
				next, result, err := j.Step(now, h.look)
				if err != nil {
					t.Fatal(err)
				}
				if j = next; result.Fired == nil {
					continue
				}
				f := result.Fired
				first, until := f.From.Std().Format(time.TimeOnly), f.To.Std().Format(time.TimeOnly)
				if got := now.Format(time.TimeOnly); got != c.at || f.Verdict != c.verdict || first != c.first || until != c.until || f.Late != 0 {
					t.Errorf("at %s: %s of %s to %s, late %v; want %+v", got, f.Verdict, first, until, f.Late, c)
				}
				return
			}
		})
	}
}

func TestLateDataIsWaitedFor(t *testing.T) {
	t.Parallel()
	j := create(t, daily(simpleHour), "2026-01-10T05:00:00Z")
	known := home{on(t, "07:00"), minutes("50."), true}
	j, got := run(t, j, known.look, every(t, "07:55", "08:04")...)
	if len(got) > 0 || j.Status().State != alert.Active || j.Status().AttemptsMade != 5 {
		t.Fatalf("got %q and %+v, want to wait", got, j.Status())
	}
	known.seconds = minutes("50. 10m")
	_, got = run(t, j, known.look, every(t, "08:05", "08:20")...)
	if want := []string{"08:05: motion of 10 08:00, late 4m57s"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestInactivityIsLookedAtOnlyWhenItCanBe(t *testing.T) {
	t.Parallel()
	j := create(t, daily(halfHours), "2026-01-10T05:00:00Z")
	active := home{on(t, "06:00"), minutes("20. m 20. m 20. m 20. m 20. m 15."), false}
	looks := 0
	count := func(from, to time.Time) ([]alert.Second, bool) {
		looks++
		return active.look(from, to)
	}
	run(t, j, count, every(t, "05:00", "08:00")...)
	if looks != 6 {
		t.Errorf("looked %d times, want 6: after 30 minutes, 30 minutes after each motion, and at the target", looks)
	}
}

func TestLastOccurrenceSwitchesOff(t *testing.T) {
	t.Parallel()
	const body = `{"rrule":"DTSTART:20260110T080000Z\nRRULE:FREQ=DAILY;COUNT=2","monitor":{"monitor_mode":"NONE"}}`
	j := create(t, body, "2026-01-10T06:00:00Z")
	j, got := run(t, j, nil, "08:00", "08:01", "1d 08:00")
	if len(got) != 2 || j.Rule.Enabled || j.Status().State != alert.Completed {
		t.Fatalf("got %q, enabled %t, %s", got, j.Rule.Enabled, j.Status().State)
	}
	if want := motion.StampOf(on(t, "1d 08:00")); motion.Stamp(j.Rule.Target) != want {
		t.Errorf("target %d, want the last one, %d", j.Rule.Target, want)
	}
	if _, got := run(t, j, nil, "1d 08:01", "2d 08:00", "09:00", "09:20", "1d 08:00"); len(got) > 0 {
		t.Errorf("finished, but %q", got)
	}
	now := on(t, "1d 09:00")
	for _, body := range []string{`{"enabled":true}`, `{"enabled":true,"rrule":"DTSTART:20260110T080000Z\nRRULE:FREQ=DAILY;COUNT=1"}`} {
		_, err := j.Patch(edit(t, body), now)
		if diff := cmp.Diff([]string{"body.rrule"}, locations(t, err)); diff != "" {
			t.Errorf("%s: mistakes (-want +got):\n%s", body, diff)
		}
	}
	j, err := j.Patch(edit(t, `{"enabled":true,"rrule":"DTSTART:20260110T080000Z\nRRULE:FREQ=DAILY;COUNT=3"}`), now)
	if err != nil {
		t.Fatal(err)
	}
	j, got = run(t, j, nil, "1d 09:01", "2d 08:00", "2d 08:01")
	if want := []string{"2d 08:00: time of 12 08:00"}; !slices.Equal(got, want) || j.Rule.Enabled {
		t.Errorf("re-armed: got %q, want %q; enabled %t", got, want, j.Rule.Enabled)
	}
}

func TestSingleShotSurvivesAClockThatJumpedOverIt(t *testing.T) {
	t.Parallel()
	j := create(t, `{"rrule":"DTSTART:20260111T080000Z\nRRULE:FREQ=DAILY;COUNT=1","monitor":{"monitor_mode":"NONE"}}`, "2026-01-10T06:00:00Z")
	j, _ = run(t, j, nil, "365d 06:00")
	if j.Rule.Enabled || j.Status().State != alert.Completed || *j.Status().FailedReason != "missed the occurrence of 2026-01-11T08:00:00Z" {
		t.Fatalf("enabled %t, status %+v", j.Rule.Enabled, j.Status())
	}
	j, got := run(t, j, nil, "07:00", "07:20", "1d 08:00", "1d 08:01")
	if want := []string{"1d 08:00: time of 11 08:00"}; !slices.Equal(got, want) || j.Rule.Enabled {
		t.Errorf("got %q, want %q; enabled %t", got, want, j.Rule.Enabled)
	}
}

func TestSkippedRuleGoesOnWhereTheClockReturns(t *testing.T) {
	t.Parallel()
	j := create(t, `{"rrule":"DTSTART:20260110T080000Z\nRRULE:FREQ=DAILY;COUNT=3","monitor":{"monitor_mode":"NONE"}}`, "2026-01-10T06:00:00Z")
	_, got := run(t, j, nil, "365d 06:00", "1d 07:00", "1d 08:00", "2d 08:00")
	want := []string{"365d 06:00: missed 3 occurrences from 2026-01-10T08:00:00Z to 2026-01-12T08:00:00Z", "1d 08:00: time of 11 08:00", "2d 08:00: time of 12 08:00"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFinishedRuleStaysFinished(t *testing.T) {
	t.Parallel()
	j := create(t, `{"rrule":"DTSTART:20260110T080000Z\nRRULE:FREQ=DAILY;COUNT=60","monitor":{"monitor_mode":"NONE"}}`, "2026-01-10T06:00:00Z")
	for day := range 60 {
		j, _ = run(t, j, nil, fmt.Sprintf("%dd 08:00", day))
	}
	if _, got := run(t, j, nil, "5d 07:00", "5d 08:00", "6d 08:00"); j.Rule.Enabled || len(got) > 0 {
		t.Errorf("enabled %t, and after the clock was set back %q", j.Rule.Enabled, got)
	}
}

func TestRuleMadeByAWrongClockFiresByTheRightOne(t *testing.T) {
	t.Parallel()
	j := create(t, daily(atTime), "2027-01-10T06:00:00Z")
	if _, got := run(t, j, nil, "365d 06:01", "07:00", "08:00"); !slices.Equal(got, []string{"08:00: time of 10 08:00"}) {
		t.Errorf("got %q", got)
	}
}

func TestInactivityByAWrongClockDoesNotHideTheNext(t *testing.T) {
	t.Parallel()
	j := create(t, daily(halfHours), "2026-01-10T05:00:00Z")
	quiet := func(from, to time.Time) ([]alert.Second, bool) {
		return slices.Repeat([]alert.Second{alert.Quiet}, int(to.Sub(from)/time.Second)), false
	}
	_, got := run(t, j, quiet, "05:01", "365d 06:31:03", "06:29", "06:30:03")
	want := []string{"365d 06:31:03: missed 365 occurrences from 2026-01-10T08:00:00Z to 2027-01-09T08:00:00Z", "365d 06:31:03: no_motion of 10 08:00", "06:30:03: no_motion of 10 08:00"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSwitchedOffRuleDoesNothing(t *testing.T) {
	t.Parallel()
	j := create(t, daily(atTime), "2026-01-10T06:00:00Z")
	j, err := j.Patch(edit(t, `{"enabled":false}`), on(t, "07:00"))
	if err != nil {
		t.Fatal(err)
	}
	j, got := run(t, j, nil, "08:00", "1d 08:00")
	if len(got) > 0 || j.Status().State != alert.Paused {
		t.Fatalf("got %q, %s", got, j.Status().State)
	}
	if j, err = j.Patch(edit(t, `{"enabled":true}`), on(t, "1d 08:05")); err != nil {
		t.Fatal(err)
	}
	_, got = run(t, j, nil, "1d 08:06", "2d 08:00")
	if want := []string{"2d 08:00: time of 12 08:00"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: what passed while it was off does not count", got, want)
	}
}

func TestEachVerdictRunsItsList(t *testing.T) {
	t.Parallel()
	r := create(t, daily(atTime), "2026-01-10T06:00:00Z").Rule
	for verdict, want := range map[alert.Verdict]string{alert.Motion: "motion", alert.NoMotion: "no motion", alert.NoHistory: "no history", alert.AtTime: "no motion"} {
		if list := r.Actions(verdict); len(list) != 1 || list[0].Payload["data"].(map[string]any)["title"] != want {
			t.Errorf("%s runs %v, want %q", verdict, list, want)
		}
	}
	r.NoMotion = nil
	if list := r.Actions(alert.AtTime); list[0].Payload["data"].(map[string]any)["title"] != "motion" {
		t.Errorf("without no_motion_actions NONE runs %v, want the next list", list)
	}
}

func TestStatusIsTheDocumentedRecord(t *testing.T) {
	t.Parallel()
	j := create(t, daily(atTime), "2026-01-10T06:00:00Z")
	raw, err := json.Marshal(j.Status())
	if err != nil {
		t.Fatal(err)
	}
	record, _, _ := strings.Cut(string(raw), `"data":`)
	want := `{"id":"14","name":"universal-alert","state":"delayed","timestamp":1768024800000,"delay_ms":7200000,"attempts_made":0,"processed_on":null,"finished_on":null,"failed_reason":null,`
	if record != want {
		t.Errorf("got  %s\nwant %s", record, want)
	}
	j, _ = run(t, j, nil, "08:00")
	if s := j.Status(); *s.FinishedOn != 1768032000000 || *s.ProcessedOn != 1768032000000 || s.Timestamp != 1768032000000 || s.DelayMS != 24*3600*1000 {
		t.Errorf("after it fired: %+v", s)
	}
}
