package alert_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/alert"
)

// TestAfterIsTheSameFromAnywhere: looking from a later time gives what is left of
// looking from the start.
func TestAfterIsTheSameFromAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawRule(t)
		r, err := alert.Parse(text)
		if err != nil {
			t.Fatalf("%q: %+v", text, err)
		}
		start := at("2015-01-01T00:00:00Z")
		from := start.Add(time.Duration(rapid.Int64Range(0, 9*365*24*3600).Draw(t, "after")) * time.Second)
		var want []time.Time
		for next := range r.After(start) {
			if next.After(from) && len(want) < 4 {
				want = append(want, next)
			}
		}
		seen := 0
		for next := range r.After(from) {
			if seen == len(want) {
				break
			}
			if !next.Equal(want[seen]) {
				t.Fatalf("%q after %v: no. %d is %v, want %v", text, from, seen, next, want[seen])
			}
			seen++
		}
		if seen < len(want) {
			t.Fatalf("%q after %v: %d occurrences, want %v", text, from, seen, want)
		}
	})
}

// drawRule draws an rrule of 2015 that Parse accepts.
func drawRule(t *rapid.T) string {
	zone := rapid.SampledFrom([]string{"UTC", "America/Toronto", "America/Santiago", "Australia/Lord_Howe", "Europe/Dublin"}).Draw(t, "zone")
	freq := rapid.SampledFrom([]string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"}).Draw(t, "freq")
	parts := []string{"FREQ=" + freq, fmt.Sprintf("INTERVAL=%d", rapid.SampledFrom([]int{1, 1, 2, 3, 5, 7, 13}).Draw(t, "interval"))}
	optional := func(choices ...string) {
		if freq != "HOURLY" && rapid.Bool().Draw(t, "has") {
			parts = append(parts, rapid.SampledFrom(choices).Draw(t, "part"))
		}
	}
	optional("BYMONTH=1,6,12", "BYMONTH=2,3,10,11")
	optional("BYDAY=MO,WE,SA", "BYDAY=SU")
	optional("BYHOUR=0,2,3,23", "BYMINUTE=0,30")
	if freq != "WEEKLY" {
		optional("BYMONTHDAY=1,15,-1", "BYMONTHDAY=28,29,30,31")
	}
	optional("WKST=SU", "WKST=TH")
	if rapid.IntRange(0, 3).Draw(t, "end") == 0 {
		parts = append(parts, rapid.SampledFrom([]string{"COUNT=30", "UNTIL=20170301T000000Z"}).Draw(t, "last"))
	}
	day := rapid.IntRange(0, 364).Draw(t, "day")
	start := at("2015-01-01T00:00:00Z").AddDate(0, 0, day).Add(time.Duration(rapid.IntRange(0, 47).Draw(t, "half hours")) * 30 * time.Minute)
	return "DTSTART;TZID=" + zone + ":" + start.Format("20060102T150405") + "\nRRULE:" + strings.Join(parts, ";")
}

// world is a box with a clock that may be wrong, running one job.
type world struct {
	job     alert.Job
	now     time.Time     // what is right
	wrong   time.Duration // what the clock is ahead
	quiet   bool
	fired   map[motion.Stamp]int
	at      []time.Time // of each firing
	skipped int
}

// tick steps the job as the engine does. A crash loses the step and what it would
// have brought about: they are stored together.
func (w *world) tick(t *rapid.T, crash bool) {
	clock := w.now.Add(w.wrong)
	look := func(from, to time.Time) ([]alert.Second, bool) {
		period := make([]alert.Second, to.Sub(from)/time.Second)
		for i := range period {
			if w.quiet {
				period[i] = alert.Quiet
			}
		}
		return period, !w.quiet
	}
	next, result, err := w.job.Step(clock, look)
	if err != nil {
		t.Fatal(err)
	}
	if crash {
		return
	}
	w.job = next
	if f := result.Fired; f != nil {
		w.fired[f.Target]++
		w.at = append(w.at, w.now)
		late := clock.Sub(f.Target.Std())
		early := w.job.Rule.Monitor.Mode == alert.Inactivity
		if late < 0 && !early || late > 15*time.Minute {
			t.Fatalf("target %v fired at %v", f.Target.Std(), clock)
		}
		if w.fired[f.Target] > 1 {
			t.Fatalf("target %v fired twice", f.Target.Std())
		}
	}
	if s := result.Skipped; s != nil {
		w.skipped += s.Count
	}
}

func (w *world) live(t *rapid.T, minutes int) {
	for range minutes {
		w.now = w.now.Add(time.Minute)
		w.tick(t, false)
	}
}

func (w *world) restart(t *rapid.T) {
	raw, err := json.Marshal(w.job)
	if err != nil {
		t.Fatal(err)
	}
	w.job = alert.Job{}
	if err := json.Unmarshal(raw, &w.job); err != nil {
		t.Fatal(err)
	}
}

func drawWorld(t *rapid.T) *world {
	rrule := rapid.SampledFrom([]string{
		"FREQ=DAILY", "FREQ=HOURLY", "FREQ=DAILY;BYHOUR=0,8,9,23;BYMINUTE=0,10,20", "FREQ=HOURLY;INTERVAL=7",
	}).Draw(t, "rrule")
	monitor := rapid.SampledFrom([]string{atTime, simpleHour, onlyOnce}).Draw(t, "monitor")
	now := at("2026-01-10T05:00:00Z").Add(time.Duration(rapid.IntRange(0, 24*60).Draw(t, "minute")) * time.Minute)
	var e alert.Edit
	body := `{"rrule":"DTSTART;TZID=Europe/Berlin:20260110T080000\nRRULE:` + rrule + `","monitor":` + monitor + `}`
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatal(err)
	}
	job, err := alert.New(e, now)
	if err != nil {
		t.Fatal(err)
	}
	return &world{job: job, now: now, quiet: rapid.Bool().Draw(t, "quiet"), fired: map[motion.Stamp]int{}}
}

// TestEachOccurrenceFiresOnceOrIsSkipped with restarts, crashes and downtime, and
// a clock that is right.
func TestEachOccurrenceFiresOnceOrIsSkipped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		began, down := w.now, false
		t.Repeat(map[string]func(*rapid.T){
			"live":    func(t *rapid.T) { w.live(t, rapid.IntRange(1, 600).Draw(t, "minutes")) },
			"restart": w.restart,
			"crash":   func(t *rapid.T) { w.tick(t, true) },
			"short": func(t *rapid.T) {
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 14*60).Draw(t, "s")) * time.Second)
				w.tick(t, false)
			},
			"down": func(t *rapid.T) {
				w.now = w.now.Add(time.Duration(rapid.IntRange(16, 5000).Draw(t, "minutes")) * time.Minute)
				down = true
			},
		})
		w.live(t, 40)
		if !down && w.skipped > 0 {
			t.Fatalf("%d skipped without downtime", w.skipped)
		}
		r, err := alert.Parse(w.job.Rule.RRule)
		if err != nil {
			t.Fatal(err)
		}
		due, early := 0, 0
		for target := range r.After(began) {
			if target.After(w.now.Add(-15*time.Minute - time.Second)) {
				break
			}
			due++
		}
		for target := range w.fired {
			if target.Std().After(w.now.Add(-15*time.Minute - time.Second)) {
				early++
			}
		}
		if got := len(w.fired) - early + w.skipped; got != due {
			t.Fatalf("%d fired and %d skipped of %d that were due", len(w.fired)-early, w.skipped, due)
		}
	})
}

// TestClockJumpsNeitherRepeatNorStop: whatever the clock did, up to a day back,
// a year ahead or to 1970, nothing fires twice, nothing fires more than 15
// minutes late, and once the clock is right the rule goes on.
func TestClockJumpsNeitherRepeatNorStop(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		t.Repeat(map[string]func(*rapid.T){
			"live":    func(t *rapid.T) { w.live(t, rapid.IntRange(1, 300).Draw(t, "minutes")) },
			"restart": w.restart,
			"right":   func(*rapid.T) { w.wrong = 0 },
			"ahead":   func(*rapid.T) { w.wrong = 365 * 24 * time.Hour },
			"1970":    func(*rapid.T) { w.wrong = -w.now.Sub(time.Unix(0, 0)) },
			"back": func(t *rapid.T) {
				w.wrong = -time.Duration(rapid.IntRange(1, 24*60).Draw(t, "minutes")) * time.Minute
			},
		})
		w.wrong = 0
		w.live(t, 60)
		before := len(w.at)
		w.live(t, 25*60)
		if len(w.at) == before {
			t.Fatalf("did not fire for a day: %+v", w.job.State)
		}
	})
}
