package alert_test

import (
	"testing"
	"time"

	"sensegate/motion/alert"
)

// FuzzParse checks that no rrule panics, loops or gives instants out of order,
// wherever the clock is. Whatever Parse lets through is bounded by construction:
// see shift and maxTimesOfDay.
func FuzzParse(f *testing.F) {
	for _, rule := range []string{
		"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU", "FREQ=DAILY;BYHOUR=8,20;UNTIL=20300101", "FREQ=YEARLY;BYDAY=-53SU,53MO",
		"FREQ=MONTHLY;BYDAY=-1FR;BYSETPOS=1,-1;COUNT=10000", "FREQ=YEARLY;BYWEEKNO=53,-1;BYDAY=MO;WKST=SU", "FREQ=HOURLY;INTERVAL=1000",
		"FREQ=DAILY;INTERVAL=1000;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYYEARDAY=366,-366;INTERVAL=4", "FREQ=HOURLY;INTERVAL=2;BYHOUR=5",
	} {
		f.Add("DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:"+rule, int64(1764000000))
		f.Add("DTSTART:20000229T235959Z\r\nRRULE:"+rule, int64(13_000_000_000))
	}
	f.Add("DTSTART;TZID=Pacific/Apia:20111229T080000\nEXDATE:20111229T080000Z", int64(-1))
	f.Fuzz(func(t *testing.T, text string, after int64) {
		r, err := alert.Parse(text)
		if err != nil {
			return
		}
		last, taken := time.Unix(after, 0), 0
		for next := range r.After(last) {
			if !next.After(last) {
				t.Fatalf("%q: %v does not come after %v", text, next, last)
			}
			if first, ok := r.Next(last); taken < 3 && (!ok || !first.Equal(next)) {
				t.Fatalf("%q: after %v comes %v, but Next says %v, %t", text, last, next, first, ok)
			}
			if last, taken = next, taken+1; taken == 50 {
				break
			}
		}
	})
}
